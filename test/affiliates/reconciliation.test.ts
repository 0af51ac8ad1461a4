import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { removeReconciled } from '../../src/affiliates/reconciliations/reconciliations.jobs.ts';
import { sweepStores } from '../../src/affiliates/stores/sweeps/sweeps.jobs.ts';
import { removeEndedFiles } from '../../src/platform/jobs/turns.ts';
import { makeSeller } from '../harness/affiliates/ordering.ts';
import { differencesOf, reconcileFile, seedOrders } from '../harness/affiliates/reconciling.ts';
import { daysAgo, makeAssignment, makeSale } from '../harness/affiliates/sales.ts';
import { gmt, openShop } from '../harness/affiliates/shop.ts';
import { shopifyOrder } from '../harness/affiliates/shopify-order.ts';
import { scheduleSweep } from '../harness/affiliates/store.ts';
import { wooOrder } from '../harness/affiliates/woo-order.ts';
import { jobOf, runJobs } from '../harness/analytics/exporting.ts';
import { makeBrand, send, startApp, type TestApp } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { fixture } from '../harness/platform/importing.ts';
import { makeWorkbook } from '../platform/imports-workbook.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-reconciling-'));
const clock = { at: Date.now(), now: () => new Date(clock.at) };
let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  // Turns are taken of all jobs there are.
  database = await makeDatabase('reconciling');
  const env = { ROLLCALL_DIR: folder, EXPORT_FILE_ROWS: '70' };
  app = await startApp({ urls: { postgres: database.url }, env, clock });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

const first = daysAgo(50);
const filesOnDisk = () =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;

async function run(key: string, id: string) {
  await runJobs(app);
  return await differencesOf(app, key, id);
}

const kept = async () =>
  (await app.context.postgres.db.selectFrom('reconciledOrders').select('orderId').execute()).length;

describe('A comparison with the export of a store', () => {
  it('finds every seeded difference and no other, whatever other stores and brands have under the same ids', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    const twin = await makeAssignment(app.context, brand);
    const other = await makeSeller(app);
    const seeded = await seedOrders(app, assignment, { orders: 300, first });
    await seedOrders(app, twin, { orders: 30, first, seed: 2 });
    await seedOrders(app, other.assignment, { orders: 30, first, seed: 3 });

    const started = await reconcileFile(app, key, seeded.csv, { integration_id: assignment.source.id });
    expect(started.status).toBe(202);
    expect(started.body.data).toMatchObject({
      ...{ kind: 'reconciliation', status: 'queued', result: null },
      request: {
        file: 'orders_export.csv',
        columns: { order_id: 'Id', amount: 'Subtotal', refunded: 'Refunded Amount' },
      },
      files: [{ number: 1, name: 'orders_export.csv' }],
    });
    const { job, rows, found } = await run(key, started.body.data.id);
    expect(found).toEqual(seeded.expected);
    expect(job.result).toMatchObject({ ...seeded.counts, plan_id: expect.stringMatching(/^pln_/) });
    const inResult = job.result.differences.map((one: Record<string, string>) => `${one.finding} ${one.order_id}`);
    expect(inResult.toSorted()).toEqual(seeded.expected);
    expect(job).toMatchObject({ rows: job.total_rows, progress: 1 });
    // It took several turns, with a file each.
    expect(job.files.length).toBeGreaterThan(3);
    expect(rows.find(({ finding }) => finding === 'refunded_but_paid')).toMatchObject({
      ...{ currency_here: 'USD', currency_there: 'USD', refunded_here: '0.00', commission_status: 'pending' },
      creator_email: assignment.email,
    });
    expect((await send(`${app.url}/v1/jobs/${job.id}`, other.key, 'GET')).status).toBe(404);

    expect(await kept()).toBeGreaterThan(200);
    await removeReconciled.run(app.context);
    expect(await kept()).toBe(0);
  });

  it('recognizes an export of WooCommerce with other separators, and takes named columns', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    for (const orderId of ['11', '12', '13']) {
      await makeSale(app.context, brand, { assignment, orderId, amountMinor: 123_450 });
    }
    const woo = [
      'order_id;status;order_currency;order_total;shipping_total;tax_total;fee_total',
      '11;completed;USD;"1.529,05";50;244,55;0',
      '12;wc-refunded;USD;1529.05;50;244.55;0',
      '13;cancelled;USD;1500;50;244.55;0',
      '14;completed;USD;?;50;244.55;0',
    ].join('\r\n');
    const { body } = await reconcileFile(app, key, woo);
    const { job, found } = await run(key, body.data.id);
    expect(body.data.request.columns).toEqual({
      ...{ order_id: 'order_id', currency: 'order_currency', total: 'order_total', shipping: 'shipping_total' },
      ...{ taxes: 'tax_total', fees: 'fee_total', status: 'status' },
    });
    expect(found).toEqual(['amount 13', 'cancelled_but_paid 13', 'refunded_but_paid 12', 'unread 14']);
    expect(job.result).toMatchObject({ matched: 1, unread: 1 });

    const own = 'Bestellung,Ware,Farbe\n11,1234.50,rot\n12,1234.50,rot\n13,1234.50,rot\n';
    const columns = JSON.stringify({ order_id: 'Bestellung', amount: 'Ware' });
    const named = await reconcileFile(app, key, own, { columns });
    const { result } = (await run(key, named.body.data.id)).job;
    expect(result).toMatchObject({ matched: 3, amount: 0, not_compared: ['Farbe'] });
  });

  it('takes a column that is called as the answer calls it, such as `amount`', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    for (const orderId of ['15', '16']) {
      await makeSale(app.context, brand, { assignment, orderId, amountMinor: 123_450 });
    }
    const { body } = await reconcileFile(app, key, 'Order_ID,Amount,Refunded\n15,1234.50,0\n16,1000.00,0\n');
    expect(body.data.request.columns).toEqual({ order_id: 'Order_ID', amount: 'Amount', refunded: 'Refunded' });
    expect((await run(key, body.data.id)).found).toEqual(['amount 16']);
  });

  it('meets orders by their numbers where a file has no ids, or a spreadsheet rounded them', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    const sell = (orderId: string, orderNumber: string, amountMinor: number) =>
      makeSale(app.context, brand, { assignment, orderId, orderNumber, amountMinor });
    await sell('5840850000001', '#1001', 10_000);
    await sell('5840850000002', '#1002', 20_000);
    await sell('5840850000003', '#1003', 30_000);
    const named = await reconcileFile(app, key, fixture('20-reconcile-names-only.csv'));
    expect((await run(key, named.body.data.id)).job.result).toMatchObject({ matched: 2, missing_here: 0 });
    const rounded = await reconcileFile(app, key, fixture('21-reconcile-excel-ids.csv'));
    const { job, found } = await run(key, rounded.body.data.id);
    expect([job.result.matched, found]).toEqual([3, []]);
    const decimals = 'Id,Amount,Currency\n5840850000001.0,100.00,USD\n5840850000002.0,200.00,USD\n';
    expect((await run(key, (await reconcileFile(app, key, decimals)).body.data.id)).job.result.matched).toBe(2);
    await sell('5840850000004', '1002', 20_000);
    const twice = await reconcileFile(app, key, fixture('20-reconcile-names-only.csv'));
    expect((await run(key, twice.body.data.id)).found).toContain('ambiguous 1002');
  });

  it('reads a file in any encoding, and a workbook', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    for (const orderId of ['31', '32'])
      await makeSale(app.context, brand, { assignment, orderId, amountMinor: 123_450 });
    const rows = [
      ['Bestell-ID', 'Währung', 'Zwischensumme', 'Status'],
      ['31', 'USD', '1.234,50', 'storniert'],
      ['32', 'USD', '1.234,50', 'paid'],
    ];
    const mapping = JSON.stringify({ statuses: { storniert: 'left_out' } });
    const wide = Buffer.from(`\ufeff${rows.map((row) => row.join('\t')).join('\r\n')}`, 'utf16le');
    const latin = Buffer.from(rows.map((row) => row.join(';')).join('\r\n'), 'latin1');
    for (const bytes of [wide, latin, makeWorkbook({ Orders: rows })]) {
      const { status, body } = await reconcileFile(app, key, new Uint8Array(bytes), { mapping });
      expect(status).toBe(202);
      expect((await run(key, body.data.id)).found).toEqual(['cancelled_but_paid 31']);
    }
  });

  it('is 422 with questions where a file leaves something open, and a mapping answers them', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    for (const orderId of ['41', '42'])
      await makeSale(app.context, brand, { assignment, orderId, amountMinor: 123_400 });
    const csv = 'Id;Currency;Subtotal;Status\n41;USD;1.234;Wartet\n42;USD;1.234;paid\n';
    const open = await reconcileFile(app, key, csv);
    expect([open.status, open.body.details.map(({ field }: { field: string }) => field)]).toEqual([
      422,
      ['mapping', 'mapping'],
    ]);
    const [decimal, status] = open.body.questions;
    expect([decimal.id, status.id]).toEqual(['decimal_sign', 'status_meaning:wartet']);
    const mapping = JSON.stringify({ ...decimal.options[1].mapping, ...status.options[0].mapping, unit: 'major' });
    const { body } = await reconcileFile(app, key, csv, { mapping });
    expect((await run(key, body.data.id)).job.result).toMatchObject({ matched: 2, amount: 0 });
  });

  it('takes the tax out of prices that include it', async () => {
    const { brand, assignment, key } = await makeSeller(app);
    for (const orderId of ['21', '22', '23', '24']) {
      await makeSale(app.context, brand, { assignment, orderId, amountMinor: 10_000 });
    }
    const csv = [
      'Id,Currency,Subtotal,Shipping,Taxes,Total',
      '21,USD,119.00,0.00,19.00,119.00',
      '22,USD,119.00,5.95,19.95,124.95',
      '23,USD,120.00,5.95,19.95,125.95',
      // A tip is in the total alone.
      '24,USD,100.00,5.95,19.95,130.90',
    ].join('\n');
    const { body } = await reconcileFile(app, key, csv);
    const { found } = await run(key, body.data.id);
    expect(found).toEqual(['amount 23']);
  });

  it('is 422 without a column for ids or amounts, for unknown columns, stores and periods, and keeps no file', async () => {
    const { assignment, key } = await makeSeller(app);
    const stranger = await makeSeller(app);
    const before = filesOnDisk();
    const right = 'Id,Subtotal\n1,1.00\n';
    const bad: [string, Record<string, string>, string][] = [
      ['Customer,Subtotal\n#1,1.00\n', {}, 'columns'],
      ['Id,Note\n1,x\n', {}, 'columns'],
      [right, { columns: '{"amount": "Nothing"}' }, 'columns'],
      [right, { columns: 'amount' }, 'columns'],
      [right, { integration_id: stranger.assignment.source.id }, 'integration_id'],
      [right, { from: '2026-03-02', to: '2026-03-01' }, 'from'],
      ['nothing', {}, 'file'],
      ['Id,Subtotal\n', {}, 'file'],
      ['Id,Subtotal', {}, 'file'],
    ];
    for (const [csv, fields, name] of bad) {
      const { status, body } = await reconcileFile(app, key, csv, fields);
      expect([csv, status, body.details?.[0]?.field]).toEqual([csv, 422, name]);
    }
    const period = { integration_id: assignment.source.id, from: '2026-01-01' };
    await app.context.postgres.db
      .updateTable('integrations')
      .set({ status: 'disconnected', disconnectedAt: clock.now() })
      .where('id', '=', assignment.source.id)
      .execute();
    const url = `${app.url}/v1/affiliates/reconcile`;
    expect((await send(url, key, 'POST', period)).body.details).toMatchObject([{ field: 'integration_id' }]);
    expect((await send(url, key, 'POST', {})).body.details).toMatchObject([{ field: 'integration_id' }]);
    expect(filesOnDisk()).toBe(before);
  });

  it('loses its file and its orders when it is cancelled', async () => {
    const { assignment, key } = await makeSeller(app);
    const { csv } = await seedOrders(app, assignment, { orders: 100, first });
    const { body } = await reconcileFile(app, key, csv);
    await runJobs(app, 1);
    expect(await kept()).toBeGreaterThan(0);
    expect((await send(`${app.url}/v1/jobs/${body.data.id}`, key, 'DELETE')).status).toBe(200);
    expect(await runJobs(app)).toBe(0);
    await removeEndedFiles(app.context);
    await removeReconciled.run(app.context);
    expect(await kept()).toBe(0);
    expect(readdirSync(folder, { recursive: true }).filter((name) => String(name).includes(body.data.id))).toEqual([]);
    expect(await jobOf(app, key, body.data.id)).toMatchObject({ status: 'cancelled', files: [] });
  });
});

describe('A comparison with the list of a store', () => {
  it('finds what is missing and refunded, and its plan has the store read again, after which all match', async () => {
    const shop = await openShop(app, 'generic');
    const key = await shop.brand.key('brand');
    shop.store.access.now = clock.now;
    // Those of other tests cannot be called.
    await app.context.postgres.db.updateTable('integrations').set({ sweepAt: null }).execute();
    const put = (id: number, days: number, more: object = {}) => {
      const at = daysAgo(days, clock.now()).toISOString();
      const order = { order_id: String(id), currency: 'USD', amount: '50.00', codes: [shop.assignment.code] };
      shop.store.orders.set(String(id), { ...order, placed_at: at, paid_at: at, updated_at: at, ...more });
    };
    for (let id = 1; id <= 60; id += 1) put(id, 30 - id / 4);
    put(99, 1);
    const sweep = async () => {
      await scheduleSweep(app.context, shop.id, clock.now());
      await sweepStores.run(app.context);
    };
    await sweep();
    const at = daysAgo(20, clock.now()).toISOString();
    put(200, 20);
    put(7, 28, { updated_at: at, refunds: [{ refund_id: 're_7', amount: '20.00', at }] });
    put(8, 28, { updated_at: at, cancelled_at: at });
    shop.store.orders.delete('9');
    await sweep();

    const request = { integration_id: shop.id, from: daysAgo(40, clock.now()).toISOString() };
    const reconcile = async () => {
      const { status, body } = await send(`${app.url}/v1/affiliates/reconcile`, key, 'POST', request);
      expect(status).toBe(202);
      return await run(key, body.data.id);
    };
    const { job, found } = await reconcile();
    expect(found).toEqual(['cancelled_but_paid 8', 'missing_here 200', 'missing_there 9', 'refunded_but_paid 7']);
    expect(job.result).toMatchObject({ matched: 58, plan_id: expect.stringMatching(/^pln_/) });

    const plan = (await send(`${app.url}/v1/plans/${job.result.plan_id}`, key, 'GET')).body.data;
    expect(plan).toMatchObject({ operation: 'read_store_again', status: 'open', changes: [{ resource_id: shop.id }] });
    const stranger = await (await makeBrand(app.context)).key('brand');
    expect((await send(`${app.url}/v1/plans/${plan.id}/apply`, stranger, 'POST')).status).toBe(404);
    clock.at += 3_600_000;
    expect((await send(`${app.url}/v1/plans/${plan.id}/apply`, key, 'POST')).status).toBe(200);
    await sweepStores.run(app.context);
    const again = await reconcile();
    expect(again.found).toEqual(['missing_there 9']);
    expect(again.job.result).toMatchObject({ matched: 61, plan_id: null });
  });

  it.each(['shopify', 'woocommerce'] as const)(
    'of %s finds what is missing on either side, page by page',
    async (provider) => {
      const shop = await openShop(app, provider);
      const key = await shop.brand.key('brand');
      shop.store.access.now = clock.now;
      await app.context.postgres.db.updateTable('integrations').set({ sweepAt: null }).execute();
      const codes = [shop.assignment.code];
      const put = (id: number, days: number) => {
        const at = new Date(Math.floor(daysAgo(days, clock.now()).getTime() / 1_000) * 1_000);
        const woo = { id, codes, paidAt: gmt(at), modifiedAt: gmt(at), email: 'buyer@example.com', lines: ['50.00'] };
        const order =
          provider === 'shopify'
            ? shopifyOrder({ id, at, codes, email: 'buyer@example.com', lines: [{ price: '50.00' }] })
            : { ...wooOrder(woo), date_created_gmt: gmt(at) };
        shop.store.orders.set(String(id), order);
      };
      for (let id = 1; id <= 120; id += 1) put(id, 30 - id / 6);
      await scheduleSweep(app.context, shop.id, clock.now());
      await sweepStores.run(app.context);
      put(500, 12);
      shop.store.orders.delete('60');
      const request = { integration_id: shop.id, from: daysAgo(31, clock.now()).toISOString() };
      const { body } = await send(`${app.url}/v1/affiliates/reconcile`, key, 'POST', request);
      for (let waits = 0; waits < 20 && (await runJobs(app)) > 0; waits += 1) clock.at += 60_000;
      const { job, found } = await differencesOf(app, key, body.data.id);
      expect(found).toEqual(['missing_here 500', 'missing_there 60']);
      expect(job.result).toMatchObject({ matched: 119, missing_here: 1, missing_there: 1 });
    },
  );
});
