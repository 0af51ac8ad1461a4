import { type Price, type PricingInput, price, type Room } from '../../analytics/pricing/price.ts';
import type { DecisionFacts, OrderLine } from '../../analytics/pricing/rules.ts';
import type { Terms } from '../../workflow/terms/terms.shapes.ts';
import type { RefundedItem } from '../stores/formats/facts.ts';
import { listTakeBacks, type TakeBack } from '../terms/take-backs.ts';
import type { OrderRefund, OrderSnapshot } from './recompute.ts';

/** Everything beside an order and its refunds that decides a commission whose terms are not a percentage alone. */
export interface Pricing {
  currency: string;
  terms: Terms;
  facts: DecisionFacts | null;
  room: Room | null;
  lines: readonly OrderLine[];
  /** The lines that refunds name, by refund. */
  refundedItems: ReadonlyMap<string, readonly RefundedItem[]>;
}

type PricedSnapshot = Pick<OrderSnapshot, 'baseMinor' | 'occurredAt'>;

const isEnd = ({ refundId }: OrderRefund) => refundId === 'cancelled' || refundId === 'dispute_lost';

function toInput(order: PricedSnapshot, pricing: Pricing): Omit<PricingInput, 'refunds' | 'isEnded'> {
  const { currency, terms, facts, room, lines } = pricing;
  const pricedOrder = { currency, amountMinor: order.baseMinor, placedAt: order.occurredAt };
  return { order: pricedOrder, lines, terms, facts, room };
}

const withItems = <R extends OrderRefund>(refund: R, { refundedItems }: Pricing): R => {
  const items = refundedItems.get(refund.refundId);
  return items ? { ...refund, items } : refund;
};

/** Prices an order after its refunds. */
export function priceOrder(order: PricedSnapshot, refunds: readonly OrderRefund[], pricing: Pricing): Price {
  return price({
    ...toInput(order, pricing),
    refunds: refunds.filter((refund) => !isEnd(refund)).map((refund) => withItems(refund, pricing)),
    isEnded: refunds.some(isEnd),
  });
}

/** The effective percentage as commissions record it. A flat amount may exceed the order; its percentage is then shown as 100. */
export const toRatePpm = ({ effectiveRatePpm }: Price): number => Math.min(effectiveRatePpm, 1_000_000);

/** Lists what is taken back from a commission that was paid. */
export const listPricedTakeBacks = (
  order: PricedSnapshot,
  refunds: readonly OrderRefund[],
  pricing: Pricing,
  paidMinor: number,
): TakeBack[] =>
  listTakeBacks(
    toInput(order, pricing),
    refunds.map((refund) => withItems(refund, pricing)),
    paidMinor,
  );
