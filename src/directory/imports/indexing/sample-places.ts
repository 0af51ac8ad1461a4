import { later } from '../../../kit/values/later.ts';
import { citiesByKey, countries, type KnownCity, type Metro, metros, states } from '../../search/place-atlas.ts';
import { placeKey } from '../../search/place-names.ts';
import { type Random, weighted } from './random.ts';

interface Place {
  city: string | null;
  state: string | null;
  country: string | null;
}

const stateNames = new Map(states.map(({ code, name }) => [code, name]));
const countryNames = new Map(countries.map(({ code, name }) => [code, name]));

const cities = later(() => Map.groupBy([...citiesByKey.values()].flat(), ({ country }) => country === 'US'));

const byPopulation = ({ population }: KnownCity) => population;
const drawUsCity = later(() => weighted(cities().get(true) ?? [], byPopulation));
const drawForeignCity = later(() => weighted(cities().get(false) ?? [], (city) => Math.sqrt(city.population)));

/** The weight of a metro's member that the dictionary of cities lacks, such as a neighbourhood. */
const SMALL = 5_000;

function getPopulation({ city, state, country }: Metro['members'][number]): number {
  const knownCity = citiesByKey
    .get(placeKey(city))
    ?.find((other) => other.state === state && other.country === country);
  return knownCity?.population ?? SMALL;
}

/** The metro of rank 1, 2, 3 … has weight 1/5, 1/6, 1/7 …, so none is without creators. */
const drawMetro = later(() =>
  weighted(
    metros.map(({ members }, i) => ({ drawMember: weighted(members, getPopulation), weight: 1 / (i + 5) })),
    ({ weight }) => weight,
  ),
);

type City = Pick<KnownCity, 'name' | 'state' | 'country'>;

function drawCity(random: Random): City {
  const kind = random.next();
  if (kind < 0.5) return drawUsCity()(random);
  if (kind < 0.7) return drawForeignCity()(random);
  const member = drawMetro()(random).drawMember(random);
  return { name: member.city, state: member.state, country: member.country };
}

function spellState(random: Random, code: string): string | null {
  const spelling = random.next();
  if (spelling < 0.55) return code;
  if (spelling < 0.88) return stateNames.get(code) ?? code;
  if (spelling < 0.95) return code.toLowerCase();
  return null;
}

function spellCountry(random: Random, code: string): string | null {
  const spelling = random.next();
  if (code === 'US') {
    if (spelling < 0.5) return 'US';
    if (spelling < 0.7) return 'USA';
    return spelling < 0.92 ? 'United States' : null;
  }
  if (spelling < 0.3) return code;
  return spelling < 0.95 ? (countryNames.get(code) ?? code) : null;
}

/**
 * A place as sources spell it: states by code, name or in lower case, countries in various spellings, with parts
 * missing.
 */
export function drawPlace(random: Random): Place {
  if (random.chance(0.12)) return { city: null, state: null, country: random.chance(0.5) ? 'US' : null };
  const { name, state, country } = drawCity(random);
  return {
    city: random.chance(0.04) ? name.toLowerCase() : name,
    state: state && country === 'US' ? spellState(random, state) : null,
    country: spellCountry(random, country),
  };
}
