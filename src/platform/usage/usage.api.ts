import { z } from 'zod';
import type { Context } from '../../kit/operation/context.ts';
import { read } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { idField } from '../../kit/values/fields.ts';
import { PageQuery, Pagination, timestamp, toPage, toPagination } from '../../kit/values/page.ts';
import { toDay } from '../../kit/values/time-zone.ts';
import { mapRows, toWire } from '../../kit/values/wire.ts';
import { readSeries } from './call-series.ts';
import { getSearchUsage } from './search-usage.api.ts';
import { findDataSubscription, iterateUsage, listUsageSums, readMonth, type UsageWindow } from './usage.ts';

const day = z.iso.date();

export const UsageFilter = z.object({
  from: day.describe('Start of the period: its first UTC day. By default 29 days before `to`.').optional(),
  to: day.describe('End of the period: its last UTC day, inclusive. Today by default.').optional(),
  key_id: z.string().max(100).describe('Only calls with this data key.').optional(),
  granularity: z
    .enum(['hour', 'day'])
    .describe('Adds `series`: all calls by UTC hour, for at most 31 days, or by UTC day, for at most 400.')
    .optional(),
  by: z
    .enum(['key', 'operation', 'status'])
    .describe('Adds `series`, with a row for each key (the default), operation or status in a period.')
    .optional(),
  ...PageQuery,
});
export type UsageFilter = z.output<typeof UsageFilter>;

const UsageRow = z
  .object({
    date: day.describe('UTC day.').meta({ example: '2026-03-02' }),
    key_id: idField('key', 'Id of the data key.'),
    key_name: z.string().describe('Name of the data key.').meta({ example: 'warehouse' }),
    key: z.string().describe('First 8 and last 4 characters of the data key.').meta({ example: 'svk_3kQ9…c8Qx' }),
    calls: z.number().int().describe('Charged calls.'),
    credits: z.number().int().describe('Credits charged for those calls, before refunds.'),
    refunded: z.number().int().describe('Credits refunded that day for failed calls.').meta({ example: 10 }),
  })
  .meta({ id: 'UsageRow' });

const CreditBalance = z
  .object({
    subscription_id: idField('sub', 'Id of the data subscription.'),
    plan: z.string().describe('Plan of the data subscription.').meta({ example: 'growth' }),
    status: z
      .string()
      .describe('Billing status: `active`, `trialing`, `past_due` or `canceled`.')
      .meta({ example: 'active' }),
    period_start: z.iso
      .datetime()
      .describe('Start of the current period.')
      .meta({ example: '2026-03-01T00:00:00.000Z' }),
    period_end: z.iso
      .datetime()
      .describe('End of the current period, when new credits are granted.')
      .meta({ example: '2026-04-01T00:00:00.000Z' }),
    granted: z.number().int().describe('Credits granted for the period.').meta({ example: 10_000 }),
    charged: z.number().int().describe('Credits charged in the period, before refunds.').meta({ example: 340 }),
    refunded: z.number().int().describe('Credits refunded in the period for failed calls.').meta({ example: 10 }),
    remaining: z.number().int().describe('Credits left: granted - charged + refunded.').meta({ example: 9_670 }),
  })
  .meta({ id: 'CreditBalance' });

const CallSum = z
  .object({
    start: timestamp.describe('Start of the hour or day.').meta({ example: '2026-03-02T09:00:00.000Z' }),
    key_id: idField('key', 'Key that made the calls. Only with `by=key`.').optional(),
    key_name: z
      .string()
      .nullable()
      .optional()
      .describe('Name of the key that made the calls. Only with `by=key`.')
      .meta({ example: 'warehouse' }),
    operation: z
      .string()
      .nullable()
      .optional()
      .describe('Operation of the calls; null if there is none at the path. Only with `by=operation`.')
      .meta({ example: 'search_creators' }),
    status: z
      .number()
      .int()
      .optional()
      .describe('HTTP status of these answers. Only with `by=status`.')
      .meta({ example: 200 }),
    calls: z.number().int().describe('Calls in the period, free and refused ones too.').meta({ example: 96 }),
    credits: z.number().int().describe('Credits that these calls cost, after refunds.').meta({ example: 410 }),
  })
  .meta({ id: 'CallSum' });

export const UsageList = z.object({
  data: z.array(UsageRow),
  pagination: Pagination,
  series: z
    .array(CallSum)
    .optional()
    .describe(
      'Calls of all keys, oldest first, from the record of calls; periods without calls are left out. It may lack calls that `data` has. Only with `granularity` or `by`.',
    ),
  summary: z
    .object({
      balance: CreditBalance.nullable().describe(
        'Credits of the data subscription in the current period; null if the brand has none.',
      ),
    })
    .describe('Credit balance of the brand, whatever the filters.'),
});

const DEFAULT_DAYS = 30;

function toWindow(filter: UsageFilter, now: Date): UsageWindow {
  const to = filter.to ?? toDay(now);
  const until = new Date(Date.parse(to) + DAY_MS);
  const from = filter.from === undefined ? new Date(until.getTime() - DEFAULT_DAYS * DAY_MS) : new Date(filter.from);
  return { from, until, keyId: filter.key_id };
}

/** Reads the credit balance from the ledger. Credits are granted by the first call of a period; until then the plan's count. */
async function readBalance({ postgres, clock }: Context, brandId: string) {
  const subscription = await findDataSubscription(postgres.db, brandId);
  if (!subscription) return null;
  return { subscription_id: subscription.id, ...(await readMonth(postgres.db, subscription, clock.now())) };
}

const listUsage = read({
  id: 'list_usage',
  path: '/v1/usage',
  tag: 'Usage',
  summary: 'Get credits and calls by key and day',
  description:
    'Sums of the credit ledger. A call appears within two seconds. `granularity` and `by` add a series of all calls by hour ' +
    'or day and by key, operation or status.',
  forAgents: {
    description: 'Sums of the credit ledger. A call appears within two seconds.',
    example: {},
    omits: ['granularity', 'by'],
  },
  query: UsageFilter,
  response: UsageList,
  handler: async (context, { caller, query }) => {
    const page = toPage(query);
    const { db } = context.postgres;
    const window = toWindow(query, context.clock.now());
    const series = query.granularity || query.by ? await readSeries(context, caller.brandId, window, query) : undefined;
    const { rows, total } = await listUsageSums(db, caller.brandId, window, page);
    const balance = await readBalance(context, caller.brandId);
    return {
      data: rows.map((row) => UsageRow.parse(toWire(row))),
      pagination: toPagination(page, total),
      ...(series ? { series } : {}),
      summary: { balance },
    };
  },
  csv: {
    item: UsageRow,
    rows: ({ postgres, clock }, { caller, query }) =>
      mapRows(iterateUsage(postgres.exports, caller.brandId, toWindow(query, clock.now())), toWire),
  },
});

const usageOperations = [listUsage, getSearchUsage] as const;

export const usage = noun({
  name: 'usage',
  tag: {
    name: 'Usage',
    about: 'Calls and credits of each data key.',
  },
  operations: usageOperations,
});
