import type { Answer, Row } from '../call/call.ts';
import { money, words } from '../kit/format.ts';

const PRODUCT = 'Product only';

/** A contract's pay as one line. */
export function payText({ compensation }: Pick<Row<'list_contracts'>, 'compensation'>): string {
  if (!compensation) return '–';
  const { type, amount, currency } = compensation;
  if (type === 'product') return PRODUCT;
  if (amount === null) return words(type);
  return currency ? money(amount, currency) : `${amount}%`;
}

/** A campaign's pay with its kind, such as “$600.00 fixed”; null if none is specified. */
export function offerText({ compensation }: Pick<Answer<'get_campaign'>['data'], 'compensation'>): string | null {
  if (!compensation) return null;
  const { type, amount } = compensation;
  if (type === 'product') return PRODUCT;
  return amount === null ? words(type) : `${payText({ compensation })} ${type}`;
}

type ValueAt = (path: string) => string;
const TYPE = 'compensation.type';

/** The pay's amount, which a free product does not have. */
function amountWords(valueAt: ValueAt) {
  const type = valueAt(TYPE);
  if (type === 'commission') return { label: 'Percent of sales', unit: '%' };
  return type === 'fixed' ? { label: 'Amount' } : null;
}

/** The pay fields in the forms of campaigns and contracts. */
export const PAY_FIELDS = [
  {
    name: 'compensation.type',
    label: 'Pay',
    labels: { fixed: 'Fixed amount', commission: 'Commission', product: PRODUCT },
  },
  { name: 'compensation.amount', follows: amountWords },
  {
    name: 'compensation.currency',
    labels: { '': 'Your brand’s' },
    isBeside: true,
    follows: (valueAt: ValueAt) => (valueAt(TYPE) === 'fixed' ? {} : null),
  },
] as const;
