import { useState } from 'react';
import { type Body, CallError, call } from '../call/call.ts';
import { readCsv } from '../kit/csv.ts';
import { CsvImport, type ImportLine } from '../kit/csv-import.tsx';
import { money, number } from '../kit/format.ts';

type Reported = Body<'report_orders'>['orders'][number];

interface Line extends ImportLine {
  plan: 'record' | 'recorded' | 'repeated in the file' | 'cannot be read' | 'refused';
  order: Omit<Reported, 'source'>;
  /** What was paid for it elsewhere. */
  commission: number;
}

const PLANS = [
  ['record', 'pending', 'to record'],
  ['recorded', 'active', 'recorded, or known already'],
  ['repeated in the file', 'skipped', 'repeated in the file'],
  ['cannot be read', 'failed', 'that cannot be read'],
  ['refused', 'rejected', 'refused'],
] as const;

type Column = 'order_id' | 'placed_at' | 'amount' | 'currency' | 'customer_email' | 'commission';

/** Columns by the names that shops give them in their own files. */
const COLUMNS: Readonly<Record<Column, readonly string[]>> = {
  order_id: ['order_id', 'order id', 'order number', 'name', 'id'],
  placed_at: ['placed_at', 'created at', 'date', 'order date', 'date created'],
  amount: ['amount', 'subtotal', 'net sales', 'order subtotal', 'total'],
  currency: ['currency', 'order currency'],
  customer_email: ['customer_email', 'email', 'e-mail', 'billing email', 'customer email'],
  commission: ['commission', 'commission amount', 'commissions', 'payout'],
};

const NEEDED = ['order_id', 'placed_at', 'amount', 'currency'] as const;

/** A time in UTC unless it says otherwise; undefined if it cannot be read. */
function timeOf(text: string): string | undefined {
  const ms = Date.parse(/\d[Zz]$|[+-]\d\d:?\d\d$/.test(text) ? text : `${text} UTC`);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

function problemOf(name: string, placedAt: string | undefined, amount: number, currency: string) {
  if (name === '') return 'It has no order number.';
  if (placedAt === undefined) return 'Its time cannot be read. Use 2026-03-02 09:30.';
  if (!(amount >= 0)) return 'Its amount cannot be read. Use 125.50.';
  return /^[A-Z]{3}$/.test(currency) ? undefined : 'Its currency is not a three-letter code, such as EUR.';
}

async function planOf(text: string): Promise<Line[]> {
  const [head = [], ...rows] = readCsv(text);
  const names = head.map((name) => name.trim().toLowerCase());
  const placeOf = (column: Column) => names.findIndex((name) => COLUMNS[column].includes(name));
  const missing = NEEDED.filter((column) => placeOf(column) < 0);
  if (missing.length > 0) throw new Error(`The file has no column for ${missing.join(', ')}.`);
  const seen = new Set<string>();
  return rows.map((row, i) => {
    const cell = (column: Column) => (row[placeOf(column)] ?? '').trim();
    const [name, placedAt, currency] = [cell('order_id'), timeOf(cell('placed_at')), cell('currency').toUpperCase()];
    const amount = cell('amount') === '' ? Number.NaN : Number(cell('amount'));
    const why = problemOf(name, placedAt, amount, currency);
    const time = placedAt ?? '';
    const email = cell('customer_email');
    const order = {
      ...{ order_id: name, placed_at: time, paid_at: time, updated_at: time, amount, currency },
      ...(email === '' ? {} : { customer_email: email }),
    };
    // Shops list an order once for each of its lines, with its amount on the first.
    const isRepeated = seen.has(name);
    seen.add(name);
    const plan = isRepeated ? 'repeated in the file' : why === undefined ? 'record' : 'cannot be read';
    const commission = Number(cell('commission').replaceAll(',', '')) || 0;
    return { id: String(i), name, plan, why: isRepeated ? undefined : why, order, commission };
  });
}

/** Says what becomes of commissions in the file: nothing. */
function commissionNote(lines: readonly Line[]) {
  const sums = new Map<string, number>();
  for (const { commission, order } of lines) {
    if (commission > 0) sums.set(order.currency, (sums.get(order.currency) ?? 0) + commission);
  }
  if (sums.size === 0) return undefined;
  const total = [...sums].map(([currency, sum]) => money(sum, currency)).join(' and ');
  return (
    <p className="notice">
      The file has commissions of {total}. They were paid elsewhere and are not recorded: commissions here are what the
      ledger owes or has paid, and past orders belong to no creator.
    </p>
  );
}

/** Reads past orders from a file: they count in figures, and pay nobody. */
export function OrderImport({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [source, setSource] = useState('Past orders');
  async function send(lines: readonly Line[]): Promise<Line[]> {
    try {
      const orders = lines.map(({ order }) => ({ source, ...order }));
      await call('report_orders', { body: { orders, history: true } });
      return lines.map((line) => ({ ...line, plan: 'recorded' }));
    } catch (error) {
      if (!(error instanceof CallError) || error.status === 429) throw error;
      return lines.map((line) => ({ ...line, plan: 'refused', why: error.message }));
    }
  }
  return (
    <CsvImport
      title="Import past orders"
      hint="A CSV file with columns “order_id”, “placed_at” (UTC), “amount”, “currency” and, optionally, “customer_email”. Past orders count in figures and make customers known. They pay nobody; a column “commission” is not recorded."
      head="Order"
      planOf={planOf}
      plans={PLANS}
      batch={100}
      send={send}
      noteOn={commissionNote}
      action={(count) => `Record ${number(count)} ${count === 1 ? 'order' : 'orders'}`}
      changes="list_orders"
      isOpen={isOpen}
      onClose={onClose}
    >
      <div className="field">
        <label htmlFor="import-source">Shop</label>
        <input
          id="import-source"
          maxLength={100}
          value={source}
          onChange={({ target }) => setSource(target.value)}
          aria-describedby="import-source-hint"
        />
        <p className="hint" id="import-source-hint">
          Where they were sold. A connected store’s own past orders are read in from the store.
        </p>
      </div>
    </CsvImport>
  );
}
