import { z } from 'zod';
import type { Context } from '../operation/context.ts';
import { read } from '../operation/kit.ts';
import { nothing, operation, RawJson } from '../operation/operation.ts';
import { notFound } from '../values/errors.ts';
import { integerParameter, type Pagination, pageOf, paginationOf } from '../values/page.ts';
import type { Snapshot } from './counts.ts';
import type { Directory } from './directory.ts';
import { findCreator } from './get.ts';
import { type Matching, metaOf, neededField, type Plan, planOf } from './plan.ts';
import type { Filter } from './query.ts';
import { DirectoryCreatorDetail } from './schema.ts';
import { assertKept, fetchPage } from './search.ts';
import { CreatorSearchAnswer, CreatorSearchQuery, PlainSearchQuery, type Preview } from './search-schema.ts';
import { typosIn } from './typos.ts';

export const SEARCH_CREDITS = 10;

/** `cards` and `meta` are UTF-8 bytes held as latin1 text, so that the body is encoded only once. */
function answerBytes(cards: string, pagination: Pagination, meta: string): Buffer {
  return Buffer.from(`{"data":[${cards}],"pagination":${JSON.stringify(pagination)},"meta":${meta}}`, 'latin1');
}

async function previewOf(context: Context, query: CreatorSearchQuery, filter: Filter) {
  const { directory } = context;
  const snapshot = await directory.snapshot(query.directory_version);
  const { total, facets, stats } = await directory.facets.preview(directory.elastic, snapshot, filter, query);
  const pages = Math.ceil(total / query.limit);
  const preview: Preview = { pages, credits_to_fetch_all: pages * SEARCH_CREDITS, facets, ...(stats ? { stats } : {}) };
  return { total, preview };
}

/** The plan with the words that `q` matched. */
async function withTypos({ counts }: Directory, snapshot: Snapshot, plan: Plan): Promise<Plan> {
  const { q } = plan.interpretation;
  const typos = q?.read_as === 'text' ? await typosIn(counts, snapshot, q.value) : [];
  const interpretation = { ...plan.interpretation, typos };
  return { ...plan, interpretation, meta: metaOf(interpretation) };
}

/** The search operation; `matching` decides how places and gender match. */
const searchBy = <Q extends z.ZodObject & z.ZodType<CreatorSearchQuery>>(matching: Matching, parameters: Q) =>
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
    query: parameters,
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
      const plan = planOf(query, ignored, matching);
      const { filter } = plan;
      const page = pageOf(query);
      const snapshot = await directory.snapshot(query.directory_version);
      await directory.assertServes(snapshot, neededField(query));
      setHeader('x-directory-version', snapshot.index);
      try {
        const { interpretation, meta } = query.typos ? await withTypos(directory, snapshot, plan) : plan;
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

const searchCreators = searchBy('places', CreatorSearchQuery);

/** Search on the older interface: city and state match as substrings, gender exactly. */
export const searchCreatorsPlainly = searchBy('plain', PlainSearchQuery);

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
