import type { Context } from '../../kit/operation/context.ts';
import { MAX_LIMIT } from '../../kit/values/page.ts';
import type { Snapshot } from './counts.ts';
import type { NotFound } from './look-up.shapes.ts';
import { lookUp } from './look-up.ts';
import type { Preview } from './preview.shapes.ts';
import type { Clause, Filter } from './query.ts';
import { type CreatorSearchQuery, isLookUp, pageOfQuery } from './search.shapes.ts';
import { BLOCK } from './walk.ts';

export const SEARCH_CREDITS = 10;

interface LoadedPreview {
  total: number;
  preview: Preview;
  notFound?: NotFound;
}

const priceAt = (total: number, limit: number) => {
  const pages = Math.ceil(total / limit);
  return { pages, credits_to_fetch_all: pages * SEARCH_CREDITS };
};

/** The size and price of a search, for the limit that it asks for and for the one that costs least. */
export async function loadPreview(
  context: Context,
  snapshot: Snapshot,
  query: CreatorSearchQuery,
  { filter, bound }: { filter: Filter; bound: readonly Clause[] },
): Promise<LoadedPreview> {
  const { directory } = context;
  const { total, facets, stats } = await directory.facets.preview(directory.elastic, snapshot, filter, query);
  const more = { facets, ...(stats ? { stats } : {}) };
  if (isLookUp(query)) {
    const { hasFound, notFound } = await lookUp(directory, snapshot, query, { filter, size: 0, bound });
    const price = { pages: Math.min(total, 1), credits_to_fetch_all: hasFound ? SEARCH_CREDITS : 0 };
    return { total, notFound, preview: { ...price, limit: MAX_LIMIT, at_limit_100: price, ...more } };
  }
  if (query.walk) {
    const price = priceAt(Math.max(1, total), BLOCK);
    return { total, preview: { ...price, limit: BLOCK, at_limit_100: price, ...more } };
  }
  const { limit } = pageOfQuery(query);
  return { total, preview: { ...priceAt(total, limit), limit, at_limit_100: priceAt(total, MAX_LIMIT), ...more } };
}
