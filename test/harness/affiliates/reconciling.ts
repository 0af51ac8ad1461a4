import { parse } from 'csv-parse/sync';
import { z } from 'zod';
import { recordReadings } from '../../../src/affiliates/orders/record.ts';
import type { OrderFacts } from '../../../src/affiliates/stores/formats/facts.ts';
import { bytesOf, jobOf } from '../analytics/exporting.ts';
import { type Answer, call, type TestApp } from '../app.ts';
import { file } from '../platform/uploading.ts';
import { type Assignment, asTest, orderFacts } from './sales.ts';
import { seeded } from './store-life.ts';

const KINDS = [
  'missing_here',
  'missing_there',
  'amount',
  'currency',
  'refunded_but_paid',
  'cancelled_but_paid',
] as const;
type Kind = (typeof KINDS)[number];

const Rows = z.array(z.record(z.string(), z.string()));

const HEADERS =
  'Name,Email,Financial Status,Currency,Subtotal,Shipping,Taxes,Total,Created at,Lineitem name,Cancelled at,Refunded Amount,Id';
const cents = (minor: number) => (minor / 100).toFixed(2);

interface Seeded {
  /** As Shopify exports them. */
  csv: string;
  /** What must be found, as `kind order_id`, sorted. */
  expected: string[];
  counts: Record<Kind | 'matched' | 'unread', number>;
}

/** Orders of a store from `first` on, a minute apart, and its export, in which every second order differs in one way. */
export async function seedOrders(
  { context }: TestApp,
  { source, code }: Pick<Assignment, 'source' | 'code'>,
  { orders, first, seed = 1, ids = 5_000_000 }: { orders: number; first: Date; seed?: number; ids?: number },
): Promise<Seeded> {
  const random = seeded(seed);
  const lines = [HEADERS];
  const expected: string[] = [];
  const counts: Seeded['counts'] = {
    ...{ missing_here: 0, missing_there: 0, amount: 0, currency: 0, refunded_but_paid: 0, cancelled_but_paid: 0 },
    ...{ matched: 0, unread: 0 },
  };
  const known: OrderFacts[] = [];
  for (let i = 0; i < orders; i += 1) {
    const isLast = i === orders - 1;
    const kind = i % 2 === 0 || isLast ? 'matched' : KINDS[((i - 1) / 2) % KINDS.length];
    if (kind === undefined) throw new Error('There is a kind for each place.');
    const orderId = String(ids + i);
    const occurredAt = new Date(first.getTime() + i * 60_000);
    const baseMinor = 1_000 + Math.floor(random() * 50_000);
    const isCancelled = kind === 'matched' && i % 14 === 0;
    const isRefunded = kind === 'matched' && i % 22 === 0 && !isCancelled;
    // What pays nobody cannot be paid wrongly.
    const isUnattributed = kind === 'matched' && i % 10 === 0;
    if (kind === 'matched') counts.matched += 1;
    else {
      expected.push(`${kind} ${orderId}`);
      counts[kind] += 1;
    }
    if (kind !== 'missing_here') {
      known.push(
        orderFacts(occurredAt, {
          ...{ orderId, baseMinor, codes: isUnattributed ? [] : [code], customerEmail: `c${i}@shop.example` },
          ...(isCancelled ? { cancelledAt: new Date(occurredAt.getTime() + 1_000) } : {}),
          ...(isRefunded ? { refunds: [{ refundId: `r${i}`, amountMinor: baseMinor, at: occurredAt }] } : {}),
        }),
      );
    }
    if (kind === 'missing_there') continue;
    const theirs = kind === 'amount' ? baseMinor + (i % 4 === 1 ? 1 : -1) : baseMinor;
    const shipping = i % 3 === 0 ? 490 : 0;
    const taxes = Math.round(theirs * 0.19);
    const isGiven = kind === 'refunded_but_paid' || isRefunded || (isUnattributed && i % 20 === 0);
    const given = isGiven
      ? i % 5 === 0 && kind !== 'matched'
        ? Math.round(theirs / 3)
        : theirs + taxes + shipping
      : 0;
    const status = given === theirs + taxes + shipping ? 'refunded' : given > 0 ? 'partially_refunded' : 'paid';
    const cancelled = isCancelled || kind === 'cancelled_but_paid' ? '2026-03-01 10:00:00 -0500' : '';
    lines.push(
      [
        ...[`#${1_000 + i}`, `c${i}@shop.example`, status, kind === 'currency' ? 'EUR' : 'USD', cents(theirs)],
        ...[cents(shipping), cents(taxes), cents(theirs + taxes + shipping), occurredAt.toISOString()],
        ...['"Serum, 30 ml"', cancelled, cents(given), orderId],
      ].join(','),
    );
    // Further lines of an order have only its name and their goods.
    if (i % 4 === 0) lines.push(`#${1_000 + i},c${i}@shop.example,,,,,,,${occurredAt.toISOString()},Cream,,,`);
  }
  for (let i = 0; i < known.length; i += 250) {
    const readings = known.slice(i, i + 250).map((facts) => ({ kind: 'order' as const, facts, notes: [] }));
    await asTest(context, { id: source.brandId }, (work) => recordReadings(work, context.secrets, source, readings));
  }
  return { csv: `${lines.join('\n')}\n`, expected: expected.sort(), counts };
}

/** Sends a CSV to be compared. */
export async function reconcileFile(
  { url }: TestApp,
  key: string,
  csv: string | Uint8Array<ArrayBuffer>,
  fields: Record<string, string> = {},
): Promise<Answer> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', file(csv, 'orders_export.csv', 'text/csv'));
  return await call(`${url}/v1/affiliates/reconcile`, key, { method: 'POST', body: form });
}

/** The rows of a comparison that is done, and its job. */
export async function differencesOf(app: TestApp, key: string, id: string) {
  const job = await jobOf(app, key, id);
  if (job.status !== 'done') throw new Error(`The job is ${job.status}: ${job.error}`);
  const rows: Record<string, string>[] = [];
  for (const one of job.files) {
    if (one.name.startsWith('differences-'))
      rows.push(...Rows.parse(parse(await bytesOf(app, one), { columns: true })));
  }
  return { job, rows, found: rows.map(({ finding, order_id }) => `${finding} ${order_id}`).sort() };
}
