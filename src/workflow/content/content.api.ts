import { z } from 'zod';
import { act, create, get, read, write } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { idField } from '../../kit/values/fields.ts';
import { toPage, toPagination } from '../../kit/values/page.ts';
import { mapRows, toWire } from '../../kit/values/wire.ts';
import { contentConsumer, refreshWork } from './content.jobs.ts';
import {
  Content,
  ContentCreate,
  ContentDeleted,
  ContentDetail,
  ContentFilter,
  ContentList,
  ContentRefresh,
  toContent,
  toNewContent,
} from './content.shapes.ts';
import {
  eachContent,
  listContent as findContent,
  getContent,
  listMetrics,
  requestRefresh,
  resolvePost,
  trackContent,
  untrackContent,
} from './content.ts';
import { refreshAvailableAt } from './posts.ts';

const tag = 'Tracked content';
const byId = z.object({ id: idField('cnt', 'Id of the tracked post.').max(100) });

const listContent = read({
  id: 'list_content',
  path: '/v1/content',
  tag,
  summary: 'List tracked posts',
  description: 'Newest first; `summary` covers all matching posts, not only this page.',
  forAgents: { example: { creator_email: 'ana@example.com' } },
  query: ContentFilter,
  response: ContentList,
  handler: async ({ postgres, clock }, { caller, query }) => {
    const page = toPage(query);
    const { rows, total, summary } = await findContent(postgres.db, caller.brandId, query, page);
    const now = clock.now();
    return { data: rows.map((row) => toContent(row, now)), pagination: toPagination(page, total), summary };
  },
  csv: {
    item: Content,
    rows: ({ postgres, clock }, { caller, query }) =>
      mapRows(eachContent(postgres.exports, caller.brandId, query), (row) => toContent(row, clock.now())),
  },
});

const contentOperations = [
  listContent,
  get({
    id: 'get_content',
    path: '/v1/content/{id}',
    tag,
    summary: 'Get a tracked post',
    description: 'Includes the metrics of each day.',
    params: byId,
    item: ContentDetail,
    find: async ({ postgres, clock }, { caller, params }) => {
      const row = await getContent(postgres.db, caller.brandId, params.id);
      return { ...toContent(row, clock.now()), metrics_history: await listMetrics(postgres.db, row.id) };
    },
  }),
  create({
    id: 'track_content',
    path: '/v1/content',
    tag,
    summary: 'Track the metrics of a post',
    description:
      'A post is tracked once, however its address is written. If a provider is configured, its metrics are read soon, ' +
      'then daily for 30 days and weekly for 90.',
    forAgents: {
      description: 'If a provider is configured, its metrics are read soon, then daily for 30 days and weekly for 90.',
    },
    body: ContentCreate,
    item: Content,
    errors: ['CONFLICT'],
    lookUp: async ({ config }, { body }) => await resolvePost(config, body.url),
    apply: async (work, { body }, post) => toNewContent(await trackContent(work, { ...body, post }), work.now),
  }),
  act({
    id: 'refresh_content',
    path: '/v1/content/{id}/refresh',
    tag,
    summary: 'Refresh the metrics of a post now',
    description:
      'The new metrics arrive a moment later, with the event content.refreshed. Within an hour of the last request nothing ' +
      'changes: `status` is `tracking` and `next_refresh_available` says when to try again.',
    forAgents: {
      description:
        'The new metrics arrive a moment later. At most once an hour: `next_refresh_available` says when to try again.',
    },
    params: byId,
    item: ContentRefresh,
    errors: ['NOT_FOUND'],
    hints: { idempotent: true },
    apply: async (work, { params }) => {
      const row = await requestRefresh(work, params.id);
      const nextRefreshAvailable = refreshAvailableAt(row.refreshRequestedAt, work.now);
      return toWire({ ...row, nextRefreshAvailable });
    },
  }),
  write({
    id: 'delete_content',
    method: 'DELETE',
    path: '/v1/content/{id}',
    tag,
    summary: 'Stop tracking a post',
    description: 'The same post may be tracked again, under a new id.',
    params: byId,
    response: ContentDeleted,
    errors: ['NOT_FOUND'],
    hints: { destructive: true },
    apply: async (work, { params }) => {
      await untrackContent(work, params.id);
      return { deleted: true as const, id: params.id };
    },
  }),
] as const;

export const contentNoun = noun({
  name: 'content',
  tag: {
    name: 'Tracked content',
    about: 'Posts whose metrics are read regularly.',
  },
  ids: { content: 'cnt' },
  operations: contentOperations,
  work: [refreshWork],
  consumers: [contentConsumer],
});
