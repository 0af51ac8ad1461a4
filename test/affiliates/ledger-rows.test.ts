import { afterAll, beforeAll, expect, it } from 'vitest';
import { listWrongCommissions, listWrongPayouts } from '../../src/affiliates/ledger/mismatches.ts';
import type { Db } from '../../src/kit/engines/postgres/open.ts';
import { approved, makePayer, recorded } from '../harness/affiliates/paying.ts';
import { makeSale, refund } from '../harness/affiliates/sales.ts';
import { startApp, type TestApp } from '../harness/app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const edits: [string, (db: Db, id: string) => Promise<unknown>, RegExp][] = [
  [
    'a commission set to approved',
    (db, id) => db.updateTable('commissions').set({ status: 'approved' }).where('id', '=', id).execute(),
    /^commission com_\w+ is approved with 1000 of 10000, 0 refunded; the ledger says pending 1000, approved 0, paid 0/,
  ],
  [
    'a commission made ten times as large',
    (db, id) => db.updateTable('commissions').set({ commissionMinor: 10_000 }).where('id', '=', id).execute(),
    /^commission com_\w+ is pending with 10000/,
  ],
  [
    'a commission moved to the refused',
    (db, id) => db.updateTable('commissions').set({ status: 'rejected' }).where('id', '=', id).execute(),
    /^commission com_\w+ is rejected/,
  ],
];

it.each(edits)('ledger verify finds %s changed behind its back', async (_what, edit, complaint) => {
  const owner = await makePayer(app);
  const { db } = app.context.postgres;
  const sale = await makeSale(app.context, owner.brand, { assignment: owner.ann });
  expect(await listWrongCommissions(db, owner.brand.id)).toEqual([]);
  await edit(db, sale.id);
  expect(await listWrongCommissions(db, owner.brand.id)).toEqual([expect.stringMatching(complaint)]);
});

it('ledger verify finds an increased commission of an unpaid order', async () => {
  const owner = await makePayer(app);
  const { db } = app.context.postgres;
  const { id } = await makeSale(app.context, owner.brand, { assignment: owner.ann, paidAt: null });
  expect(await listWrongCommissions(db, owner.brand.id)).toEqual([]);
  await db.updateTable('commissions').set({ commissionMinor: 10_000 }).where('id', '=', id).execute();
  expect(await listWrongCommissions(db, owner.brand.id)).toHaveLength(1);
});

it('ledger verify finds a payout with a changed amount, remainder or allocation', async () => {
  const owner = await makePayer(app);
  const { db } = app.context.postgres;
  const sale = await approved(owner, { amountMinor: 100_000 });
  const { id } = await recorded(owner, { method: 'wallet', amount: 110 });
  await refund(app.context, sale, 20_000);
  await recorded(owner, { method: 'wallet', amount: 5, commission_ids: [] });
  const problems = async () => [
    ...(await listWrongPayouts(db, owner.brand.id)),
    ...(await listWrongCommissions(db, owner.brand.id)),
  ];
  expect(await problems()).toEqual([]);
  const payout = db.updateTable('payouts').where('id', '=', id);
  await payout.set({ amountMinor: 12_000 }).execute();
  expect(await problems()).toEqual([
    expect.stringMatching(/^payout pay_\w+ has paid 12000, .*says 11000, 10000, 0, 1000$/),
  ]);
  await payout.set({ amountMinor: 11_000, unallocatedMinor: 900 }).execute();
  expect(await problems()).toHaveLength(1);
  await payout.set({ unallocatedMinor: 1_000 }).execute();
  await db.updateTable('payoutAllocations').set({ amountMinor: 1 }).where('payoutId', '=', id).execute();
  expect(await problems()).toHaveLength(2);
});
