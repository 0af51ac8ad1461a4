/**
 * Files as other tools write them, drawn at random with an oracle: what the file says in truth, worked out apart from
 * the code that reads it. Each is a format in a country, with something done to it on its way.
 */
import type { DateOrder, Goods, Mapping } from '../../src/platform/imports/reading/shapes.ts';

export type Random = () => number;

/** Mulberry32: 32 bits of state suffice for a test, and any seed can be printed. */
export function makeRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const below = (random: Random, most: number) => Math.floor(random() * most);
const pick = <Value>(random: Random, values: readonly Value[]): Value => {
  const value = values[below(random, values.length)];
  if (value === undefined) throw new Error('Nothing to pick from.');
  return value;
};

export interface Locale {
  key: string;
  currency: string;
  decimal: '.' | ',';
  group: string;
  dates: DateOrder;
  mark: string;
  separator: string;
  encoding: 'windows-1252' | 'windows-1250' | 'utf-16le';
  names: readonly string[];
}

export const LOCALES: readonly Locale[] = [
  {
    key: 'us',
    currency: 'USD',
    decimal: '.',
    group: ',',
    dates: 'mdy',
    mark: '/',
    separator: ',',
    encoding: 'windows-1252',
    names: ['Ana Lopez', 'Zoë Hart'],
  },
  {
    key: 'gb',
    currency: 'GBP',
    decimal: '.',
    group: ',',
    dates: 'dmy',
    mark: '/',
    separator: ',',
    encoding: 'windows-1252',
    names: ['Renée Hill', 'Max Two'],
  },
  {
    key: 'de',
    currency: 'EUR',
    decimal: ',',
    group: '.',
    dates: 'dmy',
    mark: '.',
    separator: ';',
    encoding: 'windows-1252',
    names: ['Jörg Müller', 'Söre Groß'],
  },
  {
    key: 'fr',
    currency: 'EUR',
    decimal: ',',
    group: '\u202f',
    dates: 'dmy',
    mark: '/',
    separator: ';',
    encoding: 'utf-16le',
    names: ['Chloé Bœuf', 'Loïc Né'],
  },
  {
    key: 'es',
    currency: 'EUR',
    decimal: ',',
    group: '.',
    dates: 'dmy',
    mark: '/',
    separator: ';',
    encoding: 'windows-1252',
    names: ['Íñigo Peña', 'María Ríos'],
  },
  {
    key: 'it',
    currency: 'EUR',
    decimal: ',',
    group: '.',
    dates: 'dmy',
    mark: '/',
    separator: ';',
    encoding: 'windows-1252',
    names: ['Niccolò Pià', 'Ugo Bò'],
  },
  {
    key: 'nl',
    currency: 'EUR',
    decimal: ',',
    group: '.',
    dates: 'dmy',
    mark: '-',
    separator: ';',
    encoding: 'windows-1252',
    names: ['Daniël Vos', 'Zoë Bos'],
  },
  {
    key: 'br',
    currency: 'BRL',
    decimal: ',',
    group: '.',
    dates: 'dmy',
    mark: '/',
    separator: ';',
    encoding: 'windows-1252',
    names: ['João Gonçalves', 'Inês Só'],
  },
  {
    key: 'pl',
    currency: 'PLN',
    decimal: ',',
    group: '\u00a0',
    dates: 'dmy',
    mark: '.',
    separator: ';',
    encoding: 'utf-16le',
    names: ['Łukasz Żak', 'Zofia Dąb'],
  },
  {
    key: 'ch',
    currency: 'CHF',
    decimal: '.',
    group: "'",
    dates: 'dmy',
    mark: '.',
    separator: ';',
    encoding: 'windows-1252',
    names: ['Käthi Rüegg', 'Max Two'],
  },
  {
    key: 'jp',
    currency: 'JPY',
    decimal: '.',
    group: ',',
    dates: 'ymd',
    mark: '/',
    separator: ',',
    encoding: 'utf-16le',
    names: ['佐藤 花', 'Ken Abe'],
  },
  {
    key: 'ca',
    currency: 'CAD',
    decimal: '.',
    group: ',',
    dates: 'mdy',
    mark: '/',
    separator: ',',
    encoding: 'windows-1252',
    names: ['Élise Roy', 'Max Two'],
  },
];

export const DAMAGES = [
  'none',
  'separator',
  'encoding',
  'bom',
  'moved',
  'renamed',
  'added',
  'dates',
  'decimals',
  'cents',
  'ids',
  'totals',
  'preamble',
  'spread',
  'repeated',
  'status',
] as const;
export type Damage = (typeof DAMAGES)[number];

/** A cell by what it means, so that it can be written in several ways. */
type Cell = { money: number } | { at: Date } | { id: string } | { text: string };
type Row = Record<string, Cell>;

const money = (minor: number): Cell => ({ money: minor });
const text = (value: string): Cell => ({ text: value });
const at = (date: Date): Cell => ({ at: date });
const id = (value: string): Cell => ({ id: value });

export interface Truth {
  who: string;
  amount: number;
  refunded: number;
  day: string;
}

interface Order {
  number: number;
  id: string;
  at: Date;
  goods: number;
  /** The goods as their price is written, with the tax if prices include it. */
  shown: number;
  discount: number;
  shipping: number;
  tax: number;
  total: number;
  refunded: number;
  refundedGoods: number;
  status: 'paid' | 'open' | 'partly' | 'back';
  email: string;
  name: string;
}

const NOW = new Date('2026-11-27T12:00:00Z');

/** Half to even, in integers of their own. */
function shareEven(a: number, b: number, c: number): number {
  const [whole, rest] = [(BigInt(a) * BigInt(b)) / BigInt(c), ((BigInt(a) * BigInt(b)) % BigInt(c)) * 2n];
  const up = rest > BigInt(c) || (rest === BigInt(c) && whole % 2n === 1n);
  return Number(up ? whole + 1n : whole);
}

function drawOrder(random: Random, index: number, { currency, names }: Locale, isInPrices: boolean): Order {
  const unit = currency === 'JPY' ? 1 : 100;
  const shown = (1 + below(random, 3_000)) * unit + (unit === 1 ? 0 : below(random, 100));
  const discount = random() < 0.3 ? Math.floor(shown / 10) : 0;
  const shipping = random() < 0.4 ? 10 * unit : 0;
  const gross = shown - discount;
  const rate = random() < 0.7 ? 20 : 0;
  const tax = isInPrices ? shareEven(gross + shipping, rate, 100 + rate) : shareEven(gross + shipping, rate, 100);
  const goods = isInPrices
    ? gross - (tax === 0 || shipping === 0 ? tax : shareEven(tax, gross, gross + shipping))
    : gross;
  const total = gross + shipping + (isInPrices ? 0 : tax);
  const kind = random();
  const status = kind < 0.65 ? 'paid' : kind < 0.8 ? 'open' : kind < 0.9 ? 'partly' : 'back';
  const refunded = status === 'back' ? total : status === 'partly' ? Math.max(1, Math.floor(total / 4)) : 0;
  const share = status === 'back' || total === goods ? Math.min(refunded, goods) : shareEven(refunded, goods, total);
  const day = new Date(
    Date.UTC(2026, below(random, 10), 1 + below(random, 28), 12, below(random, 60), below(random, 60)),
  );
  const refundedGoods = Math.min(goods, share);
  return {
    number: 1_001 + index,
    id: `58210000${String(10_001 + index * 7)}`,
    at: day,
    goods,
    shown,
    discount,
    shipping,
    tax,
    total,
    refunded,
    refundedGoods,
    status,
    email: `b${index}@mail.example`,
    name: pick(random, names),
  };
}

interface Made {
  headers: string[];
  rows: Row[];
  /** What each row says; null for what is none. */
  truth: (Truth | null)[];
}

export interface Format {
  key: string;
  of: 'orders' | 'commissions' | 'payouts' | 'roster';
  isKnown: boolean;
  /** Our own amounts are major units by definition. */
  isOwn?: boolean;
  /** How the tool itself writes times. */
  times: 'offset' | 'iso' | 'mdy' | 'day' | 'named' | 'locale';
  /** Whether numbers are written as in the country. */
  isLocal?: boolean;
  /** Columns that may be given another name without the file being another tool's. */
  renames?: Readonly<Record<string, string>>;
  idColumn?: string;
  statusColumn?: string;
  amountColumn: string;
  goods?: Goods;
  make(random: Random, locale: Locale, lines: number): Made;
}

const STATUS_WORDS: Readonly<Record<string, Record<Order['status'], string>>> = {
  shopify: { paid: 'paid', open: 'pending', partly: 'partially_refunded', back: 'refunded' },
  woo: { paid: 'completed', open: 'on-hold', partly: 'completed', back: 'refunded' },
  stripe: { paid: 'Paid', open: 'Failed', partly: 'Paid', back: 'Refunded' },
  edd: { paid: 'complete', open: 'pending', partly: 'partially_refunded', back: 'refunded' },
};

type WriteOrder = (order: Order, locale: Locale) => Row;

interface OrderTraits {
  inPrices?: boolean;
  refunds?: boolean;
  statuses?: boolean;
  goodsFrom?: (order: Order) => number;
}

function makeOrders(write: WriteOrder, traits: OrderTraits = {}) {
  return (random: Random, locale: Locale, lines: number): Made => {
    const isInPrices = traits.inPrices === true && random() < 0.5;
    const orders = Array.from({ length: lines }, (_, i) => drawOrder(random, i, locale, isInPrices)).map((order) => {
      const kept =
        traits.refunds === false
          ? {
              ...order,
              refunded: 0,
              refundedGoods: 0,
              status: order.status === 'open' ? ('open' as const) : ('paid' as const),
            }
          : order;
      return traits.statuses === false ? { ...kept, status: 'paid' as const } : kept;
    });
    const rows = orders.map((order) => write(order, locale));
    const truth = orders.map((order): Truth | null => {
      if (order.status === 'open') return null;
      const amount = traits.goodsFrom?.(order) ?? order.goods;
      const refunded = traits.goodsFrom ? order.refunded : Math.min(order.refundedGoods, amount);
      return { who: '', amount, refunded, day: order.at.toISOString().slice(0, 10) };
    });
    return { headers: Object.keys(rows[0] ?? {}), rows, truth };
  };
}

const shopifyParts = (order: Order, { currency }: Locale, words: Record<Order['status'], string>): Row => ({
  Email: text(order.email),
  'Financial Status': text(words[order.status]),
  'Paid at': at(order.at),
  Currency: text(currency),
  Subtotal: money(order.shown - order.discount),
  Shipping: money(order.shipping),
  Taxes: money(order.tax),
  Total: money(order.total),
  'Discount Code': text(''),
  'Discount Amount': money(order.discount),
  'Created at': at(order.at),
  'Lineitem quantity': text('1'),
  'Lineitem name': text('Serum, 30 ml'),
  'Lineitem price': money(order.shown),
  'Billing Name': text(order.name),
  Notes: text('A note\nin two lines'),
  'Cancelled at': text(''),
});

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

const [shopifyWords, wooWords, stripeWords, eddWords] = ['shopify', 'woo', 'stripe', 'edd'].map(
  (key) => STATUS_WORDS[key],
);
if (!shopifyWords || !wooWords || !stripeWords || !eddWords) throw new Error('Words of a tool are missing.');
const upper = Object.fromEntries(Object.entries(shopifyWords).map(([key, word]) => [key, word.toUpperCase()]));

export const FORMATS: readonly Format[] = [
  {
    key: 'shopify',
    of: 'orders',
    isKnown: true,
    times: 'offset',
    idColumn: 'Id',
    statusColumn: 'Financial Status',
    amountColumn: 'Subtotal',
    renames: { 'Discount Code': 'Discount code used', Email: 'E-mail' },
    make: makeOrders(
      (order, locale) => ({
        Name: text(`#${order.number}`),
        ...shopifyParts(order, locale, shopifyWords),
        'Refunded Amount': money(order.refunded),
        Id: id(order.id),
      }),
      { inPrices: true },
    ),
  },
  {
    key: 'squarespace',
    of: 'orders',
    isKnown: true,
    times: 'offset',
    statusColumn: 'Financial Status',
    amountColumn: 'Subtotal',
    renames: { Email: 'Customer e-mail' },
    make: makeOrders((order, locale) => ({
      'Order ID': text(`0${order.number}`),
      ...shopifyParts(order, locale, {
        paid: upper.paid ?? '',
        open: upper.open ?? '',
        partly: upper.partly ?? '',
        back: upper.back ?? '',
      }),
      'Amount Refunded': money(order.refunded),
      'Lineitem variant': text(''),
      'Private Notes': text(''),
    })),
  },
  {
    key: 'woo_analytics',
    of: 'orders',
    isKnown: true,
    times: 'iso',
    statusColumn: 'Status',
    amountColumn: 'Net Sales',
    make: makeOrders(
      (order) => ({
        Date: at(order.at),
        'Order #': text(String(order.number)),
        'N. Revenue (formatted)': money(order.goods),
        Status: text(wooWords[order.status]),
        Customer: text(order.name),
        'Product(s)': text('1× Serum'),
        'Items Sold': text('1'),
        'Coupon(s)': text(''),
        'Net Sales': money(order.goods),
      }),
      { refunds: false },
    ),
  },
  {
    key: 'advanced_export',
    of: 'orders',
    isKnown: true,
    times: 'iso',
    statusColumn: 'Order Status',
    amountColumn: 'Order Subtotal Amount',
    make: makeOrders((order, { currency }) => ({
      'Order Number': text(String(order.number)),
      'Order Status': text(wooWords[order.status]),
      'Order Date': at(order.at),
      'Customer Note': text(''),
      'Email (Billing)': text(order.email),
      'Cart Discount Amount': money(order.discount),
      'Order Subtotal Amount': money(order.shown),
      'Order Shipping Amount': money(order.shipping),
      'Order Refund Amount': money(order.refunded),
      'Order Total Amount': money(order.total),
      'Order Total Tax Amount': money(order.tax),
      Currency: text(currency),
    })),
  },
  {
    key: 'webtoffee',
    of: 'orders',
    isKnown: true,
    times: 'iso',
    idColumn: 'order_id',
    statusColumn: 'status',
    amountColumn: 'order_subtotal',
    make: makeOrders(
      (order, { currency }) => ({
        order_id: id(order.id),
        order_number: text(String(order.number)),
        order_date: at(order.at),
        paid_date: at(order.at),
        status: text(`wc-${wooWords[order.status]}`),
        shipping_total: money(order.shipping),
        shipping_tax_total: money(0),
        fee_total: money(0),
        fee_tax_total: money(0),
        tax_total: money(order.tax),
        cart_discount: money(order.discount),
        order_discount: money(0),
        discount_total: money(order.discount),
        order_total: money(order.total),
        order_subtotal: money(order.shown),
        order_currency: text(currency),
        payment_method: text('paypal'),
        billing_email: text(order.email),
        wt_import_key: text(String(order.number)),
      }),
      { refunds: false },
    ),
  },
  {
    key: 'etsy',
    of: 'orders',
    isKnown: true,
    times: 'mdy',
    idColumn: 'Order ID',
    statusColumn: 'Status',
    amountColumn: 'Order Value',
    make: makeOrders(
      (order, { currency }) => ({
        'Sale Date': at(order.at),
        'Order ID': id(order.id),
        'Full Name': text(order.name),
        'Number of Items': text('1'),
        'Payment Method': text('Credit Card'),
        Currency: text(currency),
        'Order Value': money(order.shown),
        'Coupon Code': text(''),
        'Coupon Details': text(''),
        'Discount Amount': money(order.discount),
        Shipping: money(order.shipping),
        'Sales Tax': money(order.tax),
        'Order Total': money(order.total),
        Status: text('Completed'),
        'Card Processing Fees': money(7),
        'Order Net': money(order.total - 7),
      }),
      { refunds: false, statuses: false },
    ),
  },
  {
    key: 'edd3',
    of: 'orders',
    isKnown: true,
    times: 'iso',
    idColumn: 'Order ID',
    statusColumn: 'Status',
    amountColumn: 'Amount',
    make: makeOrders(
      (order, { currency }) => ({
        'Order ID': id(order.id),
        'Order Number': text(String(order.number)),
        Email: text(order.email),
        'Customer ID': text('7'),
        'Customer Name': text(order.name),
        Products: text('E-book'),
        'Products (Raw)': text('E-book|1{0}'),
        SKUs: text(''),
        Currency: text(currency),
        Amount: money(order.goods + order.tax),
        Tax: money(order.tax),
        'Discount Code': text(''),
        'Payment Method': text('stripe'),
        'Mode (Live|Test)': text('live'),
        Status: text(eddWords[order.status]),
        Date: at(order.at),
      }),
      { refunds: false },
    ),
  },
  {
    key: 'edd2',
    of: 'orders',
    isKnown: true,
    times: 'iso',
    idColumn: 'Payment ID',
    statusColumn: 'Status',
    amountColumn: 'Amount ($)',
    make: makeOrders(
      (order, { currency }) => ({
        'Payment ID': id(order.id),
        'Payment Number': text(String(order.number)),
        Email: text(order.email),
        Name: text(order.name),
        Currency: text(currency),
        'Amount ($)': money(order.goods + order.tax),
        'Tax ($)': money(order.tax),
        Date: at(order.at),
        Status: text(eddWords[order.status]),
      }),
      { refunds: false },
    ),
  },
  {
    key: 'stripe',
    of: 'orders',
    isKnown: false,
    times: 'iso',
    idColumn: undefined,
    statusColumn: 'Status',
    amountColumn: 'Amount',
    goods: 'total',
    make: makeOrders(
      (order, { currency }) => ({
        id: text(`ch_${order.id}`),
        'Created (UTC)': at(order.at),
        Amount: money(order.total),
        'Amount Refunded': money(order.refunded),
        Currency: text(currency.toLowerCase()),
        Captured: text('true'),
        'Converted Amount': money(order.total * 2),
        'Converted Currency': text('usd'),
        Fee: money(30),
        'Customer Email': text(order.email),
        Status: text(stripeWords[order.status]),
      }),
      { goodsFrom: (order) => order.total },
    ),
  },
  {
    key: 'rollcall_orders',
    of: 'orders',
    isOwn: true,
    isKnown: true,
    times: 'offset',
    idColumn: undefined,
    amountColumn: 'amount',
    make: makeOrders(
      (order, { currency }) => ({
        order_id: text(order.id),
        placed_at: at(order.at),
        currency: text(currency),
        amount: money(order.goods),
        refunded: money(order.refundedGoods),
        customer_email: text(order.email),
        codes: text(''),
      }),
      { statuses: false },
    ),
  },
  {
    key: 'generic_orders',
    of: 'orders',
    isKnown: false,
    times: 'locale',
    isLocal: true,
    statusColumn: 'Status',
    amountColumn: 'Subtotal',
    goods: 'subtotal',
    renames: { 'Order Date': 'Date' },
    make: makeOrders(
      (order, { currency }) => ({
        'Order Number': text(`#${order.number}`),
        'Order Date': at(order.at),
        Status: text(wooWords[order.status]),
        'Order Total': money(order.total),
        Shipping: money(order.shipping),
        Tax: money(order.tax),
        Subtotal: money(order.shown - order.discount),
        Currency: text(currency),
        'Billing Email': text(order.email),
      }),
      { refunds: false, inPrices: true },
    ),
  },
  {
    key: 'german_orders',
    of: 'orders',
    isKnown: false,
    times: 'locale',
    isLocal: true,
    statusColumn: 'Bestellstatus',
    amountColumn: 'Zwischensumme',
    goods: 'subtotal_less_discount',
    make: makeOrders(
      (order, { currency }) => ({
        Bestellnummer: text(`#${order.number}`),
        Bestelldatum: at(order.at),
        Bestellstatus: text('completed'),
        Zwischensumme: money(order.shown),
        Rabatt: money(order.discount),
        Versandkosten: money(order.shipping),
        MwSt: money(order.tax),
        Gesamtbetrag: money(order.total),
        Währung: text(currency),
      }),
      { refunds: false, statuses: false },
    ),
  },
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

interface Style {
  decimal: '.' | ',';
  group: string;
  dates: DateOrder;
  mark: string;
  times: Format['times'];
  isCents: boolean;
  decimals: number;
}

export function writeMoney(
  minor: number,
  { decimal, group, isCents, decimals }: Pick<Style, 'decimal' | 'group' | 'isCents' | 'decimals'>,
): string {
  const digits = String(Math.abs(minor)).padStart(decimals + 1, '0');
  if (isCents) return String(minor);
  const whole = decimals === 0 ? digits : digits.slice(0, -decimals);
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, group);
  const fraction = decimals === 0 ? '' : decimal + digits.slice(-decimals);
  return `${minor < 0 ? '-' : ''}${grouped}${fraction}`;
}

export function writeTime(date: Date, { dates, mark, times }: Pick<Style, 'dates' | 'mark' | 'times'>): string {
  const iso = date.toISOString();
  const [year, month, day] = [iso.slice(0, 4), iso.slice(5, 7), iso.slice(8, 10)];
  const clock = iso.slice(11, 19);
  if (times === 'offset') return `${iso.slice(0, 10)} ${clock} +0000`;
  if (times === 'iso') return `${iso.slice(0, 10)} ${clock}`;
  if (times === 'mdy') return `${month}/${day}/${year.slice(2)}`;
  if (times === 'named') return date.toLocaleDateString('en-US', { dateStyle: 'medium', timeZone: 'UTC' });
  const parts = { dmy: [day, month, year], mdy: [month, day, year], ymd: [year, month, day] }[dates];
  return `${parts.join(mark)} ${clock.slice(0, 5)}`;
}

function quote(cell: string, separator: string): string {
  return cell.includes(separator) || /["\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

export interface Case {
  name: string;
  seed: number;
  format: Format;
  locale: Locale;
  damage: Damage;
  bytes: Buffer;
  truth: Truth[];
  /** What a person who knows the file answers, by the code of the question. */
  answers: Mapping;
  isPristine: boolean;
}

const WINDOWS_1250 = new Map(
  Array.from(
    { length: 256 },
    (_, byte) => [new TextDecoder('windows-1250').decode(Uint8Array.of(byte)), byte] as const,
  ),
);
const WINDOWS_1252 = new Map(
  Array.from(
    { length: 256 },
    (_, byte) => [new TextDecoder('windows-1252').decode(Uint8Array.of(byte)), byte] as const,
  ),
);

function encode(content: string, encoding: Locale['encoding'] | 'utf-8'): Buffer {
  if (encoding === 'utf-8') return Buffer.from(content);
  if (encoding === 'utf-16le') return Buffer.from(`\ufeff${content}`, 'utf16le');
  const table = encoding === 'windows-1250' ? WINDOWS_1250 : WINDOWS_1252;
  return Buffer.from([...content].map((character) => table.get(character) ?? 0x3f));
}

/** Writes a file as a format in a country would, with one thing done to it. */
export function makeCase(seed: number, format: Format, locale: Locale, damage: Damage): Case {
  const random = makeRandom(seed);
  const made = format.make(random, locale, 6 + below(random, 10));
  let { headers, rows } = made;
  let truth = made.truth;
  const decimals = locale.currency === 'JPY' ? 0 : 2;
  const style: Style = {
    decimal: format.isLocal ? locale.decimal : '.',
    group: format.isLocal ? locale.group : '',
    dates: format.times === 'mdy' ? 'mdy' : locale.dates,
    mark: locale.mark,
    times: format.times,
    isCents: damage === 'cents' && !format.isOwn,
    decimals,
  };
  let separator = format.isLocal ? locale.separator : ',';
  if (damage === 'separator') separator = pick(random, [',', ';', '\t', '|']);
  if (damage === 'decimals') {
    style.decimal = style.decimal === '.' ? ',' : '.';
    style.group = '';
    separator = ';';
  }
  if (damage === 'dates' && format.times !== 'named' && format.key !== 'etsy') style.times = 'locale';
  if (damage === 'moved')
    headers = headers
      .map((header) => ({ header, at: random() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ header }) => header);
  if (damage === 'repeated' && rows[0]) rows = [...rows, rows[0]];
  if (damage === 'spread' && format.of === 'orders' && rows[0]) {
    const keep = new Set([
      headers.find((header) => /^(?:Name|Order|order_id|order_number|Payment ID|id|Bestellnummer)/.test(header)) ?? '',
    ]);
    rows = [
      ...rows,
      Object.fromEntries(
        headers.map((header) => [header, keep.has(header) ? (rows[0]?.[header] ?? text('')) : text('')]),
      ),
    ];
  }
  if (damage === 'status' && format.statusColumn) {
    const column = format.statusColumn;
    rows = rows.map((row, i) => (i === 0 ? { ...row, [column]: text('Wartet auf Abholung') } : row));
    truth = truth.slice(1);
  }
  const cellText = (cell: Cell | undefined, header: string): string => {
    if (!cell) return '';
    if ('money' in cell) return writeMoney(cell.money, style);
    if ('at' in cell) return writeTime(cell.at, style);
    if ('id' in cell) return damage === 'ids' && header === format.idColumn ? '5.82E+12' : cell.id;
    return cell.text;
  };
  const lines = rows.map((row) => headers.map((header) => cellText(row[header], header)));
  let shown = headers;
  if (damage === 'renamed') shown = headers.map((header) => format.renames?.[header] ?? header);
  if (damage === 'added') {
    shown = [...shown, 'Internal remark'];
    for (const line of lines) line.push('x');
  }
  if (damage === 'totals' && format.amountColumn !== '') {
    const sums = headers.map((header) =>
      rows.reduce(
        (sum, row) => sum + ('money' in (row[header] ?? text('')) ? Number(Object.values(row[header] ?? {})[0]) : 0),
        0,
      ),
    );
    const hasMoney = headers.map((header) => 'money' in (rows[0]?.[header] ?? {}));
    lines.push(headers.map((_, i) => (hasMoney[i] ? writeMoney(sums[i] ?? 0, style) : i === 0 ? 'Total' : '')));
  }
  const before = damage === 'preamble' ? [['My shop: orders'], ['Exported on 2026-11-20'], ['']] : [];
  const content = `${[...before, shown, ...lines].map((cells) => cells.map((cell) => quote(cell, separator)).join(separator)).join('\r\n')}\r\n`;
  const bytes = encode(
    damage === 'bom' ? `\ufeff${content}` : content,
    damage === 'encoding' ? locale.encoding : 'utf-8',
  );
  const answers: Mapping = {
    dates: style.dates,
    decimal: style.decimal,
    unit: style.isCents ? 'minor' : 'major',
    tax_in_prices: 'proportional',
    partial_refunds: 'proportional',
    constants: { currency: locale.currency },
    columns: { amount: format.amountColumn },
    statuses: { wartetaufabholung: 'left_out' },
    ...(format.goods === undefined ? {} : { goods: format.goods }),
  };
  const name = `${format.key} ${locale.key} ${damage} #${seed}`;
  return {
    name,
    seed,
    format,
    locale,
    damage,
    bytes,
    truth: truth.flatMap((each) => each ?? []),
    answers,
    isPristine: damage === 'none',
  };
}

export { NOW };
