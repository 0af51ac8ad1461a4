import { foldAccents } from '../../kit/values/fold.ts';
import type { FacetName } from './facets.ts';
import { findCountryName, findMetroName, findStateName } from './places.ts';

/** The parameters of search that find just the creators of a value or range of a facet. */
export type FacetFilter = Record<string, string | number | boolean>;

/** Longer values are not accepted by search. */
const LONGEST = 200;

const PARAMETERS = {
  category: 'category',
  niche: 'niche_is',
  country: 'country',
  metro: 'metro',
  gender: 'gender',
} as const;

/** The filter of a facet's value; null if it is blank or too long for a parameter. */
export function toFacetFilter(name: FacetName, value: string): FacetFilter | null {
  if (foldAccents(value) === '' || value.length > LONGEST) return null;
  return name === 'state' ? { state: `US-${value}` } : { [PARAMETERS[name]]: value };
}

/** The name of a value for people; codes and ids have one of their own. */
export function toFacetLabel(name: FacetName, value: string): string {
  if (name === 'metro') return findMetroName(value) ?? value;
  if (name === 'state') return findStateName(value) ?? value;
  return (name === 'country' ? findCountryName(value) : undefined) ?? value;
}

const NUMBERS = { followers: 'follower', engagement: 'engagement', age: 'age', posts: 'posts' } as const;

const view = new DataView(new ArrayBuffer(8));

/** The largest double below a positive number: the inclusive bound for a range that ends before it. */
function nextDown(value: number): number {
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) - 1n);
  return view.getFloat64(0);
}

/** The filter of a range, whose end is exclusive; bounds of search are inclusive. */
export function toRangeFilter(name: keyof typeof NUMBERS, { from, to }: { from: number | null; to: number | null }) {
  const most = to === null ? undefined : name === 'engagement' ? nextDown(to) : to - 1;
  return {
    ...(from === null ? {} : { [`${NUMBERS[name]}_min`]: from }),
    ...(most === undefined ? {} : { [`${NUMBERS[name]}_max`]: most }),
  };
}
