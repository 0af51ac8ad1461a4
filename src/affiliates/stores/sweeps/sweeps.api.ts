import { z } from 'zod';
import { act, get } from '../../../kit/operation/kit.ts';
import { noun } from '../../../kit/operation/noun.ts';
import { notFound } from '../../../kit/values/errors.ts';
import { timestamp, timestampInput } from '../../../kit/values/page.ts';
import { backfillStores } from './backfills.jobs.ts';
import { type BackfillRow, findBackfill, startBackfill } from './backfills.ts';
import { READ_AGAIN } from './schedule.ts';
import { sweepStores } from './sweeps.jobs.ts';
import { storeSweepMails } from './sweeps.mails.ts';
import { readAgain } from './sweeps.ts';

const ReadAgain = z
  .object({
    since: timestampInput.describe('Orders that changed at the store since this day or time are read again.').meta({
      example: '2026-03-01',
    }),
  })
  .meta({ id: 'ReadStoreAgain' });

const Reading = z
  .object({
    integration_id: z
      .string()
      .describe('Store whose orders are read again.')
      .meta({ example: 'int_0Uo3xK2mVdT2aXs7LpRb' }),
    since: timestamp
      .describe('Orders that changed after this time are read: the requested time, or 60 days ago if that is later.')
      .meta({ example: '2026-03-01T00:00:00.000Z' }),
  })
  .meta({ id: 'StoreReadAgain' });

const sweepOperations = [
  act({
    id: READ_AGAIN,
    path: '/v1/affiliates/integrations/{id}/sweep',
    tag: 'Affiliates',
    item: Reading,
    summary: "Read a store's orders again",
    description:
      'A worker reads what changed at the store since a time, as it does every ten minutes, and records what is new: orders, ' +
      'refunds, cancellations. They are attributed and pay as usual. It goes back at most 60 days.',
    // A reconciliation offers it to people.
    forAgents: { isListed: false },
    hints: { idempotent: true },
    body: ReadAgain,
    errors: ['NOT_FOUND', 'CONFLICT'],
    apply: async (work, { params: { id }, body }) => ({
      integration_id: id,
      since: (await readAgain(work, id, body.since)).toISOString(),
    }),
  }),
] as const;

const at = '2026-03-01T09:30:00.000Z';
const count = z.number().int();

const Backfill = z
  .object({
    integration_id: z.string().describe('Store whose history is read.').meta({ example: 'int_0Uo3xK2mVdT2aXs7LpRb' }),
    status: z
      .enum(['running', 'done'])
      .describe('`running`: a worker reads pages, as fast as the store allows. `done`: everything was read.'),
    before: timestamp
      .describe('Orders that changed after this time are not history: they are read every ten minutes.')
      .meta({ example: at }),
    reached_at: timestamp
      .nullable()
      .describe('Progress: the latest change of an order that was read. Null before the first page.')
      .meta({ example: '2024-06-01T08:00:00.000Z' }),
    orders_read: count.describe('Number of orders that the store has listed so far.').meta({ example: 1_200 }),
    orders_recorded: count.describe('Number of these orders that were not known before.').meta({ example: 1_180 }),
    orders_unread: count.describe('Number of orders that could not be read, and are missing.').meta({ example: 0 }),
    problem: z
      .string()
      .nullable()
      .describe('Why it waits, or why it read nothing; null if there is no problem.')
      .meta({ example: null }),
    started_at: timestamp.describe('When reading began.').meta({ example: at }),
    finished_at: timestamp
      .nullable()
      .describe('When the last page was read; null while it runs.')
      .meta({ example: null }),
  })
  .meta({ id: 'StoreBackfill' });

export const toBackfill = (row: BackfillRow): z.input<typeof Backfill> => ({
  status: row.dueAt === null ? 'done' : 'running',
  integration_id: row.integrationId,
  problem: row.problem,
  before: row.before.toISOString(),
  reached_at: row.reachedAt?.toISOString() ?? null,
  orders_read: row.ordersRead,
  orders_recorded: row.ordersRecorded,
  orders_unread: row.ordersUnread,
  started_at: row.startedAt.toISOString(),
  finished_at: row.finishedAt?.toISOString() ?? null,
});

const one = { path: '/v1/affiliates/integrations/{id}/backfill', tag: 'Affiliates', item: Backfill } as const;
const forAgents = { isListed: false };

const backfillOperations = [
  act({
    ...one,
    id: 'start_store_backfill',
    summary: "Read a store's history",
    description:
      'A worker reads the orders from before the 60 days that were read when the store was connected, as it does once by ' +
      'itself. They make customers ' +
      'known; they pay nobody and emit no events. Shopify lists orders older than 60 days only to apps with ' +
      '`read_all_orders`. Repeating it continues, or begins again once it is done; no order is recorded twice.',
    forAgents,
    hints: { idempotent: true },
    errors: ['NOT_FOUND', 'CONFLICT'],
    apply: async (work, { params }) => toBackfill(await startBackfill(work, params.id)),
  }),
  get({
    ...one,
    id: 'get_store_backfill',
    summary: "Get the progress of reading a store's history",
    description: 'Shows the run that was started last.',
    forAgents,
    find: async ({ postgres }, { caller, params }) => {
      const row = await findBackfill(postgres.db, caller.brandId, params.id);
      if (!row) throw notFound('backfill');
      return toBackfill(row);
    },
  }),
] as const;

export const storeSweeps = noun({
  name: 'store-sweeps',
  operations: [...sweepOperations, ...backfillOperations],
  jobs: [sweepStores, backfillStores],
  mails: storeSweepMails,
});
