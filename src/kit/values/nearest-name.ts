import { distance } from 'fastest-levenshtein';

const MOST_EDITS = 2;

/** The words of a name in one order: `minFollowers`, `followers_min` and `min-followers` are the same. */
const toForm = (name: string): string =>
  name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .sort()
    .join('_');

/** The name that a misspelt one most likely means: the nearest within two edits, or one that has it as a part. */
export function findNearestName(misspelt: string, names: readonly string[]): string | undefined {
  const form = toForm(misspelt);
  const edits = names.map((name) => Math.min(distance(name, misspelt), distance(toForm(name), form)));
  const least = Math.min(...edits);
  if (least <= MOST_EDITS && least < misspelt.length / 2) return names[edits.indexOf(least)];
  return names.find((name) => misspelt.length > 2 && (name.includes(misspelt) || misspelt.includes(name)));
}
