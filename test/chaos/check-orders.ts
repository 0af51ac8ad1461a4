import { sql } from 'kysely';
import { z } from 'zod';
import { verifyLedger } from '../../src/affiliates/ledger/verify-ledger.ts';
import { PerformanceList } from '../../src/analytics/performance/performance.shapes.ts';
import type { Context } from '../../src/kit/operation/context.ts';
import { wrong } from './check-clicks.ts';
import type { OrderTally } from './orders.ts';
import type { Assignment, Brand, World } from './world.ts';

const Row = z.object({ orderId: z.string(), rows: z.number(), commissions: z.number() });

export interface OrdersFound {
  orders: number;
  commissions: number;
  /** Of all brands' ledgers. */
  entries: number;
  differences: string[];
}

async function checkRows({ postgres }: Context, { taken }: OrderTally): Promise<Omit<OrdersFound, 'entries'>> {
  const { rows } = await sql`
    select orders.order_id, count(distinct orders.id)::int as rows, count(commissions.id)::int as commissions
    from orders left join commissions on commissions.order_id = orders.id group by orders.order_id`.execute(
    postgres.db,
  );
  const stored = z.array(Row).parse(rows);
  const found = new Map(stored.map((row) => [row.orderId, row]));
  const reported = new Map(taken.map((order) => [order.id, order]));
  const commissionsOf = (id: string) => (reported.get(id)?.winner ? 1 : 0);
  const ids = (some: readonly { orderId: string }[]) => some.map(({ orderId }) => orderId);
  return {
    orders: stored.length,
    commissions: stored.reduce((sum, { commissions }) => sum + commissions, 0),
    differences: [
      ...wrong(
        'acknowledged orders are not stored',
        [...reported.keys()].filter((id) => !found.has(id)),
      ),
      ...wrong('orders are stored more than once', ids(stored.filter((row) => row.rows > 1))),
      ...wrong('orders nobody placed', ids(stored.filter(({ orderId }) => !reported.has(orderId)))),
      ...wrong(
        'orders have another number of commissions than they should',
        ids(stored.filter(({ orderId, commissions }) => commissions !== commissionsOf(orderId))),
      ),
    ],
  };
}

type Figures = Pick<z.output<typeof PerformanceList>['data'][number], 'clicks' | 'conversions' | 'revenue_minor'> & {
  commission_minor: { pending: number };
};

const say = ({ clicks, conversions, revenue_minor, commission_minor }: Figures) =>
  `${clicks} clicks, ${conversions} conversions, revenue ${revenue_minor}, pending ${commission_minor.pending}`;

const NOTHING: Figures = { clicks: 0, conversions: 0, revenue_minor: 0, commission_minor: { pending: 0 } };

const expectedOf = (assignment: Assignment, counted: ReadonlyMap<string, number>): Figures => ({
  clicks: counted.get(assignment.id) ?? 0,
  conversions: assignment.conversions,
  revenue_minor: assignment.revenueMinor,
  commission_minor: { pending: assignment.pendingMinor },
});

/** What the API says of the brand's assignments, against the load's own tally. */
async function checkPerformance(
  { desk, links, codes }: Brand,
  counted: ReadonlyMap<string, number>,
): Promise<string[]> {
  const { status, body } = await desk.get('/v1/affiliates/performance?limit=100');
  if (status !== 200) return [`performance was answered ${status}`];
  const { data, summary } = PerformanceList.parse(body);
  const rows = new Map(data.map((row) => [row.link_id, say(row)]));
  const expected = [...links, ...codes].map((one) => ({ id: one.id, figures: expectedOf(one, counted) }));
  const sum = (read: (figures: Figures) => number) => expected.reduce((all, { figures }) => all + read(figures), 0);
  const total = say({
    clicks: sum(({ clicks }) => clicks),
    conversions: sum(({ conversions }) => conversions),
    revenue_minor: sum(({ revenue_minor }) => revenue_minor),
    commission_minor: { pending: sum(({ commission_minor }) => commission_minor.pending) },
  });
  const totals = summary.by_currency.map((row) => `${row.currency} ${say(row)}`).join('; ');
  return [
    ...expected.flatMap(({ id, figures }) => {
      // A link that brought nothing has no row.
      const row = rows.get(id) ?? say(NOTHING);
      return row === say(figures) ? [] : [`${id} has ${row} instead of ${say(figures)}`];
    }),
    ...(totals === `USD ${total}` ? [] : [`the brand's summary is ${totals} instead of USD ${total}`]),
  ];
}

/**
 * Every order that was acknowledged is there once with the commission it should have; ledgers verify, ClickHouse has
 * what they say, and the API's figures are the tally's.
 */
export async function checkOrders(
  context: Context,
  { brands }: World,
  tally: OrderTally,
  counted: ReadonlyMap<string, number>,
): Promise<OrdersFound> {
  const found: OrdersFound = { ...(await checkRows(context, tally)), entries: 0 };
  for (const brand of brands) {
    const { entries, problems } = await verifyLedger(context, brand.id);
    found.entries += entries;
    found.differences.push(...problems.map((problem) => `ledger of ${brand.id}: ${problem}`));
    found.differences.push(...(await checkPerformance(brand, counted)));
  }
  return found;
}
