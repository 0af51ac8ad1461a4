import { expect, it } from 'vitest';
import { inSnapshot } from '../../src/affiliates/ledger/ledger.ts';
import { verifyRecords } from '../../src/affiliates/ledger/verify-ledger.ts';
import { recordReadings } from '../../src/affiliates/orders/record.ts';
import type { Reading } from '../../src/affiliates/stores/formats/provider.ts';
import { randomOf } from '../harness/affiliates/leaking-codes.ts';
import { asTest, daysAgo, makeAssignment, orderFacts } from '../harness/affiliates/sales.ts';
import { makeBrand, send, startApp } from '../harness/app.ts';
import { randomRuns, testSeed } from '../harness/kit/random-runs.ts';

const SUBSCRIPTIONS = randomRuns(600);
const RENEWALS = 3;
const AT_ONCE = 100;

it(`${SUBSCRIPTIONS * (RENEWALS + 1)} deliveries of subscriptions, shuffled, pay the creators who sold them, as in order`, async () => {
  const app = await startApp();
  const brand = await makeBrand(app.context);
  const key = await brand.key('brand');
  const sellers = [await makeAssignment(app.context, brand), await makeAssignment(app.context, brand, { rate: 20 })];
  for (const { linkId } of sellers) {
    const path = `${app.url}/v1/affiliates/links/${linkId}`;
    expect((await send(path, key, 'PATCH', { pays_renewals: true })).status).toBe(200);
  }
  const [ana, ben] = sellers;
  if (!ana || !ben) throw new Error('Two creators sell.');
  const random = randomOf(testSeed);
  const subscriptions = Array.from({ length: SUBSCRIPTIONS }, (_, place) => ({
    place,
    // Every third subscription was sold by nobody.
    seller: [ana, ben, null][place % 3] ?? null,
  }));
  const deliveries = subscriptions.flatMap(({ place, seller }) =>
    Array.from({ length: RENEWALS + 1 }, (_, number) => {
      const of = { subscriptionId: `s${place}`, customerEmail: `buyer${place}@mail.example` };
      const sold = { kind: 'first' as const, codes: seller ? [seller.code] : [] };
      const placed = daysAgo(40 - 10 * number);
      const facts = orderFacts(placed, { ...of, ...(number === 0 ? sold : { kind: 'renewal' }) });
      return { facts: { ...facts, orderId: `${place}-${number}` }, turn: random() };
    }),
  );
  const shuffled = deliveries.toSorted((a, b) => a.turn - b.turn);
  for (let from = 0; from < shuffled.length; from += AT_ONCE) {
    const readings = shuffled
      .slice(from, from + AT_ONCE)
      .map(({ facts }): Reading => ({ kind: 'order', facts, notes: [] }));
    await asTest(app.context, brand, (work) => recordReadings(work, app.context.secrets, ana.source, readings));
  }
  const { db } = app.context.postgres;
  const paid = await db
    .selectFrom('orders')
    .leftJoin('commissions', 'commissions.orderId', 'orders.id')
    .select(['orders.orderId', 'commissions.linkId', 'commissions.commissionMinor'])
    .where('orders.brandId', '=', brand.id)
    .execute();
  const wrong = paid.filter(({ orderId, linkId, commissionMinor }) => {
    const { seller } = subscriptions[Number(orderId.split('-')[0])] ?? {};
    const isRight = linkId === (seller?.linkId ?? null);
    return !isRight || (seller && commissionMinor !== (seller === ana ? 1_000 : 2_000));
  });
  expect([paid.length, wrong.slice(0, 5)]).toEqual([deliveries.length, []]);
  expect((await inSnapshot(db, (trx) => verifyRecords(trx, brand.id))).problems).toEqual([]);
});
