import { useId } from 'react';
import type { Answer } from '../call/call.ts';
import { useChange } from '../call/use.ts';
import { number, words } from '../kit/format.ts';
import { Failure } from '../kit/parts.tsx';
import { ImportReadings } from './import-options.tsx';

type Import = Answer<'get_import'>['data'];

const ORDER_FIELDS = [
  ...[
    'order_id',
    'order_number',
    'placed_at',
    'paid_at',
    'cancelled_at',
    'refunded_at',
    'currency',
    'amount',
    'subtotal',
  ],
  ...[
    'discount',
    'total',
    'shipping',
    'taxes',
    'fees',
    'refunded',
    'refunded_tax',
    'status',
    'test',
    'customer_email',
    'codes',
  ],
];
const PAID_FIELDS = [
  ...[
    'email',
    'handle',
    'name',
    'code',
    'amount',
    'currency',
    'paid_at',
    'reference',
    'status',
    'order_id',
    'sale_amount',
    'refunded',
  ],
];
const PERSON_FIELDS = [
  ...['email', 'name', 'first_name', 'last_name', 'instagram', 'tiktok', 'tags', 'note', 'status', 'code', 'rate'],
  'destination_url',
];
const PAYMENT_FIELDS = [
  ...['email', 'name', 'first_name', 'last_name', 'instagram', 'tiktok', 'code', 'payment_email', 'payment_method'],
];
const COMPARED_FIELDS = [
  ...['order_id', 'order_number', 'currency', 'amount', 'subtotal', 'discount', 'total', 'shipping', 'taxes', 'fees'],
  ...['refunded', 'refunded_tax', 'cancelled_at', 'status'],
];
const FIELDS: Readonly<Record<Import['of'], readonly string[]>> = {
  orders: ORDER_FIELDS,
  commissions: PAID_FIELDS,
  payouts: PAID_FIELDS,
  roster: PERSON_FIELDS,
  payment_details: PAYMENT_FIELDS,
  reconciliation: COMPARED_FIELDS,
};

const MEANINGS: Readonly<Record<Import['of'], readonly string[]>> = {
  orders: ['counts', 'refunded', 'left_out'],
  commissions: ['paid', 'left_out'],
  payouts: ['paid', 'left_out'],
  roster: ['active', 'paused', 'left_out'],
  payment_details: ['active', 'paused', 'left_out'],
  reconciliation: ['counts', 'refunded', 'left_out'],
};

/** Every column with samples and what it is, the statuses, and how times are read: folded, and changed one by one. */
export function ImportColumns({ of }: { of: Import }) {
  const id = useId();
  const patch = useChange('update_import', ['get_import', 'list_imports']);
  const change = (mapping: Record<string, unknown>) => patch.mutate({ params: { id: of.id }, body: { mapping } });
  const setField = (header: string, before: string | null, field: string) =>
    change({
      columns: { ...(before === null ? {} : { [before]: null }), ...(field === '' ? {} : { [field]: header }) },
    });
  return (
    <details>
      <summary>Columns and statuses</summary>
      {patch.error && <Failure error={patch.error} />}
      <div className="stack">
        {of.columns.map(({ position, header, field, samples, damaged }) => (
          <div className="field" key={position}>
            <label htmlFor={`${id}-${position}`}>Column {header} is</label>
            <select
              id={`${id}-${position}`}
              value={field ?? ''}
              disabled={patch.isPending}
              onChange={({ target }) => setField(header, field, target.value)}
              aria-describedby={`${id}-${position}-hint`}
            >
              <option value="">Not used</option>
              {[...new Set([...FIELDS[of.of], ...(field === null ? [] : [field])])].map((name) => (
                <option key={name} value={name}>
                  {words(name)}
                </option>
              ))}
            </select>
            <p className="hint" id={`${id}-${position}-hint`}>
              {damaged ? 'Rounded by a spreadsheet. ' : ''}
              {samples.slice(0, 3).join(' · ')}
            </p>
          </div>
        ))}
        {of.statuses.map(({ value, means, lines }) => (
          <div className="field" key={`status ${value}`}>
            <label htmlFor={`${id}-status-${value}`}>
              Status {value === '' ? '(empty)' : value}, {number(lines)} lines
            </label>
            <select
              id={`${id}-status-${value}`}
              value={means}
              disabled={patch.isPending}
              onChange={({ target }) => change({ statuses: { [value]: target.value } })}
            >
              {means === 'asked' && <option value="asked">To be decided</option>}
              {MEANINGS[of.of].map((meaning) => (
                <option key={meaning} value={meaning}>
                  {words(meaning)}
                </option>
              ))}
            </select>
          </div>
        ))}
        <ImportReadings of={of} />
        {of.readings?.goods && <p className="hint">Goods are {words(of.readings.goods).toLowerCase()}.</p>}
      </div>
    </details>
  );
}
