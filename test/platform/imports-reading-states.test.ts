import { describe, expect, test } from 'vitest';
import type { Kind } from '../../src/platform/imports/reading/kinds.ts';
import { readWhole } from './imports-check.ts';
import { lines, readCells } from './imports-field.ts';

/** Headers of one kind of file below which “Yes”, and below which “No”, keeps a record from being as it stands. */
const NAMED: readonly [of: Kind, by: 'Yes' | 'No', headers: string][] = [
  [
    'commissions',
    'Yes',
    'Unpaid|Pending|On hold|Held|Not paid|Draft|Duplicate|Awaiting payment|Nicht bezahlt|Nezaplaceno|No pagado',
  ],
  [
    'payouts',
    'No',
    'Invoice paid|Payment made|Payment done|Payout done|Cleared|Remitted|Disbursed|Processed|paid_flag|Paid (yes/no)|Zapłacono|Ödendi|已支付|支払済|支払い済み|Оплачено|Выплачено|Плачено|שולם|مدفوع|Maksettu|Zaplaceno|Kifizetve|지급완료|Liquidado/-a|Πληρωμένο|Plătit|Đã thanh toán',
  ],
  ['orders', 'Yes', 'Unpaid|Pending|Payment pending|Awaiting payment|On hold|Draft|Abandoned'],
  ['orders', 'No', 'Payment received|Payment made|Not unpaid'],
  ['roster', 'Yes', 'Paused|Deactivated|Disabled|Ended|Left program|Contract ended|Pending|Not active'],
  ['roster', 'No', 'Enabled|Activated'],
];

const ASKED: readonly [of: Kind, header: string, cells: string[], asks: string[]][] = [
  ['commissions', 'Unapproved', ['No', 'Yes'], ['notapproved']],
  ['commissions', 'Ineligible', ['No', 'Yes'], ['noteligible']],
  ['payouts', 'Approval', ['Yes', 'No'], ['notapproved']],
  ['payouts', 'Payment state', ['Yes', 'No'], ['Payment state: Yes', 'Payment state: No']],
  ['payouts', 'Paid/Unpaid', ['Yes', 'No'], ['Paid/Unpaid: Yes', 'Paid/Unpaid: No']],
  ['payouts', 'Zaległe', ['Nie', 'Tak'], ['Zaległe: Nie', 'Zaległe: Tak']],
  ['commissions', 'Վճարված', ['✓', '✗'], ['Վճարված: ✓', 'Վճարված: ✗']],
  ['orders', 'Sample order', ['No', 'Yes'], ['sample']],
  ['orders', 'Replacement', ['No', 'Yes'], ['replacement']],
  ['orders', 'RTO', ['No', 'Yes'], ['notdelivered']],
  ['orders', 'COD refused', ['No', 'Yes'], ['COD refused: yes']],
  ['orders', 'Authorized', ['No', 'Yes'], ['Authorized: yes']],
  ['orders', 'Payment', ['Yes', 'No'], ['Payment: Yes', 'Payment: No']],
  ['orders', 'Partially refunded', ['No', 'Yes'], ['partiallyrefunded']],
  ['roster', 'Duplicate', ['No', 'Yes'], ['duplicate']],
  ['payouts', 'Transaction Type', ['Bill Payment (Check)', 'Bill'], ['billpaymentcheck', 'bill']],
  ['payouts', 'Type', ['Bill Payment', 'Bill'], ['billpayment', 'bill']],
  ['payouts', 'Entry', ['Bill Payment', 'Bill'], ['billpayment', 'bill']],
  ['payouts', 'Document', ['Bill Payment', 'Bill'], ['billpayment', 'bill']],
  ['payouts', 'Transaction Type', ['Abbuchung', 'Beleg'], ['abbuchung', 'beleg']],
  ['payouts', 'Sign', ['-', '+'], ['Sign: minus', 'Sign: plus']],
];

/** Columns that decide nothing: a question about them would be one too many. */
const HARMLESS: readonly [of: Kind, headers: string][] = [
  [
    'orders',
    'Accepts marketing|Gift|Newsletter|Is business|New customer|VAT registered|First order|COD|Influencer order|Cash on delivery|Taxable|Requires shipping|Email verified|Returning customer|Shipping paid by customer|Fulfilled|Wholesale|Subscription active|Delivered',
  ],
  [
    'commissions',
    'New customer|First order|Coupon used|Notified|Newsletter|Has W9|VAT registered|Mobile|Lifetime|Recurring|Self referral|Exported|Email sent',
  ],
  [
    'roster',
    'Newsletter|Has W9|VAT registered|Sample sent|Verified|Contract signed|Posted|Gifted|Approved content|Paid collaboration|Ambassador|Invoice paid|VIP',
  ],
];

const spread = (headers: string) => headers.split('|');

describe('a state above a column of yes and no', () => {
  test.each(NAMED.flatMap(([of, by, headers]) => spread(headers).map((header) => ({ of, header, by }))))(
    'of $of, “$header”, keeps the record of which it says $by from being as it stands, and no other',
    async ({ of, header, by }) => {
      const { asks, left } = await readCells(of, header, ['Yes', 'No']);
      const [first, second] =
        of === 'roster' ? left.map((state) => state === 'active') : left.map((rest) => rest !== null);
      expect({ asks, kept: [first, second] }).toEqual({ asks: [], kept: by === 'Yes' ? [false, true] : [true, false] });
    },
  );

  test.each(ASKED)(
    'of %s, “%s” over %j, is asked about where nothing says what it means',
    async (of, header, cells, values) => {
      const { asks } = await readCells(of, header, cells);
      expect(asks).toEqual(values.map((value) => `status_meaning:${value}`));
    },
  );

  test.each(HARMLESS.flatMap(([of, headers]) => spread(headers).map((header) => ({ of, header }))))(
    'of $of, “$header”, asks nothing where it decides nothing',
    async ({ of, header }) => {
      const { asks, left } = await readCells(of, header, ['Yes', 'No']);
      expect({ asks, whole: left.every((rest) => rest !== null && rest !== 'paused') }).toEqual({
        asks: [],
        whole: true,
      });
    },
  );

  test('in the words for yes and no of its own language', async () => {
    for (const [header, yes, no] of [
      ['Đã thanh toán', 'Có', 'Không'],
      ['支払い済み', '済', '未'],
      ['Плачено', 'Да', 'Не'],
      ['Ödendi', 'Evet', 'Hayır'],
    ] as const)
      expect(await readCells('commissions', header, [yes, no])).toEqual({ asks: [], left: [1050, null] });
  });

  test('of a payment, with a dash in place of its day, leaves the line out', async () => {
    expect(await readCells('commissions', 'Ausgezahlt am', ['-', '-'])).toEqual({ asks: [], left: [null, null] });
  });

  test('is a question beside a status that says that the order was paid', async () => {
    const { reading } = await readWhole(
      'orders',
      lines(
        'Order,Date,Amount,Currency,Status,Partially refunded',
        'A,2026-01-05,10.50,USD,paid,Yes',
        'B,2026-01-05,10.50,USD,paid,No',
      ),
    );
    expect(reading.questions.map(({ id }) => id)).toEqual(['status_meaning:partiallyrefunded']);
    expect(reading.counts).toMatchObject({ read: 1 });
  });
});
