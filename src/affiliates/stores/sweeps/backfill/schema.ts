import { z } from 'zod';
import { timestamp } from '../../../../kit/values/page.ts';
import type { BackfillRow } from './queries.ts';

const at = '2026-03-01T09:30:00.000Z';
const count = z.number().int();

export const Backfill = z
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

export const backfillOf = (row: BackfillRow): z.input<typeof Backfill> => ({
  status: row.dueAt === null ? 'done' : 'running',
  ...{ integration_id: row.integrationId, problem: row.problem },
  ...{ before: row.before.toISOString(), reached_at: row.reachedAt?.toISOString() ?? null },
  ...{ orders_read: row.ordersRead, orders_recorded: row.ordersRecorded, orders_unread: row.ordersUnread },
  ...{ started_at: row.startedAt.toISOString(), finished_at: row.finishedAt?.toISOString() ?? null },
});
