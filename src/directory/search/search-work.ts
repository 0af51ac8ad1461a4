import { ApiError } from '../../kit/values/errors.ts';
import { limit } from '../../kit/values/within.ts';
import type { LookUpValues } from './look-up.ts';
import type { Filter } from './query.ts';
import { type CreatorSearchQuery, pageOfQuery } from './search.shapes.ts';

/** The work of a brand that one process has under way at a moment, in that of a plain search. A larger search runs alone. */
const UNDER_WAY = 32;
/** The work that may wait behind it. */
const WAITING = 512;
const WAITS_MS = 10_000;
/** Less than any search. */
const LEAST = 0.5;

const PAGE_OF_REGIONS = 500;
const FACETS_BY_DEFAULT = 6;
const OF_FACET = 0.5;
const OF_LARGE_FACET = 1;
const OF_PERCENTILES = 6;
const OF_LIKENESS = 6;
const OF_TYPOS = 3;
const OF_DEPTH = 2;
const OF_VALUE = 0.02;
const OF_CLAUSE = 0.2;
const LISTED_PER_UNIT = 20_000;
const LARGE_FACET = 50;

const countValues = ({ pks = [], usernames = [], emails = [] }: LookUpValues): number =>
  pks.length + usernames.length + emails.length;

/** The price of a look-up, each value of which is sought and counted. That of a file runs alone. */
export const measureLookUp = (values: LookUpValues): number => Math.min(1 + countValues(values) * OF_VALUE, UNDER_WAY);

/** The price of a search in work, by what it asks for: clauses, lists, depth, facets, percentiles, likeness, values. */
export function measureWork(query: CreatorSearchQuery, { clauses, listed }: Filter): number {
  const { preview, stats, facets, facet_size = 0, similar_to, typos, in_list = [], not_in_list = [] } = query;
  const ofFacet = facet_size > LARGE_FACET ? OF_LARGE_FACET : OF_FACET;
  return (
    measureLookUp(query) +
    clauses.length * OF_CLAUSE +
    in_list.length +
    not_in_list.length +
    (listed?.creators ?? 0) / LISTED_PER_UNIT +
    (preview ? (facets?.length ?? FACETS_BY_DEFAULT) * ofFacet : 0) +
    (stats ? OF_PERCENTILES : 0) +
    (similar_to ? OF_LIKENESS : 0) +
    (typos ? OF_TYPOS : 0) +
    (pageOfQuery(query).offset > PAGE_OF_REGIONS ? OF_DEPTH : 0)
  );
}

interface Waiting {
  work: number;
  start(): void;
}

interface BrandWork {
  underWay: number;
  waiting: Waiting[];
}

const tooMuch = () =>
  new ApiError(
    'RATE_LIMITED',
    'Your other searches take all the capacity that a brand may use at once; try again shortly.',
    {
      headers: { 'retry-after': '1' },
    },
  );

export interface WorkGate {
  /** Waits until the brand's work allows a search; returns what ends it. Throws RATE_LIMITED if too much waits already. */
  enter(brandId: string, work: number): Promise<() => void>;
  /** Runs a search of the brand in its turn. */
  run<T>(brandId: string, work: number, search: () => Promise<T>): Promise<T>;
}

/** Bounds the searches of each brand that are under way in this process. Others of the same brand wait behind their own. */
export function openWorkGate(): WorkGate {
  const brands = new Map<string, BrandWork>();

  const fits = ({ underWay }: BrandWork, work: number) => underWay < LEAST || underWay + work <= UNDER_WAY;

  /** Waits for a turn; who starts it counts its work. */
  async function takeTurn(brand: BrandWork, work: number): Promise<void> {
    const queuedWork = brand.waiting.reduce((sum, one) => sum + one.work, 0);
    if (queuedWork + work > WAITING) throw tooMuch();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const own = { work, start: resolve };
    brand.waiting.push(own);
    const end = limit(WAITS_MS, () => {
      brand.waiting.splice(brand.waiting.indexOf(own), 1);
      reject(tooMuch());
    });
    await promise.finally(end);
  }

  function startNext(brand: BrandWork): void {
    for (let [next] = brand.waiting; next && fits(brand, next.work); [next] = brand.waiting) {
      brand.waiting.shift();
      brand.underWay += next.work;
      next.start();
    }
  }

  async function enter(brandId: string, work: number): Promise<() => void> {
    const brand = brands.get(brandId) ?? { underWay: 0, waiting: [] };
    brands.set(brandId, brand);
    const isAtOnce = brand.waiting.length === 0 && fits(brand, work);
    if (isAtOnce) brand.underWay += work;
    else await takeTurn(brand, work);
    return () => {
      brand.underWay -= work;
      startNext(brand);
      // Sums of fractions do not end at exactly 0.
      if (brand.waiting.length === 0 && brand.underWay < LEAST) brands.delete(brandId);
    };
  }

  return {
    enter,
    run: async (brandId, work, search) => {
      const end = await enter(brandId, work);
      return await search().finally(end);
    },
  };
}
