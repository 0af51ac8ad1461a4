import { z } from 'zod';
import { type EventFilter, type Grouping, listBreakdown } from '../src/analytics/figures/breakdown.ts';
import { listClicks } from '../src/analytics/figures/clicks.ts';
import { listPerformance, totalPerformance } from '../src/analytics/figures/performance.ts';
import { listReturnSums } from '../src/analytics/figures/returns.ts';
import { rawRows, SUMS, toPeriod } from '../src/analytics/figures/sums.ts';
import { listCreatorSums, listDays, listLinkFigures } from '../src/analytics/figures/totals.ts';
import type { ClickHouse } from '../src/kit/engines/clickhouse/open.ts';
import { query } from '../src/kit/engines/clickhouse/query.ts';
import { LARGEST, LARGEST_LINKS } from './figures-data.ts';

export const YEAR = { from: new Date('2025-01-01Z'), until: new Date('2026-01-01Z') };
export const QUARTER = { from: new Date('2025-10-03Z'), until: new Date('2026-01-01Z') };

export const linksOf = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: `lnk_0_${(i * 7) % LARGEST_LINKS}`, currency: 'USD' }));

/** A query, as the API runs it on its rollups and as one would run it on the raw events. */
interface Question {
  name: string;
  rollup: (clickhouse: ClickHouse) => Promise<unknown>;
  raw: (clickhouse: ClickHouse) => Promise<unknown>;
  /** raw ÷ rollup, at 10 and at 50 million events. */
  floors: [number, number] | null;
  /** Whether the latency must stay the same with ten times the data. */
  isFlat: boolean;
}

const Anything = z.record(z.string(), z.unknown());

/** The same fold of raw events; a brand's key prefix finds them without reading other brands' events. */
function rawly(group: string, more: string, key: string): (clickhouse: ClickHouse) => Promise<unknown> {
  const events = rawRows(`brand_id = '${LARGEST}' ${more}`);
  const sql = `SELECT ${key} AS key, currency, ${SUMS} FROM ${events} GROUP BY ${group}, currency`;
  return (clickhouse) => query(clickhouse, Anything, sql);
}

const during = ({ from, until }: { from: Date; until: Date }) =>
  `AND at >= '${from.toISOString().slice(0, 10)}' AND at < '${until.toISOString().slice(0, 10)}'`;
const among = (count: number) =>
  `AND link_id IN (${linksOf(count)
    .map(({ id }) => `'${id}'`)
    .join(', ')})`;

const performance1000 = (window: object) => (clickhouse: ClickHouse) =>
  Promise.all([
    listPerformance(clickhouse, LARGEST, window, { offset: 0, limit: 100 }),
    totalPerformance(clickhouse, LARGEST, window),
  ]);

/** The first page of a breakdown of 90 days, from the rollup. */
const breakdown =
  (by: Grouping, only: EventFilter = {}) =>
  (clickhouse: ClickHouse) =>
    listBreakdown(clickhouse, LARGEST, by, { ...QUARTER, only }, { sort: 'revenue', offset: 0, limit: 100 });

/** The same of the events: a window that begins a millisecond later is not of whole days. */
const eventsBroken =
  (by: Grouping, only: EventFilter = {}) =>
  (clickhouse: ClickHouse) =>
    listBreakdown(
      clickhouse,
      LARGEST,
      by,
      { from: new Date(QUARTER.from.getTime() + 1), until: QUARTER.until, only },
      { sort: 'revenue', offset: 0, limit: 100 },
    );

const brokenDown = (name: string, by: Grouping): Question => ({
  name: `breakdown_by_${name}_90_days`,
  rollup: breakdown(by),
  raw: eventsBroken(by),
  floors: null,
  isFlat: false,
});

const breakdownIn = (timeZone: string, by: Grouping) => {
  const period = toPeriod({ from: '2025-10-03', to: '2025-12-31' }, timeZone);
  return (clickhouse: ClickHouse) =>
    listBreakdown(
      clickhouse,
      LARGEST,
      by,
      { ...period, timeZone, only: {} },
      { sort: 'revenue', offset: 0, limit: 100 },
    );
};

/** Of days elsewhere: from hours where the zone's begin with those of UTC, beside a zone off the hour, from events. */
const brokenDownElsewhere = (by: Grouping & { of: string }): Question => ({
  name: `breakdown_by_${by.of}_90_days_in_sydney`,
  rollup: breakdownIn('Australia/Sydney', by),
  raw: breakdownIn('Asia/Kolkata', by),
  floors: null,
  isFlat: false,
});

const bareOf = (sql: string) => (clickhouse: ClickHouse) => query(clickhouse, Anything, sql);
/** Goods cost nothing. */
const NO_COSTS = { starts: [], groups: [], ratesPpm: [0] };

export const QUESTIONS: readonly Question[] = [
  brokenDown('country', { of: 'country' }),
  brokenDown('device', { of: 'device' }),
  brokenDown('referrer', { of: 'referrer' }),
  brokenDown('hour', { of: 'hour' }),
  brokenDown('creator', { of: 'creator', merged: new Map() }),
  brokenDown('link', { of: 'link' }),
  brokenDown('campaign', { of: 'groups', groups: [{ key: 'cmp_0', linkIds: linksOf(100).map(({ id }) => id) }] }),
  brokenDown('store', { of: 'store' }),
  brokenDown('source', { of: 'source' }),
  brokenDown('weekday', { of: 'weekday' }),
  brokenDown('day', { of: 'day' }),
  brokenDownElsewhere({ of: 'day' }),
  brokenDownElsewhere({ of: 'hour' }),
  brokenDownElsewhere({ of: 'weekday' }),
  brokenDown('click_kind', { of: 'kind' }),
  // The only dimension that has no rollup.
  brokenDown('product', { of: 'product' }),
  {
    name: 'returns_by_creator_90_days',
    rollup: (clickhouse) =>
      listReturnSums(
        clickhouse,
        LARGEST,
        { of: 'creator', merged: new Map() },
        { ...QUARTER, timeZone: 'UTC' },
        NO_COSTS,
      ),
    raw: bareOf(`SELECT creator_id, sum(orders), sum(sales), sum(refunds), sum(commission) FROM order_figures_v1
      WHERE brand_id = '${LARGEST}' ${during(QUARTER)} GROUP BY creator_id`),
    floors: null,
    isFlat: false,
  },
  {
    name: 'newest_100_clicks',
    rollup: (clickhouse) => listClicks(clickhouse, LARGEST, QUARTER, 100),
    raw: bareOf(`SELECT click_id, link_id, at FROM clicks_v1 WHERE brand_id = '${LARGEST}' ${during(QUARTER)}
      ORDER BY at DESC, click_id DESC LIMIT 100`),
    floors: null,
    isFlat: false,
  },
  {
    name: 'largest_brand_by_month',
    rollup: (clickhouse) => listDays(clickhouse, LARGEST, YEAR),
    raw: rawly('key', during(YEAR), 'toStartOfMonth(day)'),
    floors: [2, 8],
    isFlat: true,
  },
  {
    name: 'largest_brand_by_day_90_days',
    rollup: (clickhouse) => listDays(clickhouse, LARGEST, QUARTER),
    raw: rawly('key', during(QUARTER), 'day'),
    floors: null,
    isFlat: true,
  },
  {
    name: 'largest_brand_creators_90_days',
    rollup: (clickhouse) => listCreatorSums(clickhouse, LARGEST, QUARTER, new Map()),
    raw: rawly('key', during(QUARTER), 'creator_id'),
    floors: null,
    isFlat: false,
  },
  {
    name: 'performance_of_1000_assignments',
    rollup: performance1000({}),
    raw: rawly('key', '', 'link_id'),
    floors: null,
    isFlat: true,
  },
  {
    name: 'performance_of_1000_assignments_90_days',
    rollup: performance1000(QUARTER),
    raw: rawly('key', during(QUARTER), 'link_id'),
    floors: null,
    isFlat: false,
  },
  {
    name: 'lifetime_of_one_link',
    rollup: (clickhouse) => listLinkFigures(clickhouse, LARGEST, linksOf(1)),
    raw: rawly('key', among(1), 'link_id'),
    floors: [4, 10],
    isFlat: true,
  },
  {
    name: 'lifetime_of_100_links',
    rollup: (clickhouse) => listLinkFigures(clickhouse, LARGEST, linksOf(100)),
    raw: rawly('key', among(100), 'link_id'),
    floors: [4, 10],
    isFlat: true,
  },
];
