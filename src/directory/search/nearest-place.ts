import { distance } from 'fastest-levenshtein';
import { foldAccents } from '../../kit/values/fold.ts';
import { later } from '../../kit/values/later.ts';
import { citiesByKey, type KnownCity, listNamesakes, membersByKey, metros } from './place-atlas.ts';
import { placeKey } from './place-names.ts';

/** Longer than any place name; longer texts are cut here. */
const LONGEST_NAME = 60;
const SHORTEST_NAME = 3;

interface KnownName {
  key: string;
  name: string;
  /** Among all names; larger cities come first. */
  rank: number;
}

const cities = later(() => [...citiesByKey.values()].flat().sort((a, b) => b.population - a.population));
const metroNames = metros.flatMap((metro) => [metro.name, ...metro.aliases]);

/** One text with all known names, so that searching for a part of any name is a single scan. */
const allNames = later(() => {
  const memberCities = [...membersByKey.values()].flat().map((member) => member.city);
  return [
    ...new Set([...cities(), ...memberCities].map((city) => foldAccents(city.name))),
    ...metroNames.map(foldAccents),
  ].join('\n');
});

export function isPartOfKnownName(text: string): boolean {
  return text.length <= LONGEST_NAME && allNames().includes(foldAccents(text));
}

/** Names by length: a name within two edits is at most two letters longer or shorter. */
function byLength(names: Iterable<string>): Map<number, KnownName[]> {
  const namesByKey = new Map<string, string>();
  for (const name of names) {
    const key = placeKey(name);
    if (!namesByKey.has(key)) namesByKey.set(key, name);
  }
  return Map.groupBy(
    [...namesByKey].map(([key, name], rank) => ({ key, name, rank })),
    ({ key }) => key.length,
  );
}

const placeNames = later(() => byLength([...cities().map((city) => city.name), ...metroNames]));

/** The known city or metro whose spelling is closest to the text, the largest of several; optionally within an area. */
export function nearestPlace(text: string, liesThere?: (city: KnownCity) => boolean): string | undefined {
  return nearest(text, placeNames(), ({ key }) => !liesThere || listNamesakes(key).some(liesThere));
}

/** Finds the closest of a short list of names, such as states or countries. */
export function createNearestFinder(names: Iterable<string>): (text: string) => string | undefined {
  const readNames = later(() => byLength(names));
  return (text) => nearest(text, readNames());
}

function nearest(
  text: string,
  namesByLength: Map<number, KnownName[]>,
  isWanted: (name: KnownName) => boolean = () => true,
): string | undefined {
  const key = placeKey(text.slice(0, LONGEST_NAME));
  if (key.length < SHORTEST_NAME) return undefined;
  let mostEdits = key.length < 6 ? 1 : 2;
  let nearestName: KnownName | undefined;
  for (const length of [0, -1, 1, -2, 2].map((more) => key.length + more)) {
    if (Math.abs(length - key.length) > mostEdits) continue;
    for (const name of namesByLength.get(length) ?? []) {
      const isBehind = nearestName !== undefined && name.rank > nearestName.rank;
      if (isBehind && mostEdits <= 1) break;
      const edits = distance(key, name.key);
      if (edits > mostEdits || (isBehind && edits === mostEdits) || !isWanted(name)) continue;
      nearestName = name;
      mostEdits = edits;
    }
  }
  return nearestName?.name;
}
