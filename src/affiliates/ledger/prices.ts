import type { Db } from '../../kit/engines/postgres/open.ts';
import { listParts } from '../commissions/parts.ts';
import { loadCommissionPricing } from '../orders/decision-facts.ts';
import { findOrder } from '../orders/orders.ts';
import { toRatePpm } from '../orders/pricing.ts';
import { recompute, toSnapshot } from '../orders/recompute.ts';
import { listRefunds } from '../orders/refunds.ts';

const BATCH = 500;

async function listPricedCommissions(db: Db, brandId: string, after: string) {
  return await db
    .selectFrom('commissions')
    .innerJoin('orders', 'orders.id', 'commissions.orderId')
    .selectAll('commissions')
    .select(['orders.integrationId', 'orders.orderId as storeOrderId'])
    .select((eb) => [
      eb
        .selectFrom('commissionAdjustments as back')
        .whereRef('back.commissionId', '=', 'commissions.id')
        .select(({ fn }) => fn.sum<number | null>('back.amountMinor').as('minor'))
        .as('takenBackMinor'),
    ])
    .where('commissions.brandId', '=', brandId)
    .where('commissions.decidedFacts', 'is not', null)
    .where('commissions.id', '>', after)
    .orderBy('commissions.id')
    .limit(BATCH)
    .execute();
}

type PricedCommission = Awaited<ReturnType<typeof listPricedCommissions>>[number];

async function findPriceProblem(db: Db, row: PricedCommission): Promise<string | undefined> {
  const { brandId, integrationId, storeOrderId: orderId } = row;
  const order = await findOrder(db, { brandId, integrationId, orderId });
  const pricing = order && (await loadCommissionPricing(db, order, row));
  if (!order || !pricing) return 'its terms are gone';
  const refunds = await listRefunds(db, order, order.currency);
  const state = { ...row, ratePpm: row.commissionRatePpm, pricing };
  const { columns, adjustments, price } = recompute(toSnapshot(order), refunds, state, []);
  if (columns.commissionMinor !== row.commissionMinor) {
    return `it is ${row.commissionMinor}, by its terms ${columns.commissionMinor}`;
  }
  const takenBackMinor = adjustments.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
  if (takenBackMinor !== (row.takenBackMinor ?? 0)) {
    return `${row.takenBackMinor ?? 0} is taken back, by its terms ${takenBackMinor}`;
  }
  if (!price) return undefined;
  const print = (parts: readonly { rule: string; commissionMinor: number }[]) =>
    parts
      .map(({ rule, commissionMinor }) => `${rule} ${commissionMinor}`)
      .toSorted()
      .join(', ');
  const [storedParts, computedParts] = [
    print(await listParts(db, row)),
    print(price.parts.map((part) => ({ ...part, rule: part.rule === null ? 'base' : String(part.rule) }))),
  ];
  if (storedParts !== computedParts) return `its parts are ${storedParts}, by its terms ${computedParts}`;
  const ratePpm = toRatePpm(price);
  return ratePpm === row.commissionRatePpm
    ? undefined
    : `its rate is ${row.commissionRatePpm}, by its terms ${ratePpm}`;
}

/** Lists commissions that their terms, facts and lines do not give again. */
export async function listWrongPrices(db: Db, brandId: string): Promise<string[]> {
  const problems: string[] = [];
  for (let after = ''; ; ) {
    const rows = await listPricedCommissions(db, brandId, after);
    for (const row of rows) {
      const problem = await findPriceProblem(db, row);
      if (problem !== undefined) problems.push(`commission ${row.id}: ${problem}`);
    }
    const last = rows.at(-1);
    if (!last || rows.length < BATCH) return problems;
    after = last.id;
  }
}
