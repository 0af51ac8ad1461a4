import { z } from 'zod';
import { read } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { nothing, operation, RawJson } from '../../kit/operation/operation.ts';
import type { Json } from '../../kit/values/canonical.ts';
import { ApiError, notFound } from '../../kit/values/errors.ts';
import { integerParameter, isTrueText, type Pagination, toPagination } from '../../kit/values/page.ts';
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
import { readLeft } from './left.ts';
import { BRAND_AT_MOST, CreatorLookUp, CreatorLookUpAnswer } from './look-up.shapes.ts';
import { lookUp } from './look-up.ts';
import { type Matching, neededField, type Plan, toMeta } from './plan.ts';
import { loadPreview, SEARCH_CREDITS } from './preview.ts';
import type { Clause, Filter } from './query.ts';
import {
  CreatorSearchAnswer,
  CreatorSearchQuery,
  isLookUp,
  PlainSearchQuery,
  pageOfQuery,
  sortOfQuery,
} from './search.shapes.ts';
import { assertKept, fetchPage } from './search.ts';
import { toSearchRecord } from './search-record.ts';
import { measureLookUp, measureWork } from './search-work.ts';
import { settlePlan } from './settle-plan.ts';
import { findSimilar, measureLikeness, similarPks } from './similar.ts';
import { suggest } from './suggestions.ts';
import { findTypos } from './typos.ts';
import { openWalk } from './walk.ts';
import { assertNothingIgnored, listIgnored } from './walk-parameters.ts';

/** `cards` and `meta` are UTF-8 bytes held as latin1 text, so that the body is encoded only once. */
function toAnswerBytes(cards: string, pagination: Pagination, meta: string): Buffer {
  return Buffer.from(`{"data":[${cards}],"pagination":${JSON.stringify(pagination)},"meta":${meta}}`, 'latin1');
}

/** `meta` with additional fields. */
function withMore(meta: string, more: object): string {
  const moreJson = Buffer.from(JSON.stringify(more)).toString('latin1');
  if (moreJson === '{}') return meta;
  return meta === '{}' ? moreJson : `${meta.slice(0, -1)},${moreJson.slice(1)}`;
}

/** Finds just these creators: a preview of ranked ones counts those that pages show. */
const filterByPks = (pks: readonly number[]): Filter => ({
  clauses: [{ terms: { 'card.pk': pks } }],
  ranges: { followers: {}, engagement: {} },
});

/** The plan with the words that `q` matched. */
async function withTypos(
  { counts }: Directory,
  snapshot: Snapshot,
  plan: Plan,
  bound: readonly Clause[],
): Promise<Plan> {
  const { q } = plan.interpretation;
  const text = q?.read_as === 'text' ? q.value : q?.text;
  const typos = text === undefined ? [] : await findTypos(counts, snapshot, text, bound);
  const interpretation = { ...plan.interpretation, typos };
  return { ...plan, interpretation, meta: toMeta(interpretation) };
}

/** The version that is asked for, else the one that the call was paid for while it is kept, else the live one. */
async function openSnapshot(
  directory: Directory,
  { directory_version: pinned }: { directory_version?: string | undefined },
  paidIndex: string | undefined,
): Promise<Snapshot> {
  if (pinned !== undefined || paidIndex === undefined) return await directory.snapshot(pinned);
  return await directory.snapshot(paidIndex).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'CONFLICT') return directory.snapshot();
    throw error;
  });
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
        'typos',
        'q_as',
        'max_credits',
        'with',
        'exclude_pks',
        'niche_is',
        'metro',
      ],
      restOnly: ['directory_version', 'walk', 'cursor'],
    },
    callers: ['brand', 'data'],
    directory: true,
    params: nothing,
    query: parameters,
    body: nothing,
    response: CreatorSearchAnswer,
    errors: ['CREDITS_EXHAUSTED', 'SUBSCRIPTION_REQUIRED', 'CONFLICT', 'IDEMPOTENCY_KEY_REUSED'],
    hints: { readOnly: true, idempotent: true, destructive: false },
    price: (context, { query }) => {
      context.directory.assertMayBeKept(query.directory_version);
      if (query.preview) return 0;
      const price = countAffordable(SEARCH_CREDITS, query.max_credits);
      // A walk pays for each block by itself.
      return query.walk ? 0 : price;
    },
    repeats: async ({ directory }, { query }) => {
      const { max_credits: _max, page: _page, offset: _offset, limit: _limit, ...call } = query;
      const { index } = await directory.snapshot(query.directory_version);
      const json: Json = JSON.parse(
        JSON.stringify({ ...call, matching, place: pageOfQuery(query), sort: sortOfQuery(query) }),
      );
      return { call: json, version: index };
    },
    stream: {
      isFor: ({ walk, preview }) => matching === 'places' && isTrueText(walk) && !isTrueText(preview),
      open: async (context, call) => {
        assertNothingIgnored(call, Object.keys(parameters.shape));
        const query = await withSaved(context.postgres.db, call.caller, call.query);
        return await openWalk(context, { ...call, query }, SEARCH_CREDITS);
      },
    },
    handler: async (shared, call) => {
      const { caller, query: sent, setHeader, ignored, waive, note, gone: clientGone } = call;
      const { postgres } = shared;
      const directory = shared.directory.forCall(clientGone);
      const context = { ...shared, directory };
      if (sent.walk) assertNothingIgnored(call, Object.keys(parameters.shape));
      const query = await withSaved(postgres.db, caller, sent);
      const page = pageOfQuery(query);
      const snapshot = await openSnapshot(directory, query, call.paidVersion);
      await directory.assertServes(snapshot, neededField(query) ?? findNeededField(caller));
      setHeader('x-directory-version', snapshot.index);
      const { plan, filter: wanted, gone } = await settlePlan(context, caller, query, { snapshot, ignored, matching });
      const besides = async (cards: string) => ({
        ...(query.with ? { freshness: await readFreshness(directory, snapshot, cards) } : {}),
        ...(await gone()),
        ...(matching === 'places' ? await readLeft(context, { caller, query, snapshot, filter: plan.filter }) : {}),
        ...(matching === 'places' ? listIgnored(call) : {}),
      });
      const suggestOthers = async (interpretation: Interpretation) =>
        matching === 'plain' || isLookUp(query)
          ? {}
          : { suggestions: await suggest(context, caller, query, { snapshot, interpretation }) };
      const noteResults = (results: number) => note({ results, record: toSearchRecord(query) });
      const end = await directory.work.enter(caller.brandId, measureWork(query, wanted));
      directory.searching.count += 1;
      directory.searching.begun += 1;
      try {
        const { similar_to: pks } = query;
        const bound = await readForcedClauses(directory, caller);
        const similar = pks && (await measureLikeness(directory, snapshot, { pks, filter: wanted, bound }));
        const filter = similar?.filter ?? wanted;
        const { interpretation, meta } = query.typos ? await withTypos(directory, snapshot, plan, bound) : plan;
        if (query.preview) {
          const previewFilter = similar ? filterByPks(await similarPks(directory, snapshot, similar)) : filter;
          const { total, preview, notFound } = await loadPreview(context, snapshot, query, {
            filter: previewFilter,
            bound,
          });
          noteResults(total);
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
            bound,
          });
          if (!hasFound) waive();
          noteResults(total);
          const more = { not_found: notFound, ...(await besides(cards)) };
          return new RawJson(toAnswerBytes(cards, toPagination(page, total), withMore(meta, more)));
        }
        if (similar) {
          const { cards, total, similarity } = await findSimilar(directory, snapshot, similar, page);
          noteResults(total);
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
        noteResults(total);
        const more = { ...(total === 0 ? await suggestOthers(interpretation) : {}), ...(await besides(cards)) };
        return new RawJson(toAnswerBytes(cards, toPagination(page, total), withMore(meta, more)));
      } catch (error) {
        return assertKept(error, snapshot.index);
      } finally {
        directory.searching.count -= 1;
        end();
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
      `Up to ${BRAND_AT_MOST} keys, usernames and email addresses together. The answer keeps the order of the ` +
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
    handler: async (context, { caller, body, setHeader, gone }) => {
      const directory = context.directory.forCall(gone);
      const snapshot = await directory.snapshot();
      if (body.emails.length > 0) await directory.assertServes(snapshot, 'emails');
      setHeader('x-directory-version', snapshot.index);
      const { cards, notFound } = await directory.work.run(caller.brandId, measureLookUp(body), () =>
        lookUp(directory, snapshot, body, { size: BRAND_AT_MOST, bound: [] }),
      );
      return new RawJson(
        Buffer.from(`{"data":[${cards}],"meta":${withMore('{}', { not_found: notFound })}}`, 'latin1'),
      );
    },
  }),
  read({
    id: 'get_directory_creator',
    path: '/v1/creators/{pk}',
    tag: 'Directory',
    summary: 'Get a creator from the directory',
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
    errors: ['NOT_FOUND', 'SUBSCRIPTION_REQUIRED', 'CREDITS_EXHAUSTED', 'IDEMPOTENCY_KEY_REUSED'],
    price: (context) => context.config.creatorLookupCredits,
    repeats: async ({ directory }, { params }) => ({
      call: { get: params.pk },
      version: (await directory.snapshot()).index,
    }),
    handler: async (context, { caller, params, setHeader, paidVersion }) => {
      const snapshot = await openSnapshot(context.directory, {}, paidVersion);
      setHeader('x-directory-version', snapshot.index);
      const creator = await findCreator(
        context.directory,
        snapshot,
        params.pk,
        await readForcedClauses(context.directory, caller),
      );
      if (!creator) throw notFound('creator in the directory');
      return creator;
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
