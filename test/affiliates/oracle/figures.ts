import { type Oracle, type OracleClick, type OracleLink, standings } from './model.ts';

export interface Figures {
  clicks: number;
  conversions: number;
  revenue: number;
  pending: number;
  approved: number;
  paid: number;
  /** Money taken back after payment, as a negative number. */
  adjustment: number;
}

export const NOTHING: Figures = {
  ...{ clicks: 0, conversions: 0, revenue: 0, pending: 0, approved: 0, paid: 0, adjustment: 0 },
};

/** Something that counts on a link, in a currency, at a time. */
export interface Happening extends Partial<Figures> {
  link: OracleLink;
  currency: string;
  at: number;
  /** What it takes off the revenue. */
  refund?: number;
  /** The click itself, or that which won the order. */
  click?: OracleClick | undefined;
  /** The place of the order's store; undefined of a click, and of a commission without an order. */
  store?: number | undefined;
  isManual?: boolean;
}

/** Everything that any figure counts. */
export function happenings(oracle: Oracle): Happening[] {
  const clicks = oracle.clicks.flatMap((click): Happening[] => {
    const { link, at, isCounted } = click;
    return link && isCounted ? [{ link, currency: link.currency, at, clicks: 1, click }] : [];
  });
  const clickOf = (id: string | null) => oracle.clicks.find((click) => click.id === id);
  const money = standings(oracle).flatMap((one): Happening[] => {
    const { commission, order, currency, status, occurredAt, baseMinor, dueMinor, counted, losses, paidAt } = one;
    if (paidAt === null) return [];
    const { link } = commission;
    const isManual = commission.manualMinor !== null;
    const store = isManual ? undefined : order.reported[0]?.store;
    const of = { link, currency, click: clickOf(commission.clickId), store, isManual };
    const owed = status === 'rejected' ? [] : [{ ...of, at: occurredAt, [status]: dueMinor }];
    if (isManual) return owed;
    return [
      { ...of, at: occurredAt, conversions: 1, revenue: baseMinor },
      ...owed,
      ...counted.map(({ minor, at }) => ({ ...of, at, revenue: -minor, refund: minor })),
      ...losses.map(({ minor, at }) => ({ ...of, at, adjustment: -minor })),
    ];
  });
  return [...clicks, ...money];
}

export const commissionOf = ({ pending, approved, paid, adjustment }: Figures): number =>
  pending + approved + paid + adjustment;

function add(sum: Figures, one: Partial<Figures>): Figures {
  return {
    clicks: sum.clicks + (one.clicks ?? 0),
    conversions: sum.conversions + (one.conversions ?? 0),
    revenue: sum.revenue + (one.revenue ?? 0),
    pending: sum.pending + (one.pending ?? 0),
    approved: sum.approved + (one.approved ?? 0),
    paid: sum.paid + (one.paid ?? 0),
    adjustment: sum.adjustment + (one.adjustment ?? 0),
  };
}

/** Sums by any key, such as a link and a currency; those of which nothing is left are left out. */
export function sumBy(rows: readonly Happening[], keyOf: (row: Happening) => string): Record<string, Figures> {
  const sums: Record<string, Figures> = {};
  for (const row of rows) sums[keyOf(row)] = add(sums[keyOf(row)] ?? NOTHING, row);
  return Object.fromEntries(Object.entries(sums).filter(([, sum]) => Object.values(sum).some((value) => value !== 0)));
}

export const within = (rows: readonly Happening[], from: number, until: number): Happening[] =>
  rows.filter(({ at }) => from <= at && at < until);

/** The ledger's balances, debits positive: sums over orders, not over entries. */
export function balancesOf(oracle: Oracle): Record<string, number> {
  const sums: Record<string, number> = {};
  const book = (currency: string, debit: string, credit: string, minor: number) => {
    for (const [account, sign] of [[debit, 1] as const, [credit, -1] as const]) {
      const key = `${currency} ${account}`;
      sums[key] = (sums[key] ?? 0) + sign * minor;
    }
  };
  for (const { currency, paidAt, baseMinor, leftMinor, status, dueMinor, losses } of standings(oracle)) {
    if (paidAt === null) continue;
    book(currency, 'customers', 'sales', baseMinor);
    book(currency, 'sales_refunds', 'customers', baseMinor - leftMinor);
    if (status !== 'rejected') book(currency, 'commission_expense', `commission_${status}`, dueMinor);
    for (const { minor } of losses) book(currency, 'refund_adjustment', 'commission_expense', minor);
  }
  for (const payout of oracle.payouts) {
    const { currency, amountMinor, isFee, allocatedMinor, nettedMinor } = payout;
    book(currency, isFee ? 'fees' : 'unallocated', 'cash', amountMinor);
    book(currency, 'commission_settled', 'unallocated', allocatedMinor);
    book(currency, 'unallocated', 'adjustments_netted', nettedMinor);
  }
  return Object.fromEntries(Object.entries(sums).filter(([, minor]) => minor !== 0));
}
