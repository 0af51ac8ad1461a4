import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRowCount, sumUpRowCounts } from '../../../src/kit/engines/postgres/row-counts.ts';
import { openSlowCounts, SLOW_MS } from '../../../src/kit/engines/postgres/slow-counts.ts';
import { makeSeller } from '../../harness/affiliates/ordering.ts';
import { daysAgo, makeSale } from '../../harness/affiliates/sales.ts';
import { meanwhile, send, startApp, type TestApp, until } from '../../harness/app.ts';

const WRITERS = [0, 1, 2, 3];

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

describe('the total of a list without filters', () => {
  it('equals the rows of every snapshot while rows are inserted, deleted and rolled back in parallel and counts are summed up', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    const { db } = app.context.postgres;
    for (const n of [1, 2]) {
      await makeSale(app.context, brand, { assignment, occurredAt: daysAgo(n), orderId: `own${n}` });
    }
    const put = (id: string) => sql`
      insert into orders select copy.* from orders, jsonb_populate_record(orders,
        jsonb_build_object('id', ${`${brand.id}-${id}`}::text, 'order_id', ${id}::text, 'order_number', null)) as copy
      where orders.brand_id = ${brand.id} and orders.order_id = 'own1'`;
    const compare = () =>
      db
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute(async (trx) => {
          const { rows } = await sql<{ count: number }>`
            select count(*) from orders where brand_id = ${brand.id}`.execute(trx);
          expect(await readRowCount(trx, brand.id, 'orders')).toBe(rows[0]?.count);
        });
    const rollBack = async (id: string) =>
      await db.transaction().execute(async (trx) => {
        await put(id).execute(trx);
        throw new Error('rolled back');
      });
    const write = async (writer: number) => {
      for (let n = 0; n < 60; n += 1) {
        const id = `${writer}-${n}`;
        if (n % 5 === 4) await expect(rollBack(id)).rejects.toThrow('rolled back');
        else await put(id).execute(db);
        if (n % 3 === 0) {
          const from = `${brand.id}-${writer}-`;
          await sql`delete from orders where brand_id = ${brand.id} and id in (${`${from}${n}`}, ${`${from}${n - 2}`})`.execute(
            db,
          );
        }
      }
    };
    await meanwhile(
      2,
      async () => {
        await sumUpRowCounts(db);
        await compare();
      },
      async () => {
        await Promise.all(WRITERS.map(write));
      },
    );
    await sumUpRowCounts(db);
    const { body } = await send(`${app.url}/v1/orders?limit=1`, key, 'GET');
    const narrowed = await send(`${app.url}/v1/orders?limit=1&currency=USD`, key, 'GET');
    expect(body.pagination.total).toBeGreaterThan(60);
    expect(body.pagination.total).toBe(narrowed.body.pagination.total);
    const { rows } = await sql<{ count: number }>`
      select count(*) from row_counts where brand_id = ${brand.id} and table_name = 'orders'`.execute(db);
    expect(rows[0]?.count).toBeLessThanOrEqual(100);
  });

  it('counts each report of an order once, however often it is repeated, and every change in the audit log', async () => {
    const { key } = await makeSeller(app);
    const orders = Array.from({ length: 20 }, (_, n) => ({
      ...{ source: 'shop', order_id: String(n), amount: 10, currency: 'USD', codes: [] },
      ...{ placed_at: daysAgo(3).toISOString(), paid_at: daysAgo(3).toISOString() },
    }));
    for (const some of [orders, orders, orders.slice(5)]) {
      expect((await send(`${app.url}/v1/orders/batch`, key, 'POST', { orders: some })).status).toBe(200);
    }
    for (const [list, total] of [
      ['orders', 20],
      ['affiliates/commissions', 0],
      ['past-commissions', 0],
      ['customers', 0],
    ] as const) {
      const { body } = await send(`${app.url}/v1/${list}?limit=1`, key, 'GET');
      expect([list, body.pagination.total]).toEqual([list, total]);
    }
    const audit = await send(`${app.url}/v1/audit-log?limit=100`, key, 'GET');
    expect(audit.body.data.length).toBeGreaterThan(0);
    expect(audit.body.pagination.total).toBe(audit.body.data.length);
  });
});

describe('a count that is slow', () => {
  it('is shared by those who ask meanwhile and soon after, and one that is fast is made anew for each', async () => {
    const read = openSlowCounts<number>();
    let scans = 0;
    const fast = async () => (scans += 1);
    expect([await read('fast', fast), await read('fast', fast)]).toEqual([1, 2]);
    const scan = Promise.withResolvers<number>();
    const slow = async () => {
      scans += 1;
      return await scan.promise;
    };
    const from = performance.now();
    const first = read('slow', slow);
    await until('the count to be slow', () => performance.now() - from > SLOW_MS);
    const shared = [first, read('slow', slow), read('slow', slow)];
    scan.resolve(scans);
    expect(await Promise.all(shared)).toEqual([3, 3, 3]);
    expect(await read('slow', slow)).toBe(3);
    expect(await read('other', fast)).toBe(4);
  });

  it('that fails is made anew', async () => {
    const read = openSlowCounts<number>();
    await expect(read('key', () => Promise.reject(new Error('lost')))).rejects.toThrow('lost');
    expect(await read('key', () => Promise.resolve(1))).toBe(1);
  });
});
