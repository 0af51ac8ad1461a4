import { ElasticsearchRefusal } from '../../kit/engines/elastic/nodes.ts';
import type { Elastic } from '../../kit/engines/elastic/open.ts';
import { spliceCards } from '../../kit/engines/elastic/splice.ts';
import { ApiError } from '../../kit/values/errors.ts';
import type { Page } from '../../kit/values/page.ts';
import { type Counts, getScoringParameter, type Snapshot } from './counts.ts';
import { getOrder, type Sort, toSort } from './order.ts';
import { type Filter, toElasticQuery } from './query.ts';
import { cover, getTotal, MAX_REGION } from './regions.ts';
import { serializeBody } from './request-body.ts';

/** Up to this offset from/size costs as little as a jump by region, and needs no counts. */
const SHALLOW = 500;

/** One page of cards, as the text inside a JSON array, and the exact total. */
export interface SearchPage {
  cards: string;
  total: number;
}

const HITS_TOTAL = /"hits":\{"total":\{"value":(\d+)/;
/** More than a response has before its total. */
const HEAD_BYTES = 512;

/** The total near the beginning of a search response. */
export function parseTotal(bytes: Buffer): number {
  const [, total] = HITS_TOTAL.exec(bytes.toString('latin1', 0, HEAD_BYTES)) ?? [];
  if (total === undefined) throw new Error('Elasticsearch answered a search without its total.');
  return Number(total);
}

/** The whole response: letting Elasticsearch leave out what is not needed costs it a tenth more CPU (measured). */
const fetchHits = (elastic: Elastic, index: string, sort: Sort, body: object): Promise<Buffer> =>
  elastic.post(`/${index}/_search?allow_partial_search_results=false${getScoringParameter(sort)}`, serializeBody(body));

/** A page with its total in one request: a new search asks Elasticsearch only once. */
async function fetchCounted(elastic: Elastic, index: string, sort: Sort, body: object): Promise<SearchPage> {
  const bytes = await fetchHits(elastic, index, sort, { ...body, track_total_hits: true });
  return { cards: spliceCards(bytes), total: parseTotal(bytes) };
}

const fetchCards = async (elastic: Elastic, index: string, sort: Sort, body: object): Promise<string> =>
  spliceCards(await fetchHits(elastic, index, sort, body));

/**
 * A lone upper bound on the sort's own field makes Elasticsearch walk most of the index for every page; a region's
 * lower bound beside it does not.
 */
function needsRegion(filter: Filter, sort: Sort): boolean {
  const { ranged, isAscending } = getOrder(sort);
  if (!ranged || isAscending) return false;
  const range = filter.ranges[ranged];
  return range.lt !== undefined && range.gte === undefined;
}

/** The page that `from` and `size` would give, at about the same cost at any offset. */
export async function fetchPage(
  elastic: Elastic,
  counts: Counts,
  snapshot: Snapshot,
  filter: Filter,
  sort: Sort,
  page: Page,
): Promise<SearchPage> {
  const body = { track_total_hits: false, _source: true, sort: toSort(sort), size: page.limit };
  const knownTotal = counts.known(snapshot, filter);
  const isShallow = page.offset + page.limit <= SHALLOW || (knownTotal !== undefined && knownTotal <= MAX_REGION);
  if (isShallow && page.offset <= MAX_REGION && !needsRegion(filter, sort)) {
    const searchBody = { ...body, from: page.offset, query: toElasticQuery(filter, sort) };
    if (knownTotal !== undefined)
      return { cards: await fetchCards(elastic, snapshot.index, sort, searchBody), total: knownTotal };
    const countedPage = await fetchCounted(elastic, snapshot.index, sort, searchBody);
    counts.keep(snapshot, filter, countedPage.total);
    return countedPage;
  }
  const level = await counts.level(snapshot, filter, sort);
  const total = getTotal(level);
  const { regions, from } = await cover(level, page.offset, page.offset + page.limit, (region) =>
    counts.refine(snapshot, filter, sort, region),
  );
  if (regions.length === 0) return { cards: '', total };
  const query = toElasticQuery(filter, sort, regions);
  return { cards: await fetchCards(elastic, snapshot.index, sort, { ...body, from, query }), total };
}

/** A pinned version that was removed while the search ran. */
export function assertKept(error: unknown, version: string): never {
  if (error instanceof ElasticsearchRefusal && error.status === 404) throw versionGone(version);
  throw error;
}

export function versionGone(version: string): ApiError {
  return new ApiError(
    'CONFLICT',
    `The directory version ${JSON.stringify(version)} is no longer kept; start the walk again without it.`,
  );
}
