import { z } from 'zod';
import { parseHandleAddress } from '../../kit/values/handle-address.ts';
import type { KnownCity } from './place-atlas.ts';
import type { PlaceInText } from './place-in-text.ts';
import {
  type CountryReading,
  type PlaceReading,
  readCity,
  readCountry,
  readLocation,
  readState,
  type StateReading,
} from './places.ts';

/** The reading of a search's place parameters. */
export interface ReadPlaces {
  q: PlaceReading | { kind: 'text'; text: string } | { kind: 'username'; username: string } | undefined;
  city: PlaceReading | undefined;
  state: StateReading | undefined;
  country: CountryReading | undefined;
  city_any: PlaceReading[];
  state_any: StateReading[];
  country_any: CountryReading[];
  not_city: PlaceReading[];
  not_country: CountryReading[];
}

interface PlaceWords {
  q?: string | undefined;
  q_as?: 'auto' | 'text' | undefined;
  city?: string | undefined;
  state?: string | undefined;
  country?: string | undefined;
  city_any?: string[] | undefined;
  state_any?: string[] | undefined;
  country_any?: string[] | undefined;
  not_city?: string[] | undefined;
  not_country?: string[] | undefined;
}

/** The username of a `q` that is only the address of a profile in the directory. */
function readProfileAddress(q: string): string | undefined {
  const address = parseHandleAddress(q);
  return address?.platform === 'photo_app' ? (address.handle ?? undefined) : undefined;
}

function readQ(q: string, mode: PlaceWords['q_as']): ReadPlaces['q'] {
  const text = { kind: 'text' as const, text: q };
  if (mode === 'text') return text;
  const username = readProfileAddress(q);
  return username === undefined ? (readLocation(q) ?? text) : { kind: 'username', username };
}

export function readPlaces(query: PlaceWords): ReadPlaces {
  const { q, city, state, country } = query;
  return {
    q: q === undefined ? undefined : readQ(q, query.q_as),
    city: city === undefined ? undefined : readCity(city),
    state: state === undefined ? undefined : readState(state),
    country: country === undefined ? undefined : readCountry(country),
    city_any: (query.city_any ?? []).map(readCity),
    state_any: (query.state_any ?? []).map(readState),
    country_any: (query.country_any ?? []).map(readCountry),
    not_city: (query.not_city ?? []).map(readCity),
    not_country: (query.not_country ?? []).map(readCountry),
  };
}

const PLACE = {
  name: z.string().describe('Main name of the city.').meta({ example: 'Munich' }),
  state: z.string().nullable().describe('Code of its US state; null abroad.').meta({ example: null }),
  country: z.string().describe('Code of its country.').meta({ example: 'DE' }),
};

const Read = z
  .object({
    value: z.string().describe('Value as sent.').meta({ example: 'Bay Area' }),
    read_as: z
      .enum([
        'text',
        'text_in_place',
        'username',
        'metro',
        'city',
        'city_contains',
        'state',
        'state_text',
        'country',
        'country_contains',
      ])
      .describe('What the value was read as. `…_contains`, `state_text` and `text` match as plain text.')
      .meta({ example: 'metro' }),
    name: z
      .string()
      .nullable()
      .describe('Name of the metro, city, state or country, or the username; null for free text.')
      .meta({ example: 'San Francisco Bay Area' }),
    state: z.string().nullable().describe('State code that narrows the match; null if none.').meta({ example: 'CA' }),
    country: z
      .string()
      .nullable()
      .describe('Country code that narrows the match; null if none.')
      .meta({ example: 'US' }),
    did_you_mean: z
      .string()
      .nullable()
      .describe('Nearest known name if the place is unknown; otherwise null.')
      .meta({ example: null }),
    text: z
      .string()
      .optional()
      .describe('Words of `q` that are searched in the place. Only if `read_as` is `text_in_place`.')
      .meta({ example: 'skincare' }),
    place: z.string().optional().describe('Words of `q` that are the place, likewise.').meta({ example: 'NYC' }),
    instead_of: z
      .object({ read_as: z.literal('text').describe('Always `text`.'), total: z.literal(0).describe('Always 0.') })
      .optional()
      .describe('The usual reading, which found nobody. Only if `read_as` is `text_in_place`.'),
    offer: z
      .object({
        q: z.string().describe('The words beside the place.').meta({ example: 'fitness' }),
        city: z.string().optional().describe('The place, if it is a metro or a city.').meta({ example: 'LA' }),
        state: z.string().optional().describe('The place, if it is a state.').meta({ example: 'TX' }),
        country: z.string().optional().describe('The place, if it is a country.').meta({ example: 'US' }),
      })
      .optional()
      .describe(
        'Parameters of another reading of a `q` that ends or begins with a place. Only if its text finds anybody.',
      ),
    also: z
      .array(z.object(PLACE))
      .optional()
      .describe('Cities that the value names, which match under all their names too. Only if there are any.'),
    others: z
      .array(
        z.object({
          value: z.string().describe('A value that finds just this city.').meta({ example: 'Odesa, UA' }),
          ...PLACE,
        }),
      )
      .optional()
      .describe('Other cities that are called so and are not included. Only if there are any.'),
  })
  .meta({ id: 'InterpretedValue' });
type Read = z.infer<typeof Read>;

export const Interpretation = z
  .object({
    q: Read.nullable().describe('How `q` was read; null if not sent.'),
    city: Read.nullable().describe('How `city` was read; null if not sent.'),
    state: Read.nullable().describe('How `state` was read; null if not sent.'),
    country: Read.nullable().describe('How `country` was read; null if not sent.'),
    ignored: z.array(z.string()).describe('Names of unknown parameters, which were ignored.').meta({ example: [] }),
    city_any: z.array(Read).optional().describe('How each value of `city_any` was read. Only if sent.'),
    state_any: z.array(Read).optional().describe('How each value of `state_any` was read. Only if sent.'),
    country_any: z.array(Read).optional().describe('How each value of `country_any` was read. Only if sent.'),
    not_city: z.array(Read).optional().describe('How each value of `not_city` was read. Only if sent.'),
    not_country: z.array(Read).optional().describe('How each value of `not_country` was read. Only if sent.'),
    typos: z
      .array(
        z.object({
          word: z.string().describe('A word of `q`.').meta({ example: 'vegn' }),
          matched: z
            .array(z.string())
            .describe('The most frequent other words that it matched, at most 10.')
            .meta({ example: ['vegan'] }),
        }),
      )
      .optional()
      .describe('What the words of `q` matched with typing errors. Only with `typos=true`.'),
    filters: z
      .record(z.string(), z.union([z.boolean(), z.number(), z.string(), z.array(z.union([z.string(), z.number()]))]))
      .optional()
      .describe('The other filters (several values, numbers, yes or no), as they were read. Only if sent.')
      .meta({ example: { age_min: 25, not_category: ['Food'] } }),
    forced: z
      .record(z.string(), z.string())
      .optional()
      .describe('Filters of the key, which narrowed the results. Only if it has any.')
      .meta({ example: { country: 'US' } }),
    matching: z
      .literal('legacy')
      .optional()
      .describe('Present if places and gender were matched by the rules of the older interface.'),
  })
  .meta({ id: 'Interpretation' });
export type Interpretation = z.infer<typeof Interpretation>;

const PlainRead = Read.omit({
  text: true,
  place: true,
  instead_of: true,
  offer: true,
  also: true,
  others: true,
  read_as: true,
})
  .extend({
    read_as: Read.shape.read_as.exclude(['text_in_place', 'username']).describe('What the value was read as.'),
  })
  .meta({ id: 'LegacyInterpretedValue' });

/** The interpretation of the older interface. */
export const PlainInterpretation = Interpretation.pick({ ignored: true, forced: true, matching: true })
  .extend({
    q: PlainRead.nullable().describe('How `q` was read; null if not sent.'),
    city: PlainRead.nullable().describe('How `city` was read; null if not sent.'),
    state: PlainRead.nullable().describe('How `state` was read; null if not sent.'),
    country: PlainRead.nullable().describe('How `country` was read; null if not sent.'),
  })
  .meta({ id: 'LegacyInterpretation' });

type Reading = NonNullable<ReadPlaces['q' | 'city' | 'state' | 'country']>;

function explain(value: string | undefined, reading: Reading | undefined): Read | null {
  if (value === undefined || reading === undefined) return null;
  const explanation: Read = {
    value,
    read_as: reading.kind,
    name: null,
    state: null,
    country: null,
    did_you_mean: null,
  };
  switch (reading.kind) {
    case 'text':
      return explanation;
    case 'username':
      return { ...explanation, name: reading.username };
    case 'metro':
      return { ...explanation, name: reading.metro.name, ...getArea(reading) };
    case 'city':
      return { ...explanation, name: reading.name, ...getArea(reading), ...explainCities(reading) };
    case 'city_contains':
      return {
        ...explanation,
        name: reading.text,
        ...getArea(reading),
        did_you_mean: reading.suggestion ?? null,
        ...explainCities(reading),
      };
    case 'state':
      return { ...explanation, name: reading.state.name, state: reading.state.code };
    case 'country':
      return { ...explanation, name: reading.country.name, country: reading.country.code };
    case 'state_text':
    case 'country_contains':
      return { ...explanation, name: reading.text, did_you_mean: reading.suggestion ?? null };
  }
}

/** Explains the reading of a `q` whose text found nobody. */
export function explainTextInPlace(value: string, { text, place, reading }: PlaceInText): Read | null {
  const explanation = explain(value, reading);
  const instead_of = { read_as: 'text' as const, total: 0 as const };
  return explanation && { ...explanation, read_as: 'text_in_place', text, place, instead_of };
}

const explainCity = ({ name, state, country }: KnownCity) => ({ name, state, country });

function explainCities({ cities, others }: { cities?: KnownCity[]; others?: KnownCity[] }) {
  const otherCities = others?.map((city) => ({
    value: `${city.name}, ${city.state ?? city.country}`,
    ...explainCity(city),
  }));
  return { ...(cities ? { also: cities.map(explainCity) } : {}), ...(otherCities ? { others: otherCities } : {}) };
}

function getArea(reading: { state?: { code: string }; country?: { code: string } }) {
  return { state: reading.state?.code ?? null, country: reading.country?.code ?? null };
}

const SEVERAL_PLACES = ['city_any', 'state_any', 'country_any', 'not_city', 'not_country'] as const;

/** `meta.interpretation` of the response. */
export function toInterpretation(
  query: PlaceWords,
  understood: ReadPlaces,
  ignored: readonly string[],
  filters: NonNullable<Interpretation['filters']> = {},
): Interpretation {
  const several = SEVERAL_PLACES.flatMap((name) => {
    const values = query[name];
    if (!values) return [];
    const readings: readonly Reading[] = understood[name];
    return [[name, values.flatMap((value, i) => explain(value, readings[i]) ?? [])] as const];
  });
  return {
    q: explain(query.q, understood.q),
    city: explain(query.city, understood.city),
    state: explain(query.state, understood.state),
    country: explain(query.country, understood.country),
    ignored: [...ignored],
    ...Object.fromEntries(several),
    ...(Object.keys(filters).length === 0 ? {} : { filters }),
  };
}
