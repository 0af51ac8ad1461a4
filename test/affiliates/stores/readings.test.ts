import { afterAll, beforeAll, expect, it } from 'vitest';
import { recordReadings } from '../../../src/affiliates/orders/record.ts';
import type { OrderFacts } from '../../../src/affiliates/stores/formats/facts.ts';
import type { Reading } from '../../../src/affiliates/stores/formats/provider.ts';
import {
  type Assignment,
  asTest,
  balancesOf,
  daysAgo,
  makeAssignment,
  orderFacts,
} from '../../harness/affiliates/sales.ts';
import { inEveryOrder } from '../../harness/affiliates/store.ts';
import { makeBrand, startApp, type TestApp } from '../../harness/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const placedAt = daysAgo(60);
const minute = (count: number) => new Date(placedAt.getTime() + count * 60_000);

const order = (orderId: string, { code }: Assignment, more: Partial<OrderFacts> = {}): Reading => ({
  kind: 'order',
  facts: orderFacts(placedAt, { orderId, codes: [code], ...more }),
  notes: [],
});

/** One order as its store reports it four times. */
const story = (orderId: string, assignment: Assignment): readonly Reading[] => [
  order(orderId, assignment, { paidAt: null }),
  order(orderId, assignment, { updatedAt: minute(1), baseMinor: 9_000 }),
  {
    kind: 'refund',
    facts: {
      ...{ orderId, currency: 'USD', updatedAt: minute(2), hasAllRefunds: false },
      refunds: [{ refundId: 'r1', amountMinor: 1_000, at: minute(2) }],
    },
    notes: [],
  },
  order(orderId, assignment, { updatedAt: minute(3), baseMinor: 8_000 }),
];

const record = (brand: { id: string }, { source }: Assignment, readings: readonly Reading[]) =>
  asTest(app.context, brand, (work) => recordReadings(work, app.context.secrets, source, readings));

it('Reports of one order leave the same ledger in one transaction as in four, in every order', async () => {
  const apart = await makeBrand(app.context);
  const alone = await makeAssignment(app.context, apart);
  for (const reading of story('o', alone)) await record(apart, alone, [reading]);
  const expected = await balancesOf(app.context, apart);
  expect(expected).toMatchObject({ customers: 7_000, commission_pending: -700 });
  for (const readings of inEveryOrder([0, 1, 2, 3])) {
    const together = await makeBrand(app.context);
    const assignment = await makeAssignment(app.context, together);
    const reported = story('o', assignment);
    await record(
      together,
      assignment,
      readings.flatMap((i) => reported[i] ?? []),
    );
    expect(await balancesOf(app.context, together), readings.join()).toEqual(expected);
  }
});

it('Many orders and their later reports are recorded once, in one transaction', async () => {
  const brand = await makeBrand(app.context);
  const assignment = await makeAssignment(app.context, brand);
  const readings = Array.from({ length: 12 }, (_, i) => story(`o-${i}`, assignment)).flat();
  await record(brand, assignment, [...readings, ...readings]);
  const once = await balancesOf(app.context, brand);
  expect(once).toMatchObject({ customers: 12 * 7_000, commission_pending: -12 * 700 });
  await record(brand, assignment, [...readings, { kind: 'deletion', orderId: 'o-0', notes: [] }]);
  expect(await balancesOf(app.context, brand)).toMatchObject({ commission_pending: -11 * 700 });
});
