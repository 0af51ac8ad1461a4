import { fold } from './fold.ts';
import type { Kind } from './kinds.ts';
import type { DateOrder, Goods } from './shapes.ts';

/** Rows that a tool's own file does not mean. */
export interface LeftOut {
  column: string;
  /** Folded values; `filled` means any. */
  values: readonly string[] | 'filled' | 'not_filled';
  kind: string;
}

/** A file of a tool, as its own code or documentation, or public files of others, show it. */
export interface Format {
  key: string;
  name: string;
  of: readonly Kind[];
  /** Headers that all must be there; several in one entry are alternatives. */
  needs: readonly (readonly string[])[];
  /** Headers that must not be there. */
  lacks?: readonly string[];
  /** Fields by the headers that are them; null says that no column is. */
  columns: Readonly<Record<string, readonly string[] | null>>;
  goods?: Goods;
  /** The amount includes tax and shipping, so what it means is asked. */
  asksGoods?: boolean;
  /** The order of day and month, where the tool always writes so. */
  dates?: DateOrder;
  isUtc?: boolean;
  /** The platform whose connected store has the currency that the file lacks. */
  platform?: string;
  /** A column says the currency, whatever sign stands beside the amounts. */
  ignoresSigns?: boolean;
  leftOut?: readonly LeftOut[];
  /** Negative amounts are what was sent. */
  isNegative?: boolean;
  /** A second row of an order with a negative amount is a refund. */
  hasRefundRows?: boolean;
  /** Rows of one reference are one payment. */
  groups?: boolean;
  rate?: 'percent' | 'fraction';
  /** The file is an order to pay, not a proof of payment. */
  asksProof?: boolean;
  /** Quotes have a backslash before them. */
  hasSlashes?: boolean;
  warning?: string;
}

const SHOPIFY_PARTS = {
  placed_at: ['Created at'],
  paid_at: ['Paid at'],
  cancelled_at: ['Cancelled at', 'Canceled at'],
  currency: ['Currency'],
  subtotal: ['Subtotal'],
  shipping: ['Shipping'],
  taxes: ['Taxes'],
  total: ['Total'],
  discount: ['Discount Amount'],
  codes: ['Discount Code'],
  customer_email: ['Email'],
  status: ['Financial Status'],
  sku: ['Lineitem sku'],
  title: ['Lineitem name'],
  quantity: ['Lineitem quantity'],
  line_amount: ['Lineitem price'],
  amount: null,
} as const;

const ORDERS: readonly Kind[] = ['orders', 'reconciliation'];
const PAID: readonly Kind[] = ['commissions', 'payouts'];
const PEOPLE: readonly Kind[] = ['roster', 'payment_details'];

export const FORMATS: readonly Format[] = [
  {
    key: 'shopify_orders',
    name: "Shopify's orders export",
    of: ORDERS,
    needs: [['Name'], ['Financial Status'], ['Lineitem quantity', 'Subtotal'], ['Created at']],
    lacks: ['Order ID'],
    columns: { ...SHOPIFY_PARTS, order_id: ['Id'], order_number: ['Name'], refunded: ['Refunded Amount'] },
    goods: 'subtotal',
    platform: 'shopify',
  },
  {
    key: 'squarespace_orders',
    name: "Squarespace's orders export",
    of: ORDERS,
    needs: [['Order ID'], ['Amount Refunded'], ['Lineitem variant', 'Private Notes'], ['Financial Status']],
    columns: { ...SHOPIFY_PARTS, order_id: null, order_number: ['Order ID'], refunded: ['Amount Refunded'] },
    goods: 'subtotal',
  },
  {
    key: 'woocommerce_analytics',
    name: 'WooCommerce Analytics, Orders',
    of: ORDERS,
    needs: [['Order #'], ['N. Revenue (formatted)'], ['Net Sales']],
    columns: {
      placed_at: ['Date'],
      order_id: null,
      order_number: ['Order #'],
      amount: ['Net Sales'],
      total: null,
      status: ['Status'],
      codes: ['Coupon(s)'],
    },
    goods: 'amount',
    platform: 'woocommerce',
    hasRefundRows: true,
  },
  {
    key: 'advanced_order_export',
    name: 'Advanced Order Export for WooCommerce',
    of: ORDERS,
    needs: [['Order Number'], ['Order Subtotal Amount'], ['Order Total Amount']],
    columns: {
      order_number: ['Order Number'],
      order_id: ['Order ID'],
      status: ['Order Status'],
      placed_at: ['Order Date'],
      subtotal: ['Order Subtotal Amount'],
      discount: ['Cart Discount Amount'],
      refunded: ['Order Refund Amount'],
      shipping: ['Order Shipping Amount'],
      taxes: ['Order Total Tax Amount'],
      total: ['Order Total Amount'],
      currency: ['Currency'],
      amount: null,
    },
    goods: 'subtotal_less_discount',
    platform: 'woocommerce',
  },
  {
    key: 'webtoffee_orders',
    name: "WebToffee's order export for WooCommerce",
    of: ORDERS,
    needs: [['order_id'], ['order_number'], ['order_subtotal'], ['wt_import_key']],
    columns: {
      order_id: ['order_id'],
      order_number: ['order_number'],
      status: ['status'],
      placed_at: ['order_date'],
      paid_at: ['paid_date'],
      currency: ['order_currency'],
      subtotal: ['order_subtotal'],
      discount: ['discount_total'],
      taxes: ['tax_total'],
      shipping: ['shipping_total'],
      fees: ['fee_total'],
      total: ['order_total'],
      customer_email: ['billing_email'],
      refunded: ['refund_items'],
      amount: null,
    },
    goods: 'subtotal_less_discount',
    platform: 'woocommerce',
  },
  {
    key: 'etsy_orders',
    name: "Etsy's sold orders",
    of: ORDERS,
    needs: [['Sale Date', 'Date Posted'], ['Order Value'], ['Order Net']],
    columns: {
      order_id: ['Order ID'],
      placed_at: ['Sale Date', 'Date Posted'],
      currency: ['Currency'],
      subtotal: ['Order Value'],
      discount: ['Discount Amount'],
      shipping: ['Shipping', 'Delivery'],
      taxes: ['Sales Tax'],
      total: ['Order Total'],
      adjusted_total: ['Adjusted Order Total'],
      codes: ['Coupon Code'],
      status: ['Status'],
      amount: null,
    },
    goods: 'subtotal_less_discount',
    dates: 'mdy',
  },
  {
    key: 'edd_3_orders',
    name: "Easy Digital Downloads' orders",
    of: ORDERS,
    needs: [['Order ID'], ['Products (Raw)']],
    columns: {
      order_id: ['Order ID'],
      order_number: ['Order Number'],
      total: ['Amount'],
      taxes: ['Tax'],
      refunded: ['Refunded'],
      refunded_tax: ['Refunded Tax'],
      currency: ['Currency'],
      placed_at: ['Date'],
      test: ['Mode (Live|Test)'],
      status: ['Status'],
      customer_email: ['Email'],
      codes: ['Discount Code'],
      amount: null,
      discount: null,
    },
    goods: 'total_less_rest',
    isUtc: true,
    hasSlashes: true,
  },
  {
    key: 'edd_2_payments',
    name: "Easy Digital Downloads 2's payments",
    of: ORDERS,
    needs: [['Payment ID'], ['Amount ($)', 'Amount (€)', 'Amount (£)', 'Amount']],
    columns: {
      order_id: ['Payment ID'],
      order_number: ['Payment Number'],
      total: ['Amount ($)', 'Amount (€)', 'Amount (£)', 'Amount'],
      taxes: ['Tax ($)', 'Tax (€)', 'Tax (£)', 'Tax'],
      currency: ['Currency'],
      placed_at: ['Date'],
      test: ['Mode (Live|Test)'],
      status: ['Status'],
      customer_email: ['Email'],
      codes: ['Discount Code'],
      amount: null,
    },
    goods: 'total_less_rest',
    hasSlashes: true,
  },
  {
    key: 'stripe_payments',
    name: "Stripe's payments",
    of: ORDERS,
    needs: [['Created (UTC)', 'Created date (UTC)'], ['Amount Refunded'], ['Captured']],
    columns: {
      order_id: ['id'],
      placed_at: ['Created (UTC)', 'Created date (UTC)'],
      total: ['Amount'],
      refunded: ['Amount Refunded'],
      currency: ['Currency'],
      customer_email: ['Customer Email'],
      status: ['Status'],
      amount: null,
      fees: null,
      taxes: null,
    },
    asksGoods: true,
    isUtc: true,
    leftOut: [{ column: 'Captured', values: ['false'], kind: 'not_captured' }],
  },
  {
    key: 'affiliatewp_referrals',
    name: "AffiliateWP's referrals",
    of: PAID,
    needs: [['Affiliate ID'], ['Payment Email'], ['Context']],
    columns: {
      email: ['Email'],
      name: ['Name'],
      handle: null,
      amount: ['Amount'],
      currency: ['Currency'],
      reference: ['Reference'],
      status: ['Status'],
      paid_at: ['Date'],
      sale_amount: null,
    },
    hasSlashes: true,
    warning: 'The date of a referral is that of the sale; it is taken as the date of its payment.',
  },
  {
    key: 'affiliatewp_affiliates',
    name: "AffiliateWP's affiliates",
    of: PEOPLE,
    needs: [['Rate'], ['Rate Type'], ['Date Registered']],
    columns: {
      email: ['Email'],
      name: ['Name'],
      payment_email: ['Payment Email'],
      status: ['Status'],
      rate: ['Rate'],
      external_id: ['Affiliate ID'],
    },
    rate: 'fraction',
    hasSlashes: true,
  },
  {
    key: 'slicewp_payouts',
    name: "SliceWP's payout file",
    of: PAID,
    needs: [['ID'], ['Name'], ['Email'], ['Amount'], ['Currency']],
    lacks: ['Date', 'Status', 'Reference'],
    columns: { reference: ['ID'], name: ['Name'], email: ['Email'], amount: ['Amount'], currency: ['Currency'] },
    asksProof: true,
  },
  {
    key: 'affiliatewp_payouts',
    name: "AffiliateWP's payout file",
    of: PAID,
    needs: [['Email'], ['Amount'], ['Currency']],
    lacks: ['Date', 'Paid at', 'Status', 'Reference', 'paid_at', 'ID'],
    columns: { email: ['Email'], amount: ['Amount'], currency: ['Currency'] },
    asksProof: true,
  },
  {
    key: 'dub_commissions',
    name: "Dub's commissions",
    of: PAID,
    needs: [['Earnings'], ['Invoice ID']],
    columns: {
      amount: ['Earnings'],
      sale_amount: ['Amount'],
      currency: ['Currency'],
      email: ['Partner email'],
      name: ['Partner name'],
      paid_at: ['Paid at', 'Date', 'Created at'],
      status: ['Status'],
      reference: ['ID', 'Commission ID', 'Invoice ID'],
    },
    ignoresSigns: true,
  },
  {
    key: 'dub_payouts',
    name: "Dub's payouts",
    of: PAID,
    needs: [['Payout method'], ['Period start']],
    columns: {
      amount: ['Amount'],
      currency: ['Currency'],
      email: ['Partner email'],
      name: ['Partner name'],
      paid_at: ['Paid at'],
      status: ['Status'],
      reference: ['ID', 'Payout ID'],
      method: ['Payout method'],
    },
    ignoresSigns: true,
  },
  {
    key: 'tapfiliate_conversions',
    name: "Tapfiliate's conversions",
    of: PAID,
    needs: [['external_id'], ['commission_amount'], ['affiliate_email']],
    columns: {
      amount: ['commission_amount'],
      sale_amount: ['amount'],
      email: ['affiliate_email'],
      reference: ['external_id'],
      status: ['commission_status'],
    },
  },
  {
    key: 'uppromote_referrals',
    name: "UpPromote's referrals",
    of: PAID,
    needs: [['email'], ['total_sales'], ['commission_amount']],
    columns: { email: ['email'], amount: ['commission_amount'], sale_amount: ['total_sales'] },
  },
  {
    key: 'refersion_people',
    name: "Refersion's affiliates",
    of: PEOPLE,
    needs: [['Email Address'], ['Offer ID'], ['PayPal email']],
    columns: {
      email: ['Email Address'],
      first_name: ['First Name'],
      last_name: ['Last Name'],
      code: ['Coupon'],
      payment_email: ['PayPal email'],
    },
  },
  {
    key: 'rewardful_people',
    name: "Rewardful's affiliates",
    of: PEOPLE,
    needs: [['stripe_customer_id'], ['token'], ['paypal_email', 'wise_email']],
    columns: { link: ['token'], payment_email: ['paypal_email'], external_id: null },
  },
  {
    key: 'partnerstack_people',
    name: "PartnerStack's partners",
    of: PEOPLE,
    needs: [['Partner_email'], ['partner_key']],
    columns: {
      email: ['Partner_email'],
      first_name: ['Partner_first'],
      last_name: ['Partner_last'],
      external_id: ['partner_key'],
    },
  },
  {
    key: 'paypal_activity',
    name: "PayPal's activity",
    of: PAID,
    needs: [
      ['TimeZone', 'Time Zone', 'Zeitzone'],
      ['Gross', 'Brutto'],
      ['To Email Address', 'Empfänger E-Mail-Adresse', 'An E-Mail-Adresse'],
    ],
    columns: {
      email: ['To Email Address', 'Empfänger E-Mail-Adresse', 'An E-Mail-Adresse'],
      name: ['Name'],
      amount: ['Gross', 'Brutto'],
      currency: ['Currency', 'Währung'],
      reference: ['Transaction ID', 'Transaktionscode'],
      paid_at: ['Date', 'Datum'],
      time: ['Time', 'Uhrzeit'],
      time_zone: ['TimeZone', 'Time Zone', 'Zeitzone'],
      status: ['Status'],
      fee: ['Fee', 'Entgelt', 'Gebühr'],
      sale_amount: null,
      code: null,
      handle: null,
    },
    isNegative: true,
  },
  {
    key: 'wise_history',
    name: "Wise's history",
    of: PAID,
    needs: [['Target amount (after fees)'], ['Direction']],
    columns: {
      amount: ['Target amount (after fees)'],
      currency: ['Target currency'],
      reference: ['ID'],
      paid_at: ['Finished on'],
      name: ['Target name'],
      status: ['Status'],
      email: null,
      fee: null,
    },
    groups: true,
    leftOut: [{ column: 'Direction', values: ['in', 'neutral'], kind: 'not_sent' }],
  },
  {
    key: 'firstpromoter_commissions',
    name: "FirstPromoter's commissions",
    of: PAID,
    needs: [['is_paid'], ['unit'], ['amount']],
    columns: { amount: ['amount'] },
    leftOut: [
      { column: 'unit', values: ['points', 'credits', 'months', 'free_months', 'discount'], kind: 'not_money' },
    ],
  },
  {
    key: 'mailchimp_audience',
    name: "Mailchimp's audience",
    of: PEOPLE,
    needs: [['MEMBER_RATING'], ['Email Address']],
    columns: { email: ['Email Address'], first_name: ['First Name'], last_name: ['Last Name'], tags: ['TAGS'] },
    leftOut: [{ column: 'UNSUB_TIME', values: 'filled', kind: 'unsubscribed' }],
  },
  {
    key: 'google_form',
    name: 'Google Forms',
    of: PEOPLE,
    needs: [['Timestamp', 'Zeitstempel', 'Horodateur', 'Marca temporal']],
    columns: {},
  },
  { key: 'typeform', name: 'Typeform', of: PEOPLE, needs: [['Submit Date (UTC)']], columns: {} },
];

const OWN_NEEDS: Readonly<Partial<Record<Kind, readonly (readonly string[])[]>>> = {
  orders: [['order_id', 'order_number'], ['placed_at', 'occurred_at'], ['amount'], ['currency']],
  reconciliation: [['order_id', 'order_number'], ['placed_at', 'occurred_at'], ['amount'], ['currency']],
  commissions: [['creator_email', 'email'], ['amount'], ['currency'], ['paid_at']],
  payouts: [['creator_email', 'email'], ['amount'], ['currency'], ['paid_at']],
};

/** Our own downloads have our field names, written as we write them. */
function isOwn(of: Kind, headers: readonly string[]): boolean {
  const needs = OWN_NEEDS[of];
  return needs?.every((names) => names.some((name) => headers.includes(name))) ?? false;
}

export const OWN_FORMAT: Format = {
  key: 'rollcall',
  name: "Rollcall's own download",
  of: ['orders', 'reconciliation', 'commissions', 'payouts'],
  needs: [],
  columns: {
    placed_at: ['placed_at', 'occurred_at'],
    email: ['creator_email', 'email'],
    customer_email: ['customer_email'],
    order_id: ['order_id'],
    order_number: ['order_number'],
    amount: ['amount'],
    refunded: ['refunded'],
    currency: ['currency'],
    paid_at: ['paid_at'],
    reference: ['reference'],
    status: ['status'],
  },
  goods: 'amount',
};

/** The format whose headers a file has; the one that needs most of them wins. */
export function findFormat(of: Kind, headers: readonly string[]): Format | undefined {
  if (isOwn(of, headers)) return OWN_FORMAT;
  const folded = new Set(headers.map(fold));
  const has = (name: string) => folded.has(fold(name));
  const fits = FORMATS.filter(
    (format) =>
      format.of.includes(of) && format.needs.every((names) => names.some(has)) && !(format.lacks ?? []).some(has),
  );
  return fits.toSorted((a, b) => b.needs.length - a.needs.length)[0];
}

export const findFormatByKey = (key: string | null): Format | undefined =>
  key === OWN_FORMAT.key ? OWN_FORMAT : FORMATS.find((format) => format.key === key);

/** Files that hold something else than what is asked of them, with the file that should be sent. */
export function findWrongFile(headers: readonly string[]): string | undefined {
  const folded = new Set(headers.map(fold));
  const isItems = folded.has('saledate') && folded.has('itemname') && folded.has('transactionid');
  return isItems && !folded.has('ordernet')
    ? "This is Etsy's file of sold order items, which says nothing of orders' totals. Choose “Orders” instead of “Order Items” when you download it."
    : undefined;
}
