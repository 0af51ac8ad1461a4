import { citiesByKey, citiesByOtherName, type KnownCity } from './place-atlas.ts';

interface NamedCities {
  /** The cities that a name means. */
  meant: KnownCity[];
  /** Cities that have it as another name, if it is the main name of those that are meant. */
  others: KnownCity[];
}

/** A city with a smaller part of the people of its largest namesake is not meant by another name. */
const LIKELY_PART = 10;

function listLikely(cities: readonly KnownCity[]): KnownCity[] {
  const [largest] = cities;
  return cities.filter(({ population }) => largest && population * LIKELY_PART >= largest.population);
}

/** A main name comes first: `Odessa` is in Texas, although Odesa in Ukraine is called so in other languages. */
export function findNamed(key: string, liesThere: (city: KnownCity) => boolean = () => true): NamedCities {
  const main = (citiesByKey.get(key) ?? []).filter(liesThere);
  const others = listLikely((citiesByOtherName.get(key) ?? []).filter(liesThere));
  if (main.length === 0) return { meant: others, others: [] };
  return { meant: main, others: others.filter((city) => !main.includes(city)) };
}
