import { z } from 'zod';
import { PageQuery, Pagination } from '../../values/page.ts';

const day = z.iso.date();

export const UsageFilter = z.object({
  from: day.describe('First UTC day; default 29 days before `to`.').optional(),
  to: day.describe('Last UTC day, included; default today.').optional(),
  key_id: z.string().max(100).optional(),
  ...PageQuery,
});
export type UsageFilter = z.output<typeof UsageFilter>;

export const UsageRow = z
  .object({
    date: day,
    key_id: z.string(),
    key_name: z.string(),
    key: z.string().describe('First 8 and last 4 characters.').meta({ example: 'svk_3kQ9…c8Qx' }),
    calls: z.number().int().describe('Calls that were charged.'),
    credits: z.number().int().describe('Credits of those calls, before refunds.'),
    refunded: z.number().int().describe('Credits given back that day.'),
  })
  .meta({ id: 'UsageRow' });

const CreditBalance = z
  .object({
    subscription_id: z.string(),
    plan: z.string(),
    status: z.string().meta({ example: 'active' }),
    period_start: z.iso.datetime(),
    period_end: z.iso.datetime(),
    granted: z.number().int(),
    charged: z.number().int(),
    refunded: z.number().int(),
    remaining: z.number().int().describe('granted - charged + refunded.'),
  })
  .meta({ id: 'CreditBalance' });

export const UsageList = z.object({
  data: z.array(UsageRow),
  pagination: Pagination,
  summary: z.object({ balance: CreditBalance.nullable().describe('The data subscription, this period.') }),
});
