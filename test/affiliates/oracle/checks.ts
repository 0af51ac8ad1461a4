import { expect } from 'vitest';
import { z } from 'zod';
import { major } from './deliveries.ts';
import { commissionOf, type Figures, type Happening, happenings, NOTHING, sumBy, within } from './figures.ts';
import { DAY_MS, type History, timeOf } from './history.ts';
import { type Oracle, standings } from './model.ts';
import { nettedOf } from './paying.ts';
import type { World } from './world.ts';

const anything = (value: unknown) => value !== 0 && value !== '';
const text = (ms: number) => new Date(ms).toISOString();
const dayOf = (ms: number) => text(ms).slice(0, 10);

/** Drops what only says zero: a row of nothing may be shown or not. */
const withoutZeros = <T extends object>(rows: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(rows).filter(([, row]) => Object.values(row).some(anything)));

const Balances = z.object({
  currency: z.string(),
  clicks: z.number(),
  conversions: z.number(),
  revenue_minor: z.number(),
  commission_minor: z.object({ pending: z.number(), approved: z.number(), paid: z.number() }),
  refund_adjustment_minor: z.number(),
});
const Performance = z.object({
  data: z.array(Balances.extend({ link_id: z.string() })),
  summary: z.object({ by_currency: z.array(Balances) }),
});

const figuresOf = (row: z.output<typeof Balances>): Figures => ({
  ...{ clicks: row.clicks, conversions: row.conversions, revenue: row.revenue_minor },
  ...row.commission_minor,
  adjustment: row.refund_adjustment_minor,
});

/** What belongs to a link. */
const linked = (rows: readonly Happening[]) => rows.filter(({ link }) => link.id !== '');

async function checkPerformance({ door }: World, query: string, all: readonly Happening[]): Promise<void> {
  const rows = linked(all);
  const reported = Performance.parse(await door.ask('GET', `/v1/affiliates/performance?limit=100${query}`));
  const byLink = Object.fromEntries(reported.data.map((row) => [`${row.link_id} ${row.currency}`, figuresOf(row)]));
  expect(byLink, `performance${query}`).toEqual(sumBy(rows, ({ link, currency }) => `${link.id} ${currency}`));
  const summary = Object.fromEntries(reported.summary.by_currency.map((row) => [row.currency, figuresOf(row)]));
  const sums = sumBy(rows, ({ currency }) => currency);
  expect(withoutZeros(summary), `performance's summary${query}`).toEqual(sums);
}

const Money = z.object({ currency: z.string(), revenue: z.number(), commission: z.number() });
const Affiliates = z.object({
  data: z.array(
    Money.extend({ id: z.string(), clicks: z.number(), conversions: z.number(), by_currency: z.array(Money) }),
  ),
});
const Totals = z.object({
  total_revenue: z.number(),
  total_commissions: z.number(),
  total_clicks: z.number(),
  total_conversions: z.number(),
});

/** Money by currency, in major units: the own one always, others when there is any. */
function moneyOf(rows: readonly Happening[], own: string) {
  const sums = { [own]: NOTHING, ...sumBy(rows, ({ currency }) => currency) };
  const shown = Object.entries(sums).map(([currency, sum]) => {
    const revenue = major(sum.revenue, currency);
    return [currency, { revenue, commission: major(commissionOf(sum), currency) }] as const;
  });
  return Object.fromEntries(shown.filter(([currency, row]) => currency === own || Object.values(row).some(anything)));
}

const count = (rows: readonly Happening[], what: 'clicks' | 'conversions') =>
  rows.reduce((sum, row) => sum + (row[what] ?? 0), 0);

const shownMoney = (rows: readonly { currency: string; revenue: number; commission: number }[], own: string) =>
  Object.fromEntries(
    rows
      .filter(({ currency, revenue, commission }) => currency === own || revenue !== 0 || commission !== 0)
      .map(({ currency, revenue, commission }) => [currency, { revenue, commission }]),
  );

async function checkAffiliates({ door, oracle }: World, all: readonly Happening[]): Promise<void> {
  const rows = linked(all);
  for (const path of ['/v1/affiliates', '/v1/affiliates/links']) {
    const { data } = Affiliates.parse(await door.ask('GET', `${path}?limit=100`));
    const reported = data.map(({ id, clicks, conversions, by_currency, ...own }) => ({
      ...{ id, clicks, conversions, money: shownMoney([own, ...by_currency], own.currency) },
    }));
    const wanted = oracle.links.map(({ id, currency }) => {
      const own = rows.filter(({ link }) => link.id === id);
      return {
        id,
        clicks: count(own, 'clicks'),
        conversions: count(own, 'conversions'),
        money: moneyOf(own, currency),
      };
    });
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
    expect(reported.sort(byId), path).toEqual(wanted.sort(byId));
  }
  const { summary } = await door.ask('GET', '/v1/affiliates?limit=1');
  const own = moneyOf(rows, oracle.currency)[oracle.currency];
  expect(Totals.parse(summary), 'the summary of affiliates').toEqual({
    ...{ total_revenue: own?.revenue, total_commissions: own?.commission },
    ...{ total_clicks: count(rows, 'clicks'), total_conversions: count(rows, 'conversions') },
  });
}

const Commission = z.object({
  order_id: z.string().nullable(),
  link_id: z.string().nullable(),
  status: z.string(),
  amount: z.number(),
  commission: z.number(),
  currency: z.string(),
  occurred_at: z.string(),
  discount_code: z.string().nullable(),
  click_id: z.string().nullable(),
});

async function checkCommissions({ door, oracle }: World): Promise<void> {
  const body = await door.ask('GET', '/v1/affiliates/commissions?limit=100');
  const reported = z.array(Commission).parse(body.data);
  const wanted = standings(oracle).map(({ order, commission, ...one }) => ({
    ...(commission.manualMinor === null
      ? { order_id: order.reported[0]?.orderId ?? '', link_id: commission.link.id }
      : { order_id: null, link_id: null }),
    status: one.status,
    ...{
      amount: major(one.baseMinor, one.currency),
      commission: major(one.status === 'rejected' ? 0 : one.dueMinor, one.currency),
    },
    ...{ currency: one.currency, occurred_at: text(one.occurredAt) },
    ...{ discount_code: commission.code, click_id: commission.clickId },
  }));
  // No two are of one moment.
  const byTime = (a: { occurred_at: string }, b: { occurred_at: string }) => (a.occurred_at < b.occurred_at ? -1 : 1);
  expect(reported.sort(byTime), 'commissions').toEqual(wanted.sort(byTime));
}

const Ledger = z.object({
  summary: z.object({
    balances: z.array(z.object({ account: z.string(), currency: z.string(), balance_minor: z.number() })),
  }),
});

export async function checkLedger({ door }: World, wanted: Record<string, number>, asOfMs?: number): Promise<void> {
  const query = asOfMs === undefined ? '' : `&as_of=${text(asOfMs)}`;
  const { summary } = Ledger.parse(await door.ask('GET', `/v1/affiliates/ledger?limit=1${query}`));
  const balances = summary.balances.map((row) => [`${row.currency} ${row.account}`, row.balance_minor] as const);
  const reported = Object.fromEntries(balances.filter(([, minor]) => minor !== 0));
  expect(reported, `the ledger${query}`).toEqual(wanted);
}

const Analytics = z.object({
  summary: Totals.extend({
    active_creators: z.number(),
    by_currency: z.array(z.object({ currency: z.string(), revenue: z.number(), commissions: z.number() })),
  }),
  top_creators: z.array(z.object({ revenue: z.number(), conversions: z.number() })),
  trends: z.array(z.object({ date: z.string(), revenue: z.number(), clicks: z.number() })),
});

/** The first day of the bucket. */
function bucketOf(at: number, granularity: History['granularity']): string {
  if (granularity === 'day') return dayOf(at);
  if (granularity === 'month') return `${dayOf(at).slice(0, 7)}-01`;
  const isMonday = (day: number) => new Date(day).getUTCDay() === 1;
  let day = Math.floor(at / DAY_MS) * DAY_MS;
  while (!isMonday(day)) day -= DAY_MS;
  return dayOf(day);
}

async function checkAnalytics(world: World, { granularity }: History, rows: readonly Happening[]): Promise<void> {
  const { door, oracle } = world;
  const times = rows.map(({ at }) => at);
  const [first, last] = [Math.min(timeOf(0), ...times), Math.max(timeOf(0), ...times)];
  const query = `from=${dayOf(first)}&to=${dayOf(last)}&granularity=${granularity}`;
  const reported = Analytics.parse(await door.ask('GET', `/v1/analytics?${query}`));
  const money = moneyOf(rows, oracle.currency);
  const clicks = count(rows, 'clicks');
  const { active_creators, by_currency, ...totals } = reported.summary;
  const own = money[oracle.currency];
  expect(totals, 'analytics').toEqual({
    ...{ total_revenue: own?.revenue, total_commissions: own?.commission },
    ...{ total_clicks: clicks, total_conversions: count(rows, 'conversions') },
  });
  const others = by_currency.map(({ commissions, ...row }) => ({ ...row, commission: commissions }));
  const active = rows.filter((row) => (row.clicks ?? 0) + (row.conversions ?? 0) > 0);
  expect(shownMoney(others, ''), 'other currencies').toEqual(
    Object.fromEntries(Object.entries(money).filter(([currency]) => currency !== oracle.currency)),
  );
  expect(active_creators, 'active creators').toBe(new Set(active.map(({ link }) => link.creator)).size);
  const trends = Object.fromEntries(
    reported.trends.map(({ date, revenue, clicks: n }) => [date, { revenue, clicks: n }]),
  );
  const buckets = Map.groupBy(rows, ({ at }) => bucketOf(at, granularity));
  const wanted = [...buckets].map(([date, inside]) => {
    const revenue = moneyOf(inside, oracle.currency)[oracle.currency]?.revenue ?? 0;
    return [date, { revenue, clicks: count(inside, 'clicks') }] as const;
  });
  expect(withoutZeros(trends), 'trends').toEqual(withoutZeros(Object.fromEntries(wanted)));
}

const Creators = z.object({
  data: z.array(
    z.object({
      email: z.string(),
      performance: z.object({
        clicks: z.number(),
        conversions: z.number(),
        revenue: z.number(),
        commissions_earned: z.number(),
      }),
    }),
  ),
});
const Earned = z.object({
  total_earned: z.number(),
  by_currency: z.array(z.object({ currency: z.string(), total_earned: z.number() })),
});
type Earned = z.output<typeof Earned>;
const Roster = z.object({ data: z.array(Earned.extend({ creator_email: z.string() })) });

/** What was paid, without what was netted, by currency. */
function checkEarned(oracle: Oracle, creator: number, own: readonly Happening[], reported: Earned | undefined): void {
  const currencies = new Set([oracle.currency, ...own.map(({ currency }) => currency)]);
  for (const currency of currencies) {
    const paid = own.filter((row) => row.currency === currency).reduce((sum, row) => sum + (row.paid ?? 0), 0);
    const shown =
      currency === oracle.currency ? reported : reported?.by_currency.find((other) => other.currency === currency);
    const wanted = major(paid - nettedOf(oracle, creator, currency), currency);
    expect(shown?.total_earned ?? 0, `total_earned in ${currency}`).toBe(wanted);
  }
}

const Payouts = z.object({
  data: z.array(
    z.object({ id: z.string(), allocated_amount: z.number(), netted_amount: z.number(), unallocated: z.number() }),
  ),
});

async function checkPayouts({ door, oracle }: World): Promise<void> {
  const { data } = Payouts.parse(await door.ask('GET', '/v1/payouts?limit=100'));
  const reported = new Map(data.map(({ id, ...payout }) => [id, payout]));
  for (const { id, currency, allocatedMinor, nettedMinor, leftMinor } of oracle.payouts) {
    const [allocated_amount, netted_amount, unallocated] = [allocatedMinor, nettedMinor, leftMinor].map((minor) =>
      major(minor, currency),
    );
    expect(reported.get(id), 'a payout').toEqual({ allocated_amount, netted_amount, unallocated });
  }
}

async function checkCreators({ door, oracle, emails }: World, rows: readonly Happening[]): Promise<void> {
  const { data } = Creators.parse(await door.ask('GET', '/v1/creators?limit=100'));
  const roster = Roster.parse(await door.ask('GET', '/v1/roster?limit=100'));
  const reported = Object.fromEntries(data.map(({ email, performance }) => [email, performance]));
  const earned = Object.fromEntries(roster.data.map((entry) => [entry.creator_email, entry]));
  for (const [creator, email] of emails.entries()) {
    const own = rows.filter(({ link }) => link.creator === creator);
    const money = moneyOf(own, oracle.currency)[oracle.currency];
    expect(reported[email], 'a creator').toEqual({
      ...{ clicks: count(own, 'clicks'), conversions: count(own, 'conversions') },
      ...{ revenue: money?.revenue, commissions_earned: money?.commission },
    });
    checkEarned(oracle, creator, own, earned[email]);
  }
}

/** Every figure of the brand that the API has, against the oracle's. */
export async function checkFigures(world: World, history: History): Promise<void> {
  const rows = happenings(world.oracle);
  await checkPerformance(world, '', rows);
  const [a, b] = [timeOf(history.window.from), timeOf(history.window.to)];
  const [from, to] = [Math.min(a, b), Math.max(a, b)];
  if (history.window.isDays) {
    const until = Math.floor(to / DAY_MS) * DAY_MS + DAY_MS;
    const inside = within(rows, Math.floor(from / DAY_MS) * DAY_MS, until);
    await checkPerformance(world, `&date_from=${dayOf(from)}&date_to=${dayOf(to)}`, inside);
  } else {
    await checkPerformance(world, `&date_from=${text(from)}&date_to=${text(to)}`, within(rows, from, to + 1));
  }
  await checkAffiliates(world, rows);
  await checkCommissions(world);
  await checkAnalytics(world, history, rows);
  await checkPayouts(world);
  await checkCreators(world, rows);
}
