import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listWrongCommissions, listWrongPayouts } from '../../src/affiliates/ledger/mismatches.ts';
import type { Db } from '../../src/kit/engines/postgres/open.ts';
import { approved, makePayer, recorded } from '../harness/affiliates/paying.ts';
import { daysAgo, makeSale, refund } from '../harness/affiliates/sales.ts';
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

it('seals of many changed rows are those of each row by itself: what was found, and what was written', async () => {
  const owner = await makePayer(app);
  const sales = [1, 2, 3, 4].map((day) =>
    makeSale(app.context, owner.brand, { assignment: owner.ann, occurredAt: daysAgo(60 + day) }),
  );
  const ids = (await Promise.all(sales)).map(({ id }) => id);
  const notes = ['it was asked', 'it was asked', null, 'it was told'];
  /** Each is a statement about some of the rows: a text that is committed comes, stays beside a change, changes and goes. */
  const changes = [
    sql`update commissions set status_note = note from unnest(${ids}::text[], ${notes}::text[]) as given (id, note)
      where commissions.id = given.id`,
    sql`update commissions set status = 'approved', status_updated_at = now() where id = any(${ids})`,
    sql`update commissions set status_note = 'it was changed', synced_at = now() where id = any(${ids.slice(1)})`,
    sql`update commissions set synced_at = now() where id = any(${ids})`,
    sql`update commissions set status_note = null where id = ${ids[0]}`,
  ];
  const undone = new Error('It is only compared.');
  const sealed = async (isByRow: boolean) => {
    const seals: unknown[] = [];
    const run = app.context.postgres.db.transaction().execute(async (trx) => {
      if (isByRow) {
        await sql`drop trigger note_updated on commissions`.execute(trx);
        await sql`create trigger by_row after update on commissions for each row execute function note_written(id)`.execute(
          trx,
        );
      }
      for (const change of changes) await change.execute(trx);
      const { rows } = await sql<{ key: string[]; facts: Record<string, unknown> }>`
        select key, facts - 'status_updated_at' as facts, facts ->> 'status_note' like 'hmac:%' as is_committed,
          salt is not null as is_salted, found_hash is not distinct from sealed_digest(
            lag(facts) over (partition by key order by sealed_rows.id)) as goes_on,
          salt is not distinct from lag(salt) over (partition by key order by sealed_rows.id) as keeps_salt
        from sealed_rows where table_name = 'commissions' and key[1] = any(${ids}) order by key, sealed_rows.id`.execute(
        trx,
      );
      // Salts are drawn.
      const told = rows.map(({ facts, ...row }) => ({ ...row, facts: { ...facts, status_note: null } }));
      seals.push(...told);
      throw undone;
    });
    await run.catch((error: unknown) => {
      if (error !== undone) throw error;
    });
    return seals;
  };
  const together = await sealed(false);
  expect(together.length).toBeGreaterThan(4 * 3);
  expect(together).toEqual(await sealed(true));
});

it('the key of a sealed row does not change', async () => {
  const owner = await makePayer(app);
  const { id } = await makeSale(app.context, owner.brand, { assignment: owner.ann });
  const rename = sql`update commissions set id = id || '0' where id = ${id}`.execute(app.context.postgres.db);
  await expect(rename).rejects.toThrow('The key of a row of commissions does not change.');
});
