import type { Answer, Body, Row } from '../call/call.ts';
import { listEnum } from '../kit/every.ts';
import type { Field, Values } from '../kit/form.tsx';
import { money, words } from '../kit/format.ts';

type Compensation = NonNullable<Row<'list_contracts'>['compensation']>;
const TYPES = listEnum<NonNullable<Body<'create_contract'>['compensation']>['type'] | 'none'>()([
  'none',
  'fixed',
  'commission',
  'product',
]);

/** A contract's pay as one line. */
export function payText({ compensation }: Pick<Row<'list_contracts'>, 'compensation'>): string {
  if (!compensation) return '–';
  const { type, amount, currency } = compensation;
  if (amount === null) return words(type);
  return currency ? money(amount, currency) : `${amount}%`;
}

/** A campaign's pay with its kind, such as “US$600.00 fixed”; null if none is specified. */
export function offerText({ compensation }: Pick<Answer<'get_campaign'>['data'], 'compensation'>): string | null {
  if (!compensation) return null;
  const { type, amount } = compensation;
  if (type === 'product') return 'Free product';
  return amount === null ? words(type) : `${payText({ compensation })} ${type}`;
}

/** The pay fields in the forms of campaigns and contracts. */
export const compensationFields = (label: string, of: Compensation | null): Field[] => [
  {
    name: 'compensation.type',
    label,
    kind: 'select',
    isRequired: true,
    value: of?.type ?? 'none',
    options: [
      ['none', 'Not specified'],
      ['fixed', 'Fixed amount'],
      ['commission', 'Commission, in percent'],
      ['product', 'Free product'],
    ],
  },
  { name: 'compensation.amount', label: 'Amount or percent', kind: 'number', value: of?.amount ?? null },
  {
    name: 'compensation.currency',
    label: 'Currency',
    value: of?.currency ?? null,
    hint: 'Three-letter code, for fixed amounts.',
  },
];

export function compensationIn(values: Values) {
  const type = values.choice('compensation.type', TYPES);
  if (type === 'none') return null;
  const currency = values.some('compensation.currency')?.toUpperCase() ?? null;
  return {
    type,
    amount: values.someNumber('compensation.amount') ?? null,
    currency: type === 'commission' ? null : currency,
  };
}
