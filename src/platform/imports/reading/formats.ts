import { fold } from './fold.ts';
import type { Format } from './formats/format.ts';
import { ORDER_FORMATS } from './formats/orders.ts';
import { PEOPLE_FORMATS } from './formats/people.ts';
import { isOrders, type Kind } from './kinds.ts';

export const FORMATS: readonly Format[] = [...ORDER_FORMATS, ...PEOPLE_FORMATS];

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

const OWN_FORMAT: Format = {
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
/** In the download of orders, the status is that of their commissions. */
const OWN_ORDERS: Format = { ...OWN_FORMAT, columns: { ...OWN_FORMAT.columns, status: null } };

/** The format whose headers a file has; the one that needs most of them wins. */
export function findFormat(of: Kind, headers: readonly string[]): Format | undefined {
  if (isOwn(of, headers)) return isOrders(of) && headers.includes('commission_id') ? OWN_ORDERS : OWN_FORMAT;
  const foldedHeaders = new Set(headers.map(fold));
  const has = (name: string) => foldedHeaders.has(fold(name));
  const isExact = ({ needs }: Format) =>
    headers.every((header) => needs.some((names) => names.some((name) => fold(name) === fold(header))));
  const fits = FORMATS.filter((format) => {
    const isWhole = format.of.includes(of) && format.needs.every((names) => names.some(has));
    return isWhole && !format.lacks?.some(has) && (!format.isExact || isExact(format));
  });
  return fits.toSorted((a, b) => b.needs.length - a.needs.length)[0];
}

export const findFormatByKey = (key: string | null): Format | undefined =>
  key === OWN_FORMAT.key ? OWN_FORMAT : FORMATS.find((format) => format.key === key);

/** Headers, folded, of files that hold something else than is asked of them, with the file that should be sent. */
const WRONG_FILES: readonly { has: readonly (readonly string[])[]; lacks?: string; message: string }[] = [
  {
    has: [['saledate'], ['itemname'], ['transactionid']],
    lacks: 'ordernet',
    message:
      "This is Etsy's file of sold order items, which lacks orders' totals. Download “Orders”, not “Order Items”.",
  },
  {
    has: [['transactionid'], ['paymentid'], ['grosssales'], ['itemizationtype', 'pricepointname']],
    message:
      "This is Square's file of items, which has a line for each item sold. In Square's dashboard open Transactions, and export “Transactions CSV”, not “Items detail CSV”.",
  },
  {
    has: [['amazonorderid'], ['itemprice'], ['asin', 'sku']],
    message:
      "This is Amazon's order report, which has a line for each item, with a part of its order's amount. Make one line for each order, such as by a pivot table of amazon-order-id: its purchase-date and currency, and as amount the sum of item-price less item-promotion-discount and the tax in it.",
  },
  {
    has: [['asin'], ['trackingid', 'linktype', 'iddeseguimiento', 'partnerid', 'trackingidnummer']],
    message:
      "This is a report of Amazon Associates. It says what Amazon pays for each item that was sold, and names no creator, order or payment. Send a file with a line for each of what is recorded, such as each commission that you paid, with the creator's email address, amount, currency and day.",
  },
];

/** The reason to refuse a file that holds something else; undefined for any other file. */
export function findWrongFile(headers: readonly string[]): string | undefined {
  const foldedHeaders = new Set(headers.map(fold));
  return WRONG_FILES.find(
    ({ has, lacks }) =>
      has.every((names) => names.some((name) => foldedHeaders.has(name))) &&
      (lacks === undefined || !foldedHeaders.has(lacks)),
  )?.message;
}
