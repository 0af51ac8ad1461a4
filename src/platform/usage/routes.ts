import { monthlyCredits } from '../../kit/access/credits/access.ts';
import { periodAt } from '../../kit/access/credits/period.ts';
import { sumEntries } from '../../kit/access/credits/queries.ts';
import type { Context } from '../../kit/operation/context.ts';
import { read } from '../../kit/operation/kit.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { toPage, toPagination } from '../../kit/values/page.ts';
import { mapRows, toWire } from '../../kit/values/wire.ts';
import { readSeries } from './calls/actions.ts';
import { eachUsage, findDataSubscription, listUsage as selectUsage, type UsageWindow } from './usage.ts';
import { UsageFilter, UsageList, UsageRow } from './schema.ts';
import { getSearchUsage } from './search-usage.api.ts';

const DEFAULT_DAYS = 30;

function windowOf(filter: UsageFilter, now: Date): UsageWindow {
  const to = filter.to ?? now.toISOString().slice(0, 10);
  const until = new Date(Date.parse(to) + DAY_MS);
  const from = filter.from === undefined ? new Date(until.getTime() - DEFAULT_DAYS * DAY_MS) : new Date(filter.from);
  return { from, until, keyId: filter.key_id };
}

/** The credit balance from the ledger. Before the first call of a period nothing is granted yet, so the plan's grant counts. */
async function balanceOf({ postgres, clock }: Context, brandId: string) {
  const subscription = await findDataSubscription(postgres.db, brandId);
  if (!subscription) return null;
  const { start, end } = periodAt(subscription.anchorAt, clock.now());
  const sums = await sumEntries(postgres.db, subscription.id, start);
  const granted = sums.granted || monthlyCredits(subscription);
  return {
    subscription_id: subscription.id,
    plan: subscription.plan,
    status: subscription.status,
    period_start: start.toISOString(),
    period_end: end.toISOString(),
    granted,
    charged: sums.charged,
    refunded: sums.refunded,
    remaining: granted - sums.charged + sums.refunded,
  };
}

const listUsage = read({
  id: 'list_usage',
  path: '/v1/usage',
  tag: 'Usage',
  summary: 'Credits and calls per data key and day',
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
    const window = windowOf(query, context.clock.now());
    const series = query.granularity || query.by ? await readSeries(context, caller.brandId, window, query) : undefined;
    const { rows, total } = await selectUsage(db, caller.brandId, window, page);
    const balance = await balanceOf(context, caller.brandId);
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
      mapRows(eachUsage(postgres.exports, caller.brandId, windowOf(query, clock.now())), toWire),
  },
});

export const usageOperations = [listUsage, getSearchUsage] as const;
