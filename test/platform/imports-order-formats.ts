import { at, below, id, type Locale, money, pick, type Random, type Row, type Truth, text } from './imports-draw.ts';
import type { Format, Made } from './imports-format.ts';

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
const [shopifyWords, wooWords, stripeWords, eddWords] = ['shopify', 'woo', 'stripe', 'edd'].map(
  (key) => STATUS_WORDS[key],
);
if (!shopifyWords || !wooWords || !stripeWords || !eddWords) throw new Error('Words of a tool are missing.');
const upper = Object.fromEntries(Object.entries(shopifyWords).map(([key, word]) => [key, word.toUpperCase()]));
export const ORDER_FORMATS: readonly Format[] = [
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
];
