import type { Oracle, OracleCommission, OracleLink, OracleOrder, Reported } from './model.ts';

/** A customer whom a link brought. */
export interface OracleCustomer {
  link: OracleLink;
  ratePpm: number;
  /** Only the first payment earns: the link did not pay renewals, and the order was a trial of 0.00. */
  isTrial: boolean;
  first: OracleOrder;
  customer: number;
  since: number;
}

/** What the newest report of an order says that counts as a payment. */
function isPayment({ reported }: OracleOrder): boolean {
  const newest = reported.reduce((a, b) => (b.updatedAt > a.updatedAt ? b : a));
  const isPaid = reported.some(({ paidAt }) => paidAt !== null);
  return newest.baseMinor > 0 && (isPaid || newest.cancelledAt === null);
}

function runs(oracle: Oracle, row: OracleCustomer, before: number): boolean {
  if (row.first.commission?.review === 'rejected') return false;
  if (!row.isTrial) return true;
  return ![...oracle.orders.values()].some((order) => {
    const [placed] = order.reported;
    const isOfRow = order === row.first || order.commission?.customer === row;
    return isOfRow && placed !== undefined && placed.occurredAt < before && isPayment(order);
  });
}

/** A renewal that nothing it carries wins belongs to whoever brought its customer last. */
export function attributeToCustomer(oracle: Oracle, reported: Reported): OracleCommission | null {
  const { customer, occurredAt, store } = reported;
  if (!reported.isRenewal || reported.isTest || customer === null) return null;
  const known = oracle.customers.filter(
    (row) =>
      row.customer === customer && row.since <= occurredAt && (row.link.store === null || row.link.store === store),
  );
  const row = known.toSorted((a, b) => a.since - b.since).at(-1);
  if (!row || !runs(oracle, row, occurredAt)) return null;
  const { link, ratePpm } = row;
  const fixed = { clickId: null, code: null, review: 'pending' as const, paidMinor: 0, manualMinor: null };
  return { link, ratePpm, holdDays: link.holdDays, customer: row, ...fixed };
}

/** The customer that an order begins which a code or click won; undefined if it begins none. */
export function beginCustomer(
  oracle: Oracle,
  order: OracleOrder,
  { link, ratePpm }: OracleCommission,
  { customer, isRenewal, baseMinor, occurredAt }: Reported,
): OracleCustomer | undefined {
  if (isRenewal || customer === null || (!link.paysRenewals && baseMinor > 0)) return undefined;
  const row = { link, ratePpm, isTrial: !link.paysRenewals, first: order, customer, since: occurredAt };
  oracle.customers.push(row);
  return row;
}
