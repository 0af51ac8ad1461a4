import {
  type CustomerOrder,
  type CustomerRow,
  type DecidedOrder,
  findOrDraftRow,
  listOrdersToDecideAgain,
  type RowDraft,
  type WinningLink,
} from '../../src/affiliates/terms/customer-rows.ts';
import { type CustomerDecision, decideByCustomer } from '../../src/affiliates/terms/customers.ts';
import { price } from '../../src/analytics/pricing/price.ts';
import { Terms } from '../../src/workflow/terms/terms.shapes.ts';

export const SHOP = 'int_shop';

export function link(creatorId: string, terms: unknown, boundTo: string | null = null): WinningLink {
  return { linkId: `lnk_${creatorId}`, creatorId, boundTo, terms: Terms.parse(terms) };
}

/** An order by its number; numbers also say in which order equal times were recorded. */
export interface Reported extends Partial<Omit<CustomerOrder, 'id'>> {
  id: string;
  placedAt: Date;
}

export interface WorldOptions {
  policy?: 'order_wins' | 'customer_wins';
  minimumMinor?: number;
  now?: Date;
}

/** Everything of one order: its decision, and the commission that it pays whom. */
export interface Outcome {
  order: DecidedOrder;
  decision: CustomerDecision;
  paid: { creatorId: string; minor: number } | null;
}

/** A brand in memory, which decides orders one by one as its stores report them. */
export function createWorld({ policy = 'order_wins', minimumMinor = 0, now }: WorldOptions = {}) {
  const rows: CustomerRow[] = [];
  const outcomes = new Map<string, Outcome>();
  const orders = () => [...outcomes.values()].map(({ order }) => order);

  function addRow(draft: RowDraft): CustomerRow {
    const row = { ...draft, id: `cus_${String(rows.length).padStart(6, '0')}` };
    rows.push(row);
    return row;
  }

  function pay(order: CustomerOrder, terms: Terms, payment: number, by: 'code' | 'click' | 'customer'): number {
    const { amountMinor, placedAt, kind } = order;
    return price({
      order: { currency: 'USD', amountMinor, placedAt },
      lines: [],
      refunds: [],
      isEnded: false,
      terms,
      facts: { customer: null, country: null, kind, by, payment, volume: null },
      room: null,
    }).commissionMinor;
  }

  function decide(order: DecidedOrder, carried: { type: 'code' | 'click'; link: WinningLink } | undefined): Outcome {
    const isBelowMinimum = order.amountMinor < minimumMinor;
    const isUnqualified = order.kind === 'renewal' && carried?.link.terms.covers === 'order';
    const winner = isUnqualified || isBelowMinimum ? undefined : carried;
    const decision = decideByCustomer({
      order,
      rows,
      orders: orders(),
      carried: winner ? { type: winner.type, creatorId: winner.link.creatorId } : null,
      policy,
      isBelowMinimum,
    });
    if (decision.winner === 'carried' && winner) return decideByCarried(order, winner, decision);
    const { candidate } = decision;
    const row = decision.draft ? addRow(decision.draft) : rows.find(({ id }) => id === candidate?.rowId);
    if (!row || !candidate) return { order: { ...order, owner: null, rule: null }, decision, paid: null };
    const isPaid = decision.winner === 'customer';
    const { linkId, creatorId, boundTo, terms } = row;
    const owner = { rowId: row.id, linkId, creatorId, boundTo, terms, isRejected: false };
    const minor = isPaid ? pay(order, terms, candidate.payment ?? 1, 'customer') : 0;
    return {
      order: { ...order, owner, rule: decision.rule, hasCommission: isPaid },
      decision,
      paid: isPaid ? { creatorId, minor } : null,
    };
  }

  function decideByCarried(
    order: DecidedOrder,
    { type, link: winner }: { type: 'code' | 'click'; link: WinningLink },
    decision: CustomerDecision,
  ): Outcome {
    const started = findOrDraftRow(order, winner, rows, orders());
    const row = started && ('draft' in started ? addRow(started.draft) : started.existing);
    return {
      order: {
        ...order,
        owner: { ...winner, rowId: row?.id ?? null, isRejected: false },
        rule: type,
        hasCommission: true,
      },
      decision,
      paid: { creatorId: winner.creatorId, minor: pay(order, winner.terms, 1, type) },
    };
  }

  /** Decides again what paid nobody before a row was known; what the orders carried stays lost. */
  function decideAgain(row: CustomerRow): void {
    const at = now ?? new Date(Math.max(...orders().map(({ placedAt }) => placedAt.getTime())));
    for (const order of listOrdersToDecideAgain(row, orders(), at)) {
      const outcome = decide({ ...order, owner: null, rule: null, hasCommission: false }, undefined);
      if (outcome.paid) outcomes.set(order.id, outcome);
    }
  }

  return {
    rows,
    addRow,
    decideAgain,
    outcomes,
    report(reported: Reported, type: 'code' | 'click' = 'code', carried?: WinningLink): Outcome {
      const known = rows.length;
      const order: DecidedOrder = {
        integrationId: SHOP,
        amountMinor: 10_000,
        kind: 'once',
        subscriptionId: null,
        previousSubscriptionId: null,
        customerId: null,
        email: 'sub@mail.example',
        products: [],
        isTest: false,
        isHistory: false,
        isCancelledUnpaid: false,
        rule: null,
        owner: null,
        hasCommission: false,
        ...reported,
      };
      const outcome = decide(order, carried && { type, link: carried });
      outcomes.set(order.id, outcome);
      for (const row of rows.slice(known)) decideAgain(row);
      return outcome;
    },
    change: (id: string, change: Partial<DecidedOrder>) => {
      const outcome = outcomes.get(id);
      if (!outcome) throw new Error(`There is no order ${id}.`);
      outcomes.set(id, { ...outcome, order: { ...outcome.order, ...change } });
    },
  };
}

export const day = (number: number) => new Date(Date.UTC(2026, 2, number, 12));

export const pays = ({ paid }: Outcome) => (paid ? [paid.creatorId, paid.minor / 100] : null);
export const claims = ({ decision }: Outcome) => {
  const { candidate, winner, rule } = decision;
  return candidate ? { winner, rule, by: candidate.by, reason: candidate.reason } : { winner, rule };
};

export const subscription = (percent: number, more: object = {}) => ({
  rate: { percent },
  covers: 'subscription',
  ...more,
});
export const customer = (percent: number, more: object = {}) => ({ rate: { percent }, covers: 'customer', ...more });
export const plain = (percent: number) => ({ rate: { percent } });

export const order = (id: number, more: Partial<Reported> = {}): Reported => ({
  id: `ord_${String(id).padStart(6, '0')}`,
  placedAt: day(id),
  ...more,
});

export const lead = (creatorId: string, terms: object, at: Date) => ({
  subscriptions: [],
  customerIds: [],
  emails: ['sub@mail.example'],
  ...link(creatorId, terms),
  origin: 'lead' as const,
  firstOrderId: null,
  products: [],
  since: at,
  endedAt: null,
  isOriginRejected: false,
});
