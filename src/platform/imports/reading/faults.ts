import { describeEnded } from './currencies.ts';
import type { FieldType } from './kinds.ts';
import type { Plan } from './plan.ts';
import type { Fault } from './shapes.ts';

/** The values that would be right, by kind of refusal. */
const RIGHT: Readonly<Record<string, string>> = {
  amount_missing: 'an amount such as 12.50',
  amount_unreadable: 'an amount such as 1250.50',
  amounts_disagree: 'parts that add up to the total',
  too_many_decimals: 'no more decimals than the currency has',
  too_large: 'an amount of at most 10,000,000,000',
  negative_amount: 'an amount above zero',
  currency_missing: 'a currency such as EUR',
  currency_unknown: 'a currency such as EUR',
  currency_ended: 'the amount in the currency that took its place',
  currency_contradicts: 'one currency for an amount',
  time_missing: 'a date such as 2026-03-31',
  time_unreadable: 'a date such as 2026-03-31',
  clock_unreadable: 'a time of day such as 14:30',
  zone_unreadable: 'a zone such as Europe/London or +01:00; or say the time zone of the whole file',
  time_out_of_range: 'a date from 1970 to tomorrow',
  returned_unmatched: 'a file that has the payment, too',
  contradicting_lines: 'one value on all lines of a record',
  no_identity: 'an order id or an order number',
  no_person: 'an email address, a handle or a name',
  email_unreadable: 'an address such as ana@example.com',
  handle_unreadable: 'a handle such as @ana, or the address of a profile',
  rate_unreadable: 'a rate such as 10 %, up to 100 %',
  code_changed: 'the code as the shop has it',
  code_unreadable: 'the code alone, such as ANA10',
  destination_unreadable: 'an address such as https://shop.example/summer',
  destination_circular: 'the page itself, not a short link to it',
  no_payment: 'a payment address or a way of payment',
  unknown_creator: 'a creator who is on the roster',
  ambiguous_person: 'an email address, which only one creator has',
  several_creators: 'an address and handles of one creator',
  code_taken: 'a code that nobody else has',
  method_unknown: 'wallet, bank transfer or manual',
  matches_no_payout: 'the amount of an open payout',
  several_payouts: 'an amount that only one open payout has',
  before_first_sale: 'a day after the first sale',
  ambiguous: 'an order id, which only one order has',
};

const WHO = ['email', 'handle', 'instagram', 'tiktok', 'code', 'name'] as const;

/** The fields that a kind of refusal may be about, the likeliest first. */
const SUSPECTS: Readonly<Record<string, readonly string[]>> = {
  amount_missing: ['amount', 'subtotal', 'total'],
  amount_unreadable: ['amount', 'follower_count'],
  amounts_disagree: ['total'],
  currency_missing: ['currency'],
  currency_unknown: ['currency'],
  currency_ended: ['currency', 'amount', 'subtotal', 'total'],
  currency_contradicts: ['currency', 'amount', 'subtotal', 'total'],
  time_missing: ['placed_at', 'paid_at'],
  no_identity: ['order_id', 'order_number'],
  no_person: WHO,
  handle_unreadable: ['username', 'handle', 'instagram', 'tiktok'],
  rate_unreadable: ['rate'],
  no_payment: ['payment_email', 'payment_method'],
  unknown_creator: WHO,
  ambiguous_person: WHO,
  several_creators: WHO,
  code_taken: ['code'],
  destination_circular: ['destination_url'],
  method_unknown: ['payment_method'],
  matches_no_payout: ['amount'],
  several_payouts: ['amount'],
  before_first_sale: ['paid_at'],
  ambiguous: ['order_number'],
};

const MOST_SHOWN = 200;

/** The cell for which rows are refused, and what would be right there; null where no cell alone is wrong. */
export function findFault(
  { headers, columns }: Pick<Plan, 'headers' | 'columns'>,
  rows: readonly (readonly string[])[],
  kind: string,
  field?: string,
): Fault | null {
  const expected = RIGHT[kind];
  const fields = field === undefined ? (SUSPECTS[kind] ?? []) : [field];
  const readField = (name: string) => {
    const filled = rows.map((cells) => (cells[columns[name] ?? -1] ?? '').trim()).filter((cell) => cell !== '');
    return kind === 'contradicting_lines' ? [...new Set(filled)].join(' / ') : (filled[0] ?? '');
  };
  const there = fields.filter((name) => columns[name] !== undefined);
  const name = there.find((one) => readField(one) !== '') ?? there[0];
  if (expected === undefined || fields.length === 0) return null;
  if (name === undefined) return { field: fields[0] ?? null, column: null, value: null, expected };
  const value = readField(name).slice(0, MOST_SHOWN);
  const ended = kind === 'currency_ended' ? describeEnded(value.replace(/[^\p{L}]+/gu, '')) : undefined;
  return { field: name, column: headers[columns[name] ?? -1] ?? '', value, expected: ended ?? expected };
}

/** The right values of a column in which no cell can be what its header says. */
export const RIGHT_BY_TYPE: Readonly<Partial<Record<FieldType, string | undefined>>> = {
  time: RIGHT.time_unreadable,
  money: RIGHT.amount_unreadable,
  email: RIGHT.email_unreadable,
  handle: RIGHT.handle_unreadable,
};

/** The right values of needed fields of other types. */
export const RIGHT_BY_FIELD: Readonly<Record<string, string | undefined>> = {
  order_id: RIGHT.no_identity,
  payment_email: RIGHT.no_payment,
};

/** A fault in a sentence. */
export function describeFault({ column, value, expected }: Fault): string {
  if (column === null) return `No column has ${expected}.`;
  return value === ''
    ? `“${column}” is empty; right is ${expected}.`
    : `“${column}” says “${value}”; right is ${expected}.`;
}
