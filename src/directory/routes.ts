import { z } from 'zod';
import type { Context } from '../operation/context.ts';
import { read } from '../operation/kit.ts';
import { nothing, operation, RawJson } from '../operation/operation.ts';
import { notFound } from '../values/errors.ts';
import { integerParameter, type Pagination, pageOf, paginationOf } from '../values/page.ts';
import { findCreator } from './get.ts';
import { type Matching, planOf } from './plan.ts';
import type { Filter } from './query.ts';
import { DirectoryCreatorDetail } from './schema.ts';
import { assertKept, fetchPage } from './search.ts';
import { CreatorSearchAnswer, CreatorSearchQuery, type Preview } from './search-schema.ts';

export const SEARCH_CREDITS = 10;
const FACET_SIZE = 50;

/** `cards` and `meta` are UTF-8 bytes held as latin1 text, so that the body is encoded only once. */
function answerBytes(cards: string, pagination: Pagination, meta: string): Buffer {
  return Buffer.from(`{"data":[${cards}],"pagination":${JSON.stringify(pagination)},"meta":${meta}}`, 'latin1');
}

async function previewOf(context: Context, query: CreatorSearchQuery, filter: Filter) {
  const { directory } = context;
  const snapshot = await directory.snapshot(query.directory_version);
  const { total, facets } = await directory.facets.preview(snapshot, filter, FACET_SIZE);
  const pages = Math.ceil(total / query.limit);
  const preview: Preview = { pages, credits_to_fetch_all: pages * SEARCH_CREDITS, facets };
  return { total, preview };
}

/** The search operation; `matching` decides how places and gender match. */
const searchBy = (matching: Matching) =>
  operation({
    id: 'search_creators',
    method: 'GET',
    path: '/v1/creators/search',
    tag: 'Directory',
    summary: 'Search the creator directory',
    description:
      'Filters combine with AND. A call with a data key costs 10 credits at any limit; `preview=true` is free. ' +
      '`total` is exact and every page can be reached.',
    forAgents: {
      description:
        'Filters combine with AND. With a data key a call costs 10 credits at any limit; `preview: true` is free. `total` is exact.',
      example: { city: 'LA', category: 'Beauty', follower_min: 50_000, preview: true },
      omits: ['directory_version'],
    },
    callers: ['brand', 'data'],
    directory: true,
    params: nothing,
    query: CreatorSearchQuery,
    body: nothing,
    response: CreatorSearchAnswer,
    errors: ['CREDITS_EXHAUSTED', 'SUBSCRIPTION_REQUIRED', 'CONFLICT'],
    hints: { readOnly: true, idempotent: true, destructive: false },
    price: (context, { query }) => {
      context.directory.assertMayBeKept(query.directory_version);
      return query.preview ? 0 : SEARCH_CREDITS;
    },
    handler: async (context, { query, setHeader, ignored }) => {
      const { directory } = context;
      const { filter, interpretation, meta } = planOf(query, ignored, matching);
      const page = pageOf(query);
      const snapshot = await directory.snapshot(query.directory_version);
      setHeader('x-directory-version', snapshot.index);
      try {
        if (query.preview) {
          const { total, preview } = await previewOf(context, query, filter);
          return {
            data: [],
            pagination: { ...paginationOf(page, total), has_more: false },
            meta: { interpretation },
            preview,
          };
        }
        const { cards, total } = await fetchPage(
          directory.elastic,
          directory.counts,
          snapshot,
          filter,
          query.sort,
          page,
        );
        return new RawJson(answerBytes(cards, paginationOf(page, total), meta));
      } catch (error) {
        return assertKept(error, snapshot.index);
      }
    },
  });

const searchCreators = searchBy('places');

/** Search on the older interface: city and state match as substrings, gender exactly. */
export const searchCreatorsPlainly = searchBy('plain');

const getDirectoryCreator = read({
  id: 'get_directory_creator',
  path: '/v1/creators/{pk}',
  tag: 'Directory',
  summary: 'One creator in the directory',
  description: 'The fields of search plus `following_count`, `media_count`, `gender` and `age`. Free by default.',
  forAgents: {
    description: 'The fields of search plus `following_count`, `media_count`, `gender` and `age`.',
    // The first creator of the sample directory.
    example: { pk: 2_566_083 },
  },
  callers: ['brand', 'data'],
  directory: true,
  params: z.object({ pk: integerParameter({ min: 0 }).describe('Key of the creator in the directory.') }),
  response: z.object({ data: DirectoryCreatorDetail }),
  errors: ['NOT_FOUND', 'SUBSCRIPTION_REQUIRED', 'CREDITS_EXHAUSTED'],
  price: (context) => context.config.creatorLookupCredits,
  handler: async (context, { params, setHeader }) => {
    const snapshot = await context.directory.snapshot();
    setHeader('x-directory-version', snapshot.index);
    const creator = await findCreator(context.directory, snapshot, params.pk);
    if (!creator) throw notFound('creator in the directory');
    return { data: creator };
  },
});

export const directoryOperations = [searchCreators, getDirectoryCreator] as const;
