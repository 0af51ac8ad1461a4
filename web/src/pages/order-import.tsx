import { useState } from 'react';
import { type Body, call } from '../call/call.ts';
import { type ColumnNames, findLineProblem, parseAmount, parseTime, readColumns } from '../kit/csv-columns.ts';
import { CsvImport, type ImportLine } from '../kit/csv-import.tsx';
import { number } from '../kit/format.ts';
import { isRefused } from '../kit/refused.ts';

type Reported = Body<'report_orders'>['orders'][number];

interface Line extends ImportLine {
  plan: 'record' | 'recorded' | 'repeated in the file' | 'cannot be read' | 'refused';
  order: Omit<Reported, 'source'>;
}

const PLANS = [
  ['record', 'pending', 'to record'],
  ['recorded', 'active', 'recorded, or known already'],
  ['repeated in the file', 'skipped', 'repeated in the file'],
  ['cannot be read', 'failed', 'that cannot be read'],
  ['refused', 'rejected', 'refused'],
] as const;

/** Columns by the names that shops give them in their own files. */
const COLUMNS: ColumnNames<'order_id' | 'placed_at' | 'amount' | 'currency' | 'customer_email'> = {
  order_id: ['order_id', 'order id', 'order number', 'name', 'id'],
  placed_at: ['placed_at', 'created at', 'date', 'order date', 'date created'],
  amount: ['amount', 'subtotal', 'net sales', 'order subtotal', 'total'],
  currency: ['currency', 'order currency'],
  customer_email: ['customer_email', 'email', 'e-mail', 'billing email', 'customer email'],
};

async function planLines(text: string): Promise<Line[]> {
  const seen = new Set<string>();
  return readColumns(text, COLUMNS, ['order_id', 'placed_at', 'amount', 'currency']).map((cell, i) => {
    const [name, placedAt, currency] = [cell('order_id'), parseTime(cell('placed_at')), cell('currency').toUpperCase()];
    const amount = parseAmount(cell('amount'));
    const why = name === '' ? 'It has no order number.' : findLineProblem(placedAt, amount, currency);
    const time = placedAt ?? '';
    const email = cell('customer_email');
    const order = {
      order_id: name,
      placed_at: time,
      paid_at: time,
      updated_at: time,
      amount,
      currency,
      ...(email === '' ? {} : { customer_email: email }),
    };
    // Shops list an order once for each of its lines, with its amount on the first.
    const isRepeated = seen.has(name);
    seen.add(name);
    const plan = isRepeated ? 'repeated in the file' : why === undefined ? 'record' : 'cannot be read';
    return { id: String(i), name, plan, why: isRepeated ? undefined : why, order };
  });
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
      if (!isRefused(error)) throw error;
      return lines.map((line) => ({ ...line, plan: 'refused', why: error.message }));
    }
  }
  return (
    <CsvImport
      title="Import past orders"
      hint="A CSV file with columns “order_id”, “placed_at” (UTC), “amount”, “currency” and, optionally, “customer_email”. Past orders count in figures and make customers known. They pay nobody. What creators were paid for them can be imported in Commissions."
      head="Order"
      planLines={planLines}
      plans={PLANS}
      batch={100}
      send={send}
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
