import { useNavigate, useSearch } from '@tanstack/react-router';

/** Filters of several values. Each also has a singular parameter, which older links have. */
const SEVERAL = {
  category_any: 'category',
  niche_any: 'niche',
  country_any: 'country',
  state_any: 'state',
  city_any: 'city',
  gender_any: 'gender',
} as const;
export type Several = keyof typeof SEVERAL;
export type Excluded = 'not_category' | 'not_niche' | 'not_country' | 'not_city';

const SEVERAL_NAMES = ['category_any', 'niche_any', 'country_any', 'state_any', 'city_any', 'gender_any'] as const;
const EXCLUDED_NAMES = ['not_category', 'not_niche', 'not_country', 'not_city'] as const;
export const NUMBERS = [
  ...['follower_min', 'follower_max', 'engagement_min', 'engagement_max'],
  ...['age_min', 'age_max', 'posts_min', 'posts_max', 'following_max', 'fresh_within_days'],
] as const;
export const TRUTHS = ['is_verified', 'has_email', 'has_url'] as const;
export const LISTED = ['in_list', 'not_in_list', 'exclude_roster'] as const;
const OTHERS = ['q', 'q_as', 'typos', 'similar_to', 'sort'] as const;
/** They change how a search is read or ordered, but filter nothing by themselves. */
const MODES: ReadonlySet<string> = new Set(['q_as', 'typos', 'sort']);

/** A search of the directory, as the API's parameters. */
export type SearchParameters = Readonly<Record<string, string>>;

export function readSearch(address: Readonly<Record<string, unknown>>): SearchParameters {
  const search: Record<string, string> = {};
  const take = (name: string, from = name) => {
    const value = address[from];
    if (value !== undefined && value !== '') search[name] = String(value);
  };
  for (const name of [...OTHERS, ...EXCLUDED_NAMES, ...NUMBERS, ...TRUTHS, ...LISTED]) take(name);
  for (const name of SEVERAL_NAMES) take(name, address[name] === undefined ? SEVERAL[name] : name);
  return search;
}

export const readValues = (search: SearchParameters, name: string | undefined): string[] =>
  name === undefined ? [] : (search[name]?.split('|').filter(Boolean) ?? []);

export const readListIds = (search: SearchParameters, name: 'in_list' | 'not_in_list'): string[] =>
  search[name]?.split(',').filter(Boolean) ?? [];

/** The facets that the page shows at once. One call reads them for every part whose own filter is not set. */
const AT_ONCE: readonly string[] = ['followers', 'metro', 'category', 'is_verified', 'has_email'];
/** All metros, and more categories than are shown. */
const SIZE_AT_ONCE = 120;

/** The free search for a facet's values; `own` are the parameters whose values it suggests. */
export function facetQuery(
  search: SearchParameters,
  facet: string,
  own: readonly (string | undefined)[],
  more: SearchParameters = {},
) {
  const others = without(search, [...own, 'sort']);
  const isOwn = Object.keys(more).length > 0 || own.some((name) => name !== undefined && search[name] !== undefined);
  return AT_ONCE.includes(facet) && !isOwn
    ? { ...others, preview: true, facets: AT_ONCE.join(','), facet_size: SIZE_AT_ONCE }
    : { ...others, preview: true, facets: facet, facet_size: SIZE_AT_ONCE, ...more };
}

export const without = (search: SearchParameters, names: readonly (string | undefined)[]): SearchParameters =>
  Object.fromEntries(Object.entries(search).filter(([name]) => !names.includes(name)));

export const isSameSearch = (one: SearchParameters, other: SearchParameters): boolean =>
  [...Object.keys(one), ...Object.keys(other)].every((name) => one[name] === other[name]);

/** The parameters that narrow a search. */
export const filtersIn = (search: SearchParameters): string[] => Object.keys(search).filter((name) => !MODES.has(name));

const NUMERIC: ReadonlySet<string> = new Set(NUMBERS);
const YES_OR_NO: ReadonlySet<string> = new Set([...TRUTHS, 'typos', 'exclude_roster']);

/** Numbers and booleans are not quoted in the address. */
function asTyped([name, value]: [string, string | undefined]): [string, string | number | boolean | undefined] {
  if (!value) return [name, undefined];
  if (YES_OR_NO.has(name)) return [name, value === 'true'];
  return [name, NUMERIC.has(name) && Number.isFinite(Number(value)) ? Number(value) : value];
}

export type Changes = Readonly<Record<string, string | undefined>>;
/** Computes changes from the current search, which the page may not show yet. */
export type ChangesOf = (now: SearchParameters) => Changes;

export interface DirectorySearch {
  search: SearchParameters;
  page: number;
  /** Changes some parameters; undefined removes one. The results start again at their first page. */
  change: (changes: Changes | ChangesOf) => void;
  goTo: (page: number) => void;
}

/** The search in the page's address, so that a shared or reloaded page shows the same. */
export function useDirectorySearch(): DirectorySearch {
  const address: Record<string, unknown> = useSearch({ strict: false });
  const navigate = useNavigate();
  const show = (toNext: ChangesOf, page?: number) => {
    const search = (now: Record<string, unknown>) => {
      const typedSearch = Object.fromEntries(Object.entries(toNext(readSearch(now))).map(asTyped));
      return { ...typedSearch, page };
    };
    void navigate({ to: '/directory', search, replace: true, resetScroll: false });
  };
  return {
    search: readSearch(address),
    page: Math.max(Math.trunc(Number(address.page)) || 1, 1),
    change: (changes) =>
      show((now) => {
        const newParameters = typeof changes === 'function' ? changes(now) : changes;
        const next: Record<string, string | undefined> = { ...now, ...newParameters };
        // An order by relevance needs words, and so does forgiving their typing errors.
        if (!next.q) Object.assign(next, { q_as: undefined, typos: undefined });
        if (!next.q && next.sort === 'relevance') next.sort = undefined;
        // The most similar come first.
        if (next.similar_to) next.sort = undefined;
        return next;
      }),
    goTo: (page) => show((now) => now, page > 1 ? page : undefined),
  };
}
