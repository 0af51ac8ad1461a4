import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify/sync';
import { commissions } from '../../affiliates/commissions/commissions.ts';
import { receiveImport } from '../../affiliates/imports/files.ts';
import { createImport, imports } from '../../affiliates/imports/imports.ts';
import { OrderFilter } from '../../affiliates/orders/orders.shapes.ts';
import { orders } from '../../affiliates/orders/orders.ts';
import { toMajorText } from '../../affiliates/reconciliations/compare.ts';
import { createReconciliation, receiveOrders } from '../../affiliates/reconciliations/reconciliations.ts';
import type { CallOf } from '../../interfaces/nouns.ts';
import type { FilePart } from '../../kit/operation/upload.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { runTurns } from '../../platform/jobs/turns.ts';
import type { Past } from './past.ts';
import type { Person } from './people.ts';
import type { Schedule } from './schedule.ts';
import { ORDERS } from './store.ts';

/** Does the turns of jobs, as a worker would: each takes a second. */
async function work(past: Past): Promise<void> {
  while ((await runTurns.run(past.context, 1)) > 0) past.moveTo(new Date(past.now().getTime() + 1_000));
}

function addExports({ ago, add }: Schedule): void {
  const enter = (days: number, body: CallOf<'create_export'>['body']) =>
    add(
      ago(days),
      async (past) => {
        await past.call('create_export', { body });
        await work(past);
      },
      'alone',
    );
  const day = (days: number) => ago(days).toISOString().slice(0, 10);
  enter(2.4, { of: 'orders', by: 'date', format: 'csv', from: day(33), to: day(4) });
  enter(1.3, { of: 'commissions', by: 'date', format: 'parquet' });
  enter(0.4, { of: 'roster', by: 'date', format: 'csv' });
}

/** The orders of a period as their store exports them, with a few differences of each kind. */
async function storeExport({ brandId, context }: Past, from: Date, to: Date): Promise<Buffer> {
  const { db } = context.postgres;
  const period = { from: from.toISOString(), to: to.toISOString(), sort: 'oldest' };
  const all = await orders.select(db, brandId, OrderFilter.parse(period), { limit: ORDERS });
  const where = { created_after: from, now: to, sort: 'oldest' as const };
  const paying = await commissions.select(db, brandId, where, { limit: ORDERS });
  const clean = paying.filter(({ refundedMinor, status }) => refundedMinor === 0 && status !== 'rejected');
  const ids = new Set(clean.map(({ storeOrderId }) => storeOrderId));
  const differing = all.filter(({ orderId }, i) => ids.has(orderId) && i % 7 === 3);
  const [missing, foreign, unread, cancelled, dearer, cheaper, refunded, halved] = differing.map(({ id }) => id);
  const rows = all.flatMap(({ id, orderId, currency, baseMinor, occurredAt }) => {
    const minor = id === dearer ? baseMinor + 900 : id === cheaper ? baseMinor - 500 : baseMinor;
    const back = id === refunded ? baseMinor : id === halved ? Math.round(baseMinor / 2) : 0;
    const row = [
      ...[orderId, id === foreign ? 'EUR' : currency],
      ...[id === unread ? 'see invoice' : toMajorText(minor, currency), toMajorText(back, currency)],
      ...[id === refunded ? 'refunded' : 'paid', id === cancelled ? occurredAt.toISOString() : ''],
    ];
    return id === missing ? [] : [row];
  });
  const unknown = ['64.00', '38.00'].map((total, i) => [`L-${19_000 + i}`, 'USD', total, '0.00', 'paid', '']);
  const header = ['Order ID', 'Currency', 'Subtotal', 'Refunded amount', 'Financial status', 'Cancelled at'];
  return Buffer.from(stringify([header, ...rows, ...unknown]));
}

const toPart = (filename: string, bytes: Buffer): FilePart => ({
  field: 'file',
  filename,
  mimeType: 'text/csv',
  bytes: Readable.from([bytes]),
});

/** The store's export of a week is compared before its commissions are paid. */
function addComparison({ ago, add }: Schedule): void {
  const compare = async (past: Past) => {
    const to = new Date(past.now().getTime() - 8 * DAY_MS);
    const bytes = await storeExport(past, new Date(to.getTime() - 7 * DAY_MS), to);
    const upload = await receiveOrders(past.context, past.brandId, toPart('lumen-orders.csv', bytes));
    await past.change('create_reconciliation', (change) => createReconciliation(change, {}, upload));
    await work(past);
  };
  add(ago(1.1), compare, 'alone');
}

/** Commissions that the former tool paid: one file is recorded, and one asks which number of its dates is the month. */
function addImports({ ago, add }: Schedule, people: readonly Person[]): void {
  const header = ['Email', 'Name', 'Commission', 'Currency', 'Paid on', 'Reference'];
  const send = async (past: Past, name: string, rows: readonly (readonly string[])[]) => {
    const file = await receiveImport(
      past.context,
      past.brandId,
      toPart(name, Buffer.from(stringify([header, ...rows]))),
    );
    const { id } = await past.change('create_import', (change) =>
      createImport(change, { of: 'commissions', source: 'Former tool' }, file, null),
    );
    await work(past);
    return await imports.get(past.context.postgres.db, past.brandId, id);
  };
  const toRow = ({ email, name }: Person, i: number, day: string) =>
    [email, name, `${120 + 35 * i}.50`, 'USD', day, `PO-${1_000 + i}`] as const;
  const record = async (past: Past) => {
    const rows = people.slice(0, 14).map((person, i) =>
      toRow(
        person,
        i,
        ago(130 + 9 * i)
          .toISOString()
          .slice(0, 10),
      ),
    );
    // One row is refused, and the others are recorded.
    const [unread] = people
      .slice(14)
      .map(({ email, name }) => [email, name, 'see mail', 'USD', '2025-12-01', 'PO-1014']);
    const { id, readingId } = await send(past, 'paid-before-lumen.csv', unread ? [...rows, unread] : rows);
    await past.call('confirm_import', { params: { id }, body: { reading_id: readingId ?? '' } });
    await work(past);
  };
  const ask = (past: Past) =>
    send(
      past,
      'spring-payouts.csv',
      people.slice(3, 9).map((person, i) => toRow(person, 50 + i, `0${i + 1}/0${i + 3}/2026`)),
    );
  // Within the week in which the refused line can be read.
  add(ago(4.2), record, 'alone');
  add(ago(0.6), ask, 'alone');
}

/** Files for a spreadsheet and a warehouse, a comparison with the store, and files of the former tool. */
export function addFiles(schedule: Schedule, people: readonly Person[]): void {
  addExports(schedule);
  addComparison(schedule);
  addImports(schedule, people);
}
