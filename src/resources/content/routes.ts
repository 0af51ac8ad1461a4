import { z } from 'zod';
import { create, read } from '../../operation/kit.ts';
import { change, noLookUp, nothing } from '../../operation/operation.ts';
import { pageOf, paginationOf } from '../../values/page.ts';
import { eachAs, toWire } from '../../values/wire.ts';
import { requestRefresh, trackContent, untrackContent } from './actions.ts';
import { contentOf } from './item.ts';
import { refreshAvailableAt } from './policy.ts';
import { eachContent, listContent as findContent, getContent, listMetrics } from './queries.ts';
import {
  Content,
  ContentCreate,
  ContentDeleted,
  ContentDetail,
  ContentFilter,
  ContentList,
  ContentRefresh,
} from './schema.ts';

const tag = 'Tracked content';
const byId = z.object({ id: z.string().max(100) });

const listContent = read({
  id: 'list_content',
  path: '/v1/content',
  tag,
  summary: 'Posts whose figures are followed',
  description: 'Newest first; `summary` is over all matching posts, not the page.',
  query: ContentFilter,
  response: ContentList,
  handler: async ({ postgres, clock }, { caller, query }) => {
    const page = pageOf(query);
    const { rows, total, summary } = await findContent(postgres.db, caller.brandId, query, page);
    const now = clock.now();
    return { data: rows.map((row) => contentOf(row, now)), pagination: paginationOf(page, total), summary };
  },
  csv: {
    item: Content,
    rows: ({ postgres, clock }, { caller, query }) =>
      eachAs(eachContent(postgres.exports, caller.brandId, query), (row) => contentOf(row, clock.now())),
  },
});

const getContentById = read({
  id: 'get_content',
  path: '/v1/content/{id}',
  tag,
  summary: 'One tracked post',
  description: 'With what its figures were, day by day.',
  response: z.object({ data: ContentDetail }),
  errors: ['NOT_FOUND'],
  handler: async ({ postgres, clock }, { caller, params }) => {
    const row = await getContent(postgres.db, caller.brandId, params.id);
    return { data: { ...contentOf(row, clock.now()), metrics_history: await listMetrics(postgres.db, row.id) } };
  },
});

const trackContentOperation = create({
  id: 'track_content',
  path: '/v1/content',
  tag,
  summary: 'Follow the figures of a post',
  description:
    'A post on a supported platform; the same post however its address is written is tracked once. ' +
    'It is read soon, daily for 30 days and then weekly for 90, where a provider is configured.',
  body: ContentCreate,
  item: Content,
  errors: ['CONFLICT'],
  apply: async (work, { body }) => contentOf(await trackContent(work, body), work.now),
});

const refreshContentOperation = change({
  id: 'refresh_content',
  method: 'POST',
  path: '/v1/content/{id}/refresh',
  tag,
  summary: 'Read the figures of a post now',
  description:
    'The reading comes a moment later, as the event content.refreshed. Within an hour of the last request nothing changes, ' +
    'and the answer says `tracking` and from when it would.',
  callers: ['brand'],
  params: byId,
  query: nothing,
  body: nothing,
  response: z.object({ data: ContentRefresh }),
  errors: ['NOT_FOUND'],
  hints: { readOnly: false, idempotent: true, destructive: false },
  lookUp: noLookUp,
  apply: async (work, { params }) => {
    const row = await requestRefresh(work, params.id);
    const nextRefreshAvailable = refreshAvailableAt(row.refreshRequestedAt, work.now);
    return { data: toWire({ ...row, nextRefreshAvailable }) };
  },
});

const deleteContentOperation = change({
  id: 'delete_content',
  method: 'DELETE',
  path: '/v1/content/{id}',
  tag,
  summary: 'Follow a post no more',
  description: 'The same post may be tracked again, under a new id.',
  callers: ['brand'],
  params: byId,
  query: nothing,
  body: nothing,
  response: ContentDeleted,
  errors: ['NOT_FOUND'],
  hints: { readOnly: false, idempotent: false, destructive: true },
  lookUp: noLookUp,
  apply: async (work, { params }) => {
    await untrackContent(work, params.id);
    return { deleted: true as const, id: params.id };
  },
});

export const contentOperations = [
  listContent,
  getContentById,
  trackContentOperation,
  refreshContentOperation,
  deleteContentOperation,
] as const;
