import { z } from 'zod';
import type { Context } from '../../kit/operation/context.ts';
import { read } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { nothing, operation, RawJson } from '../../kit/operation/operation.ts';
import { ApiError, notFound } from '../../kit/values/errors.ts';
import { integerParameter, type Pagination, toPagination } from '../../kit/values/page.ts';
import { changeOperations } from '../changes/changes.api.ts';
import { finishDirectoryChanges, forgetDirectoryChanges } from '../changes/changes.jobs.ts';
import { importWork } from '../imports/indexing/import.jobs.ts';
import { forgetJobs } from '../opt-out/opt-out.jobs.ts';
import { withSaved } from '../saved-searches/filters.ts';
import { autocompleteCreators } from './autocomplete.api.ts';
import type { Snapshot } from './counts.ts';
import { DirectoryCreatorDetail, SAMPLE_PK } from './creator.shapes.ts';
import { dictionaryOperations } from './dictionary.api.ts';
import type { Directory } from './directory.ts';
import { findCreator } from './find-creator.ts';
import { findNeededField, readForcedClauses } from './forced-filters.ts';
import { CreatorFreshness, readFreshness } from './freshness.ts';
import type { Interpretation } from './interpretation.ts';
import { BRAND_AT_MOST, CreatorLookUp, CreatorLookUpAnswer } from './look-up.shapes.ts';
import { lookUp } from './look-up.ts';
import { type Matching, neededField, type Plan, toMeta } from './plan.ts';
import type { Filter } from './query.ts';
import {
  CreatorSearchAnswer,
  CreatorSearchQuery,
  isLookUp,
  PlainSearchQuery,
  type Preview,
  pageOfQuery,
  sortOfQuery,
} from './search.shapes.ts';
import { assertKept, fetchPage } from './search.ts';
import { toSearchRecord } from './search-record.ts';
import { settlePlan } from './settle-plan.ts';
import { findSimilar, measureLikeness, similarPks } from './similar.ts';
import { suggest } from './suggestions.ts';
import { findTypos } from './typos.ts';
import { BLOCK, openWalk } from './walk.ts';

export const SEARCH_CREDITS = 10;

/** `cards` and `meta` are UTF-8 bytes held as latin1 text, so that the body is encoded only once. */
function toAnswerBytes(cards: string, pagination: Pagination, meta: string): Buffer {
  return Buffer.from(`{"data":[${cards}],"pagination":${JSON.stringify(pagination)},"meta":${meta}}`, 'latin1');
}

/** `meta` with additional fields. */
function withMore(meta: string, more: object): string {
  const added = Buffer.from(JSON.stringify(more)).toString('latin1');
  if (added === '{}') return meta;
  return meta === '{}' ? added : `${meta.slice(0, -1)},${added.slice(1)}`;
}

async function loadPreview(context: Context, snapshot: Snapshot, query: CreatorSearchQuery, filter: Filter) {
  const { directory } = context;
  const { total, facets, stats } = await directory.facets.preview(directory.elastic, snapshot, filter, query);
  if (isLookUp(query)) {
    const { hasFound, notFound } = await lookUp(directory, snapshot, query, { filter, size: 0 });
    const pages = Math.min(total, 1);
    return {
      total,
      notFound,
      preview: {
        pages,
        credits_to_fetch_all: hasFound ? SEARCH_CREDITS : 0,
        facets,
        ...(stats ? { stats } : {}),
      },
    };
  }
  if (query.walk) {
    const blocks = Math.max(1, Math.ceil(total / BLOCK));
    return {
      total,
      preview: {
        pages: blocks,
        credits_to_fetch_all: blocks * SEARCH_CREDITS,
        facets,
        ...(stats ? { stats } : {}),
      },
    };
  }
  const pages = Math.ceil(total / pageOfQuery(query).limit);
  const preview: Preview = { pages, credits_to_fetch_all: pages * SEARCH_CREDITS, facets, ...(stats ? { stats } : {}) };
  return { total, preview };
}

/** Finds just these creators: a preview of ranked ones counts those that pages show. */
const filterByPks = (pks: readonly number[]): Filter => ({
  clauses: [{ terms: { 'card.pk': pks } }],
  ranges: { followers: {}, engagement: {} },
});

/** The plan with the words that `q` matched. */
async function withTypos({ counts }: Directory, snapshot: Snapshot, plan: Plan): Promise<Plan> {
  const { q } = plan.interpretation;
  const text = q?.read_as === 'text' ? q.value : q?.text;
  const typos = text === undefined ? [] : await findTypos(counts, snapshot, text);
  const interpretation = { ...plan.interpretation, typos };
  return { ...plan, interpretation, meta: toMeta(interpretation) };
}

/** The price, unless the caller wants to spend less. */
function countAffordable(price: number, most: number | undefined): number {
  if (most === undefined || price <= most) return price;
  throw new ApiError('CREDITS_EXHAUSTED', `This call costs ${price} credits, more than max_credits (${most}).`, {
    facts: { limit: 'max_credits', credits_required: price },
  });
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
      omits: [
        'directory_version',
        'facet_size',
        'facet_q',
        'following_max',
        'engagement_max',
        'gender_any',
        'state_any',
        'not_country',
        'not_city',
        'has_url',
        'posts_max',
        'stats',
        'country_any',
        'category_any',
        'not_niche',
        'facets',
        'posts_min',
        'pks',
        'walk',
        'cursor',
        'typos',
        'q_as',
        'max_credits',
        'with',
        'exclude_pks',
      ],
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
      if (query.preview) return 0;
      const price = countAffordable(SEARCH_CREDITS, query.max_credits);
      // A walk pays for each block by itself.
      return query.walk ? 0 : price;
    },
    stream: {
      isFor: (query) => matching === 'places' && query.walk === 'true' && query.preview !== 'true',
      open: async (context, call) => {
        const query = await withSaved(context.postgres.db, call.caller, call.query);
        return await openWalk(context, { ...call, query }, SEARCH_CREDITS);
      },
    },
    handler: async (context, { caller, query: sent, setHeader, ignored, waive, note }) => {
      const { directory, postgres } = context;
      const query = await withSaved(postgres.db, caller, sent);
      const page = pageOfQuery(query);
      const snapshot = await directory.snapshot(query.directory_version);
      await directory.assertServes(snapshot, neededField(query) ?? findNeededField(caller));
      setHeader('x-directory-version', snapshot.index);
      const { plan, filter: wanted, gone } = await settlePlan(context, caller, query, { snapshot, ignored, matching });
      const besides = async (cards: string) => ({
        ...(query.with ? { freshness: await readFreshness(directory, snapshot, cards) } : {}),
        ...(await gone()),
      });
      const suggestOthers = async (interpretation: Interpretation) =>
        matching === 'plain' || isLookUp(query)
          ? {}
          : { suggestions: await suggest(context, caller, query, { snapshot, interpretation }) };
      const found = (results: number) => note({ results, record: toSearchRecord(query) });
      directory.searching.count += 1;
      directory.searching.begun += 1;
      try {
        const { similar_to: pks } = query;
        const bound = pks && (await readForcedClauses(directory, caller));
        const similar = pks && bound && (await measureLikeness(directory, snapshot, { pks, filter: wanted, bound }));
        const filter = similar?.filter ?? wanted;
        const { interpretation, meta } = query.typos ? await withTypos(directory, snapshot, plan) : plan;
        if (query.preview) {
          const previewed = similar ? filterByPks(await similarPks(directory, snapshot, similar)) : filter;
          const { total, preview, notFound } = await loadPreview(context, snapshot, query, previewed);
          found(total);
          const suggestions = total === 0 && !similar ? await suggestOthers(interpretation) : {};
          return {
            data: [],
            pagination: { ...toPagination(page, total), has_more: false },
            meta: {
              interpretation,
              ...suggestions,
              ...(notFound ? { not_found: notFound } : {}),
              ...(await besides('')),
            },
            preview,
          };
        }
        if (isLookUp(query)) {
          const { cards, total, hasFound, notFound } = await lookUp(directory, snapshot, query, {
            filter,
            size: page.limit,
          });
          if (!hasFound) waive();
          found(total);
          const more = { not_found: notFound, ...(await besides(cards)) };
          return new RawJson(toAnswerBytes(cards, toPagination(page, total), withMore(meta, more)));
        }
        if (similar) {
          const { cards, total, similarity } = await findSimilar(directory, snapshot, similar, page);
          found(total);
          const more = { similarity, ...(await besides(cards)) };
          return new RawJson(toAnswerBytes(cards, toPagination(page, total), withMore(meta, more)));
        }
        const { cards, total } = await fetchPage(
          directory.elastic,
          directory.counts,
          snapshot,
          filter,
          sortOfQuery(query),
          page,
        );
        found(total);
        const more = { ...(total === 0 ? await suggestOthers(interpretation) : {}), ...(await besides(cards)) };
        return new RawJson(toAnswerBytes(cards, toPagination(page, total), withMore(meta, more)));
      } catch (error) {
        return assertKept(error, snapshot.index);
      } finally {
        directory.searching.count -= 1;
      }
    },
  });

const searchCreators = searchBy('places', CreatorSearchQuery);

/** Search on the older interface: city and state match as substrings, gender exactly. */
export const searchCreatorsPlainly = searchBy('plain', PlainSearchQuery);

const directoryOperations = [
  searchCreators,
  operation({
    id: 'look_up_creators',
    method: 'POST',
    path: '/v1/creators/lookup',
    tag: 'Directory',
    summary: 'Look up many creators',
    description:
      `Up to ${BRAND_AT_MOST} keys, usernames and e-mail addresses together. The answer keeps the order of the ` +
      'request, and `meta.not_found` names the values that the directory does not have. With a data key, use `pks`, ' +
      '`usernames` and `emails` of search.',
    // search_creators does the same.
    forAgents: { isListed: false },
    callers: ['brand'],
    directory: true,
    params: nothing,
    query: nothing,
    body: CreatorLookUp,
    response: CreatorLookUpAnswer,
    errors: ['SUBSCRIPTION_REQUIRED'],
    hints: { readOnly: true, idempotent: true, destructive: false },
    handler: async ({ directory }, { body, setHeader }) => {
      const snapshot = await directory.snapshot();
      if (body.emails.length > 0) await directory.assertServes(snapshot, 'emails');
      setHeader('x-directory-version', snapshot.index);
      const { cards, notFound } = await lookUp(directory, snapshot, body, { size: BRAND_AT_MOST });
      return new RawJson(
        Buffer.from(`{"data":[${cards}],"meta":${withMore('{}', { not_found: notFound })}}`, 'latin1'),
      );
    },
  }),
  read({
    id: 'get_directory_creator',
    path: '/v1/creators/{pk}',
    tag: 'Directory',
    summary: 'One creator in the directory',
    description:
      'The fields of search plus `following_count`, `media_count`, `gender` and `age`; `meta` says how fresh they are. Free by default.',
    forAgents: {
      description: 'The fields of search plus `following_count`, `media_count`, `gender` and `age`.',
      example: { pk: SAMPLE_PK },
    },
    callers: ['brand', 'data'],
    directory: true,
    params: z.object({
      pk: integerParameter({ min: 0 }).describe('Key of the creator in the directory.').meta({ example: SAMPLE_PK }),
    }),
    response: z.object({ data: DirectoryCreatorDetail, meta: CreatorFreshness }),
    errors: ['NOT_FOUND', 'SUBSCRIPTION_REQUIRED', 'CREDITS_EXHAUSTED'],
    price: (context) => context.config.creatorLookupCredits,
    handler: async (context, { caller, params, setHeader }) => {
      const snapshot = await context.directory.snapshot();
      setHeader('x-directory-version', snapshot.index);
      const found = await findCreator(
        context.directory,
        snapshot,
        params.pk,
        await readForcedClauses(context.directory, caller),
      );
      if (!found) throw notFound('creator in the directory');
      return found;
    },
  }),
] as const;

export const directory = noun({
  name: 'directory',
  tag: {
    name: 'Directory',
    about: 'Search over all creators, by place, niche and reach. Metered: a search costs 10 credits with a data key.',
  },
  operations: [...directoryOperations, autocompleteCreators, ...changeOperations, ...dictionaryOperations],
  jobs: [finishDirectoryChanges, forgetDirectoryChanges, ...forgetJobs],
  work: [importWork],
});
