import { at, below, type Locale, money, pick, type Random, type Row, type Truth, text } from './imports-draw.ts';
import type { Format, Made } from './imports-format.ts';

interface Paid {
  reference: string;
  email: string;
  name: string;
  amount: number;
  sale: number;
  at: Date;
  isPaid: boolean;
}

function drawPaid(random: Random, index: number, { currency, names }: Locale): Paid {
  const unit = currency === 'JPY' ? 1 : 100;
  const amount = (1 + below(random, 2_000)) * unit + (unit === 1 ? 0 : below(random, 100));
  const day = new Date(
    Date.UTC(2026, below(random, 10), 1 + below(random, 28), 12, below(random, 60), below(random, 60)),
  );
  return {
    reference: `R${1_001 + index}`,
    email: `c${index % 7}@creators.example`,
    name: pick(random, names),
    amount,
    sale: amount * 10,
    at: day,
    isPaid: random() < 0.75,
  };
}

function makePaid(write: (paid: Paid, locale: Locale) => Row, hasStatus = true) {
  return (random: Random, locale: Locale, lines: number): Made => {
    const all = Array.from({ length: lines }, (_, i) => drawPaid(random, i, locale)).map((paid) =>
      hasStatus ? paid : { ...paid, isPaid: true },
    );
    const rows = all.map((paid) => write(paid, locale));
    const truth = all.map((paid): Truth | null =>
      paid.isPaid
        ? { who: paid.email, amount: paid.amount, refunded: 0, day: paid.at.toISOString().slice(0, 10) }
        : null,
    );
    return { headers: Object.keys(rows[0] ?? {}), rows, truth };
  };
}

function makePeople(write: (index: number, name: string) => Row) {
  return (random: Random, locale: Locale, lines: number): Made => {
    const rows = Array.from({ length: lines }, (_, i) => write(i, pick(random, locale.names)));
    const truth = rows.map((_, i) => ({ who: `p${i}@creators.example`, amount: 0, refunded: 0, day: '' }));
    return { headers: Object.keys(rows[0] ?? {}), rows, truth };
  };
}
export const PEOPLE_FORMATS: readonly Format[] = [
  {
    key: 'affiliatewp',
    of: 'commissions',
    isKnown: true,
    times: 'iso',
    statusColumn: 'Status',
    amountColumn: 'Amount',
    make: makePaid((paid, { currency }) => ({
      'Affiliate ID': text('7'),
      Email: text(paid.email),
      Name: text(paid.name),
      'Payment Email': text(paid.email),
      Username: text('user'),
      Amount: money(paid.amount),
      Currency: text(currency),
      Description: text('Sale'),
      Campaign: text(''),
      Reference: text(paid.reference),
      Context: text('woocommerce'),
      Status: text(paid.isPaid ? 'paid' : 'unpaid'),
      Date: at(paid.at),
    })),
  },
  {
    key: 'dub_commissions',
    of: 'commissions',
    isKnown: true,
    times: 'iso',
    statusColumn: 'Status',
    amountColumn: 'Earnings',
    make: makePaid((paid, { currency }) => ({
      ID: text(paid.reference),
      'Created at': at(paid.at),
      Type: text('sale'),
      Amount: money(paid.sale),
      Earnings: money(paid.amount),
      Currency: text(currency),
      'Partner email': text(paid.email),
      'Partner name': text(paid.name),
      'Invoice ID': text('inv'),
      'Paid at': at(paid.at),
      Status: text(paid.isPaid ? 'paid' : 'hold'),
    })),
  },
  {
    key: 'dub_payouts',
    of: 'payouts',
    isKnown: true,
    times: 'iso',
    statusColumn: 'Status',
    amountColumn: 'Amount',
    make: makePaid((paid, { currency }) => ({
      ID: text(paid.reference),
      'Period start': at(paid.at),
      'Period end': at(paid.at),
      'Payout method': text('paypal'),
      'Partner email': text(paid.email),
      'Partner name': text(paid.name),
      Amount: money(paid.amount),
      Currency: text(currency),
      'Paid at': at(paid.at),
      Status: text(paid.isPaid ? 'completed' : 'processing'),
    })),
  },
  {
    key: 'paypal',
    of: 'payouts',
    isKnown: true,
    times: 'day',
    statusColumn: 'Status',
    amountColumn: 'Gross',
    make: makePaid((paid, { currency }) => ({
      Date: text(paid.at.toISOString().slice(0, 10)),
      Time: text(paid.at.toISOString().slice(11, 19)),
      TimeZone: text('UTC'),
      Name: text(paid.name),
      Type: text('Mass Pay Payment'),
      Status: text(paid.isPaid ? 'Completed' : 'Unclaimed'),
      Currency: text(currency),
      Gross: money(-paid.amount),
      Fee: money(-25),
      Net: money(-paid.amount - 25),
      'From Email Address': text('shop@brand.example'),
      'To Email Address': text(paid.email),
      'Transaction ID': text(paid.reference),
    })),
  },
  {
    key: 'generic_commissions',
    of: 'commissions',
    isKnown: false,
    times: 'locale',
    isLocal: true,
    amountColumn: 'Commission',
    renames: { Date: 'Payment date' },
    make: makePaid(
      (paid, { currency }) => ({
        'Affiliate email': text(paid.email),
        Commission: money(paid.amount),
        Currency: text(currency),
        Date: at(paid.at),
        Reference: text(paid.reference),
      }),
      false,
    ),
  },
  {
    key: 'named_commissions',
    of: 'commissions',
    isKnown: false,
    times: 'named',
    isLocal: true,
    amountColumn: 'Payout amount',
    make: makePaid(
      (paid, { currency }) => ({
        'Partner email': text(paid.email),
        'Payout amount': money(paid.amount),
        Currency: text(currency),
        'Paid on': at(paid.at),
        'Payout ID': text(paid.reference),
        'Sale amount': money(paid.sale),
      }),
      false,
    ),
  },
  {
    key: 'mailchimp',
    of: 'roster',
    isKnown: true,
    times: 'iso',
    amountColumn: '',
    make: makePeople((i, name) => ({
      'Email Address': text(`p${i}@creators.example`),
      'First Name': text(name.split(' ')[0] ?? ''),
      'Last Name': text(name.split(' ')[1] ?? ''),
      MEMBER_RATING: text('2'),
      TAGS: text('"VIP","Blog"'),
      UNSUB_TIME: text(''),
    })),
  },
  {
    key: 'generic_roster',
    of: 'roster',
    isKnown: false,
    times: 'iso',
    amountColumn: '',
    make: makePeople((i, name) => ({
      Name: text(name),
      'E-Mail': text(`p${i}@creators.example`),
      Instagram: text(`@p.${i}`),
      Code: text(`P${i}X`),
      Notes: text(''),
    })),
  },
];
