import type { Field, Values } from '../kit/form.tsx';

const KINDS = ['none', 'fixed', 'commission', 'product'] as const;

interface Compensation {
  type: string;
  amount: number | null;
  currency: string | null;
}

/** What a creator gets, as the forms of campaigns and contracts ask for it. */
export const compensationFields = (label: string, of: Compensation | null): Field[] => [
  {
    ...{ name: 'compensation.type', label, kind: 'select', isRequired: true, value: of?.type ?? 'none' },
    options: [
      ['none', 'Not said'],
      ['fixed', 'A fixed amount'],
      ['commission', 'A commission, in percent'],
      ['product', 'The product'],
    ],
  },
  { name: 'compensation.amount', label: 'Amount or percent', kind: 'number', value: of?.amount ?? null },
  {
    ...{ name: 'compensation.currency', label: 'Currency', value: of?.currency ?? null },
    hint: 'Of an amount; three letters.',
  },
];

export function compensationIn(values: Values) {
  const type = values.choice('compensation.type', KINDS);
  if (type === 'none') return null;
  const currency = values.some('compensation.currency')?.toUpperCase() ?? null;
  return {
    type,
    amount: values.someNumber('compensation.amount') ?? null,
    currency: type === 'commission' ? null : currency,
  };
}
