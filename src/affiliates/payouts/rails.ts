import type { Cells } from '../../kit/operation/csv.ts';
import { getDecimals } from '../../kit/values/decimals.ts';
import { validationError } from '../../kit/values/errors.ts';
import { toPlainText } from '../../kit/values/text.ts';

/** Currencies of PayPal's payments, as its guide to mass payments lists them. */
const PAYPAL_CURRENCIES: readonly string[] = [
  ...['AUD', 'BRL', 'CAD', 'CHF', 'CZK', 'DKK', 'EUR', 'GBP', 'HKD', 'HUF', 'ILS', 'JPY', 'MXN', 'MYR', 'NOK', 'NZD'],
  ...['PHP', 'PLN', 'SEK', 'SGD', 'THB', 'TWD', 'USD'],
];
/** PayPal takes these without decimals. */
const WHOLE: readonly string[] = ['HUF', 'JPY', 'TWD'];
/** PayPal pays these only within their country. */
const DOMESTIC: Readonly<Record<string, string>> = { BRL: 'BR', MYR: 'MY' };

export const RAILS = ['paypal', 'wise'] as const;
export type Rail = (typeof RAILS)[number];

/** Number of decimals that the rail takes of an amount. */
const decimalsOf = (rail: Rail, currency: string): number =>
  rail === 'paypal' && WHOLE.includes(currency) ? 0 : getDecimals(currency);

/** Rounds down to what the rail pays. */
export function toRailMinor(rail: Rail | undefined, minor: number, currency: string): number {
  if (rail === undefined) return minor;
  const step = 10 ** (getDecimals(currency) - decimalsOf(rail, currency));
  return Math.floor(minor / step) * step;
}

/** False if the rail does not pay in this currency, or not to a payee in this country. */
export function isPayable(rail: Rail | undefined, currency: string, country: string | null): boolean {
  if (rail !== 'paypal') return true;
  if (!PAYPAL_CURRENCIES.includes(currency)) return false;
  const only = DOMESTIC[currency];
  return only === undefined || country === null || country === only;
}

/** Someone to pay by a rail, in major units. */
interface RailPayment {
  creator_id: string;
  creator_name: string | null;
  pay_to: string | null;
  total: number;
  currency: string;
  country: string | null;
  legal_name: string | null;
}

/** Most rows that a rail accepts in a file. */
const MOST_ROWS: Readonly<Record<Rail, number>> = { paypal: 5_000, wise: 1_000 };
const NAMES: Readonly<Record<Rail, string>> = { paypal: 'PayPal', wise: 'Wise' };

const createError = (field: string, code: string, message: string) => validationError([{ field, code, message }]);

const printAmount = (rail: Rail, { total, currency }: RailPayment): string => {
  const scale = 10 ** getDecimals(currency);
  return (toRailMinor(rail, Math.round(total * scale), currency) / scale).toFixed(decimalsOf(rail, currency));
};

/** Checks what the file of a rail cannot say: other currencies, too many rows, payees without an address. */
function assertFile(rail: Rail, payments: readonly RailPayment[]): void {
  const name = NAMES[rail];
  const currencies = [...new Set(payments.map(({ currency }) => currency))];
  if (rail === 'paypal' && currencies.length > 1) {
    const message = `is required: something is due in ${currencies.join(', ')}, and ${name} accepts one currency per file.`;
    throw createError('currency', 'ambiguous', message);
  }
  if (payments.length > MOST_ROWS[rail]) {
    const message = `has ${payments.length} creators to pay, but ${name} accepts ${MOST_ROWS[rail]} per file: set \`minimum\` or \`cutoff\`, pay these, and try again.`;
    throw createError('currency', 'too_many', message);
  }
  for (const { creator_id, currency, country, pay_to } of payments) {
    if (!isPayable(rail, currency, country)) {
      const only = DOMESTIC[currency];
      const where = only === undefined ? '' : ` to ${country}`;
      throw createError(
        'currency',
        'currency_unsupported',
        `${name} does not pay ${currency}${where} (${creator_id}).`,
      );
    }
    if (pay_to === null) {
      throw createError('currency', 'no_email', `has a creator without a payment address: ${creator_id}.`);
    }
  }
}

/** Rows of PayPal's mass payment file: recipient, amount, currency, the recipient's id, note, wallet. */
export function toPaypalRows(payments: readonly RailPayment[]): Cells[] {
  assertFile('paypal', payments);
  return payments.map((one) => [
    one.pay_to ?? '',
    printAmount('paypal', one),
    one.currency,
    one.creator_id,
    '',
    'PAYPAL',
  ]);
}

/** The header of Wise's batch file; it must stay as it is in the template of the account. */
const WISE_HEADER = [
  'recipientId',
  'name',
  'recipientEmail',
  'recipientDetail',
  'sourceCurrency',
  'targetCurrency',
  'amountCurrency',
  'amount',
  'paymentReference',
  'receiverType',
] as const;

/** Columns without which Wise's file pays nobody. */
const NEEDED: readonly string[] = ['recipientEmail', 'targetCurrency', 'amount'];

/** Reads the header line of the brand's own template, whose columns another account may have in another order. */
function readHeader(line: string): string[] {
  const names = line.split(',').map((name) => name.replace(/^\uFEFF/, '').replace(/^\s*"?|"?\s*$/g, ''));
  const missing = NEEDED.find((name) => !names.includes(name));
  if (missing === undefined) return names;
  throw createError('header', 'invalid', `must be the first line of Wise's template; it lacks \`${missing}\`.`);
}

/** A name on one line that no spreadsheet takes for a formula: people look through the file in one. */
const toFileName = (name: string): string => toPlainText(name).replace(/^[\s=+@-]+/, '');

/** Rows of Wise's batch file, which pays by email and so needs no bank details. A column of another name stays empty. */
export function toWiseRows(
  payments: readonly RailPayment[],
  { source_currency, header }: { source_currency?: string | undefined; header?: string | undefined },
): Cells[] {
  const names = header === undefined ? [...WISE_HEADER] : readHeader(header);
  assertFile('wise', payments);
  const rows = payments.map((one): Cells => {
    const cells: Readonly<Record<string, string>> = {
      name: [one.legal_name, one.creator_name].map((name) => toFileName(name ?? '')).find(Boolean) ?? one.pay_to ?? '',
      recipientEmail: one.pay_to ?? '',
      sourceCurrency: source_currency ?? one.currency,
      targetCurrency: one.currency,
      amountCurrency: 'target',
      amount: printAmount('wise', one),
      paymentReference: one.creator_id,
      referenceNumber: one.creator_id,
      receiverType: 'PERSON',
    };
    return names.map((name) => cells[name] ?? '');
  });
  return [names, ...rows];
}
