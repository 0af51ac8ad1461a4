import { type PricingInput, price } from '../../src/analytics/pricing/price.ts';
import type { DecisionFacts, OrderLine } from '../../src/analytics/pricing/rules.ts';
import { Terms } from '../../src/workflow/terms/terms.shapes.ts';

export const PLACED = new Date('2026-03-10T12:00:00Z');

/** A line by its SKU and amount in major units of a currency with two decimals. */
export const line = (sku: string, amount: number, more: Partial<OrderLine> = {}): OrderLine => ({
  lineId: sku,
  sku,
  productId: null,
  variantId: null,
  categories: null,
  onSale: null,
  quantity: 1,
  amountMinor: Math.round(amount * 100),
  ...more,
});

/** Everything that decides an order, as its store and brand report it. */
export interface Sale {
  amount: number;
  currency?: string;
  lines?: OrderLine[];
  refunds?: { amount: number; items?: Record<string, number> }[];
  isEnded?: boolean;
  facts?: Partial<DecisionFacts>;
  room?: PricingInput['room'];
  placedAt?: Date;
}

const toMinor = (amount: number) => Math.round(amount * 100);

export function toPricingInput(terms: unknown, sale: Sale): PricingInput {
  const { amount, currency = 'USD', lines = [], refunds = [], isEnded = false, room = null, placedAt = PLACED } = sale;
  return {
    order: { currency, amountMinor: toMinor(amount), placedAt },
    lines,
    refunds: refunds.map((refund, place) => ({
      refundId: `r${place}`,
      amountMinor: toMinor(refund.amount),
      at: PLACED,
      items: Object.entries(refund.items ?? {}).map(([lineId, part]) => ({ lineId, amountMinor: toMinor(part) })),
    })),
    isEnded,
    terms: Terms.parse(terms),
    facts: { customer: null, country: null, kind: 'once', by: 'code', payment: 1, volume: null, ...sale.facts },
    room,
  };
}

export const priceSale = (terms: unknown, sale: Sale) => price(toPricingInput(terms, sale));

/** The commission on an order, in major units. */
export const commissionOn = (terms: unknown, sale: Sale): number => priceSale(terms, sale).commissionMinor / 100;
