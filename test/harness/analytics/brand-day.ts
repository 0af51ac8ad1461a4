import { expect } from 'vitest';
import { commissionOf, type Figures, NOTHING } from '../../affiliates/oracle/figures.ts';
import type { Desk } from '../affiliates/affiliates.ts';
import type { Answer } from '../app.ts';

/** Every number that a step of a brand's day leaves behind; money in cents. */
export interface Expected {
  /** By assignment; a creator's are theirs whose name it begins with. */
  links: Record<string, Partial<Figures>>;
  days: Record<string, { revenue: number; clicks: number }>;
  /** By account, debits positive. */
  ledger: Record<string, number>;
  /** By order. */
  commissions: Record<string, { status: string; amount: number; commission: number }>;
  /** Paid out, by creator. */
  earned: Record<string, number>;
}

export interface Day {
  desk: Desk;
  /** Assignments by the names the steps know them by. */
  ids: Record<string, string>;
  /** Creators likewise. */
  emails: Record<string, string>;
}

/** The first day of the week and of the month of every day on which something happens. */
const BUCKETS: Readonly<Record<string, Record<'day' | 'week' | 'month', string>>> = {
  '2026-03-02': { day: '2026-03-02', week: '2026-03-02', month: '2026-03-01' },
  '2026-03-03': { day: '2026-03-03', week: '2026-03-02', month: '2026-03-01' },
  '2026-03-08': { day: '2026-03-08', week: '2026-03-02', month: '2026-03-01' },
  '2026-04-04': { day: '2026-04-04', week: '2026-03-30', month: '2026-04-01' },
  '2026-04-06': { day: '2026-04-06', week: '2026-04-06', month: '2026-04-01' },
};

type Body = Answer['body'];

async function read({ desk }: Day, path: string): Promise<Body> {
  const { status, body } = await desk.get(path);
  expect(status, `${path}: ${JSON.stringify(body)}`).toBe(200);
  return body;
}

const isAnything = (row: object) => Object.values(row).some((value) => value !== 0);

function sumOf(rows: readonly Figures[]): Figures {
  const sum = { ...NOTHING };
  for (const row of rows) {
    sum.clicks += row.clicks;
    sum.conversions += row.conversions;
    sum.revenue += row.revenue;
    sum.pending += row.pending;
    sum.approved += row.approved;
    sum.paid += row.paid;
    sum.adjustment += row.adjustment;
  }
  return sum;
}

const balances = ({ clicks, conversions, revenue, pending, approved, paid, adjustment }: Figures) => ({
  ...{ currency: 'USD', clicks, conversions, revenue_minor: revenue },
  ...{ commission_minor: { pending, approved, paid }, refund_adjustment_minor: adjustment },
});

const totals = (sum: Figures) => ({
  ...{ total_revenue: sum.revenue / 100, total_commissions: commissionOf(sum) / 100 },
  ...{ total_clicks: sum.clicks, total_conversions: sum.conversions },
});

async function checkLinks(day: Day, links: Record<string, Figures>): Promise<void> {
  const performance = await read(day, '/v1/affiliates/performance');
  const rows = Object.fromEntries(performance.data.map((row: Body) => [row.link_id, row]));
  const all = sumOf(Object.values(links));
  expect(performance.summary.by_currency, 'performance').toEqual(isAnything(all) ? [balances(all)] : []);
  for (const path of ['/v1/affiliates', '/v1/affiliates/links']) {
    const { data, pagination, summary } = await read(day, path);
    expect(pagination.total, path).toBe(Object.keys(links).length);
    if (summary) expect(summary, 'the summary').toEqual({ ...totals(all), by_currency: [] });
    const found = Object.fromEntries(data.map((row: Body) => [row.id, row]));
    for (const [name, link] of Object.entries(links)) {
      const id = day.ids[name] ?? '';
      const { clicks, conversions, revenue } = link;
      const lifetime = { clicks, conversions, revenue: revenue / 100, commission: commissionOf(link) / 100 };
      expect(found[id], `${path} ${name}`).toMatchObject({ ...lifetime, by_currency: [], currency: 'USD' });
      if (isAnything(link)) expect(rows[id], `performance of ${name}`).toMatchObject(balances(link));
      else expect(rows[id], `performance of ${name}`).toBeUndefined();
    }
  }
}

async function checkCreators(day: Day, links: Record<string, Figures>, earned: Expected['earned']): Promise<void> {
  const creators = await read(day, '/v1/creators');
  const roster = await read(day, '/v1/roster');
  for (const [name, email] of Object.entries(day.emails)) {
    const sum = sumOf(Object.entries(links).flatMap(([link, row]) => (link.startsWith(name) ? [row] : [])));
    const { clicks, conversions, revenue } = sum;
    const money = { revenue: revenue / 100, commissions_earned: commissionOf(sum) / 100, by_currency: [] };
    const creator = creators.data.find((one: Body) => one.email === email);
    expect(creator.performance, name).toEqual({ clicks, conversions, ...money });
    const entry = roster.data.find((one: Body) => one.creator_email === email);
    expect(entry.total_earned, `total_earned of ${name}`).toBe((earned[name] ?? 0) / 100);
    const own = await read(day, `/v1/affiliates/performance?creator_email=${encodeURIComponent(email)}`);
    expect(own.summary.by_currency, `performance of ${name}`).toEqual(isAnything(sum) ? [balances(sum)] : []);
  }
}

async function checkAnalytics(day: Day, links: Record<string, Figures>, days: Expected['days']): Promise<void> {
  const all = sumOf(Object.values(links));
  const ofLinks = Object.entries(links).flatMap(([link, row]) => (/link/i.test(link) ? [row.conversions] : []));
  const byClick = ofLinks.reduce((sum, conversions) => sum + conversions, 0);
  const rate = all.clicks === 0 ? 0 : Math.round((byClick / all.clicks) * 10_000) / 100;
  const active = Object.keys(day.emails).filter((name) =>
    Object.entries(links).some(([link, row]) => link.startsWith(name) && row.clicks + row.conversions > 0),
  );
  for (const granularity of ['day', 'week', 'month'] as const) {
    const path = `/v1/analytics?from=2026-03-01&to=2026-04-30&granularity=${granularity}`;
    const { period, summary, trends } = await read(day, path);
    expect(period).toEqual({ from: '2026-03-01', to: '2026-04-30' });
    expect(summary, granularity).toEqual({
      ...{ ...totals(all), conversion_rate: rate, active_creators: active.length },
      ...{ active_campaigns: 0, content_pieces_tracked: 0, by_currency: [] },
    });
    const wanted: Record<string, { revenue: number; clicks: number }> = {};
    for (const [date, { revenue, clicks }] of Object.entries(days)) {
      const bucket = BUCKETS[date]?.[granularity] ?? 'no bucket';
      const known = wanted[bucket] ?? { revenue: 0, clicks: 0 };
      wanted[bucket] = { revenue: known.revenue + revenue, clicks: known.clicks + clicks };
    }
    const reported = trends.filter(({ revenue, clicks }: Body) => revenue !== 0 || clicks !== 0);
    const shown = reported.map(({ date, revenue, clicks }: Body) => [
      date,
      { revenue: Math.round(revenue * 100), clicks },
    ]);
    expect(Object.fromEntries(shown), granularity).toEqual(wanted);
    expect(trends.length, granularity).toBe({ day: 61, week: 10, month: 2 }[granularity]);
  }
}

async function checkCommissions(day: Day, wanted: Expected['commissions']): Promise<void> {
  for (const path of ['/v1/commissions', '/v1/affiliates/commissions']) {
    const { data } = await read(day, path);
    const reported = data.map((row: Body) => [
      row.order_id,
      { status: row.status, amount: Math.round(row.amount * 100), commission: Math.round(row.commission * 100) },
    ]);
    expect(Object.fromEntries(reported), path).toEqual(wanted);
  }
}

async function checkLedger(day: Day, wanted: Expected['ledger']): Promise<void> {
  const { summary } = await read(day, '/v1/affiliates/ledger');
  const reported: [string, number][] = summary.balances.map((row: Body) => [row.account, row.balance_minor]);
  expect(Object.fromEntries(reported.filter(([, minor]) => minor !== 0)), 'the ledger').toEqual(wanted);
  expect(reported.reduce((sum, [, minor]) => sum + minor, 0)).toBe(0);
}

/** Asks every figure that the API has. */
export async function checkDay(day: Day, { links, days, ledger, commissions, earned }: Expected): Promise<void> {
  const whole = Object.fromEntries(Object.entries(links).map(([name, row]) => [name, { ...NOTHING, ...row }]));
  await checkLinks(day, whole);
  await checkCreators(day, whole, earned);
  await checkAnalytics(day, whole, days);
  await checkCommissions(day, commissions);
  await checkLedger(day, ledger);
}
