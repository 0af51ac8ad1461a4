import type { Answer, Row } from '../call/call.ts';
import { money, words } from '../kit/format.ts';

/** A contract's pay as one line. */
export function payText({ compensation }: Pick<Row<'list_contracts'>, 'compensation'>): string {
  if (!compensation) return '–';
  const { type, amount, currency } = compensation;
  if (amount === null) return words(type);
  return currency ? money(amount, currency) : `${amount}%`;
}

/** A campaign's pay with its kind, such as “$600.00 fixed”; null if none is specified. */
export function offerText({ compensation }: Pick<Answer<'get_campaign'>['data'], 'compensation'>): string | null {
  if (!compensation) return null;
  const { type, amount } = compensation;
  if (type === 'product') return 'Free product';
  return amount === null ? words(type) : `${payText({ compensation })} ${type}`;
}

/** The pay fields in the forms of campaigns and contracts. */
export const PAY_FIELDS = [
  {
    name: 'compensation.type',
    label: 'Pay',
    labels: { fixed: 'Fixed amount', commission: 'Commission, in percent', product: 'Free product' },
  },
  { name: 'compensation.amount', label: 'Amount or percent' },
  { name: 'compensation.currency', labels: { '': 'Your brand’s' }, hint: 'For fixed amounts.' },
] as const;
