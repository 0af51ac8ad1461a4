import type { z } from 'zod';
import { type PricingInput, price } from '../../analytics/pricing/price.ts';
import { toMinorUnits } from '../stores/formats/money.ts';
import type { PreviewAnswer, PreviewRequest } from './preview.shapes.ts';
import { summarizeTerms } from './summary.ts';

type PreviewOrder = PreviewRequest['orders'][number];

function toLines({ items, currency }: PreviewOrder): PricingInput['lines'] {
  return items.map((line, place) => ({
    lineId: line.line_id ?? line.sku ?? String(place),
    sku: line.sku ?? null,
    productId: line.product_id ?? null,
    variantId: line.variant_id ?? null,
    categories: line.categories ?? null,
    onSale: line.on_sale ?? null,
    quantity: line.quantity,
    amountMinor: toMinorUnits(line.amount, currency),
  }));
}

function toPricingInput(terms: PreviewRequest['terms'], order: PreviewOrder, timeZone: string): PricingInput {
  const { currency, placed_at: placedAt, facts } = order;
  const { room_minor: roomMinor, volume, ...fixed } = facts;
  const toVolume = ({ orders, revenue_minor }: { orders: number; revenue_minor: number }) => ({
    orders,
    revenueMinor: revenue_minor,
  });
  return {
    order: { currency, amountMinor: toMinorUnits(order.amount, currency), placedAt },
    lines: toLines(order),
    refunds: order.refunds.map(({ refund_id, amount, at, items }, place) => ({
      refundId: refund_id ?? String(place).padStart(4, '0'),
      amountMinor: toMinorUnits(amount, currency),
      at: at ?? placedAt,
      items: items.map((item) => ({ lineId: item.line_id, amountMinor: toMinorUnits(item.amount, currency) })),
    })),
    isEnded: false,
    terms,
    facts: { ...fixed, volume: volume && { month: toVolume(volume.month), ever: toVolume(volume.ever) }, timeZone },
    room: roomMinor === null ? null : { minor: roomMinor, by: 'budget', limitMinor: roomMinor },
  };
}

/** Prices orders under terms that nobody has, by the function that prices real ones. */
export function previewTerms({ terms, orders }: PreviewRequest, timeZone: string): z.input<typeof PreviewAnswer> {
  return {
    summary: summarizeTerms(terms),
    orders: orders.map((order) => {
      const { commissionMinor, uncappedMinor, parts, lines } = price(toPricingInput(terms, order, timeZone));
      return {
        commission_minor: commissionMinor,
        uncapped_minor: uncappedMinor,
        parts: parts.map((part) => ({
          rule: part.rule,
          name: part.name,
          amount_minor: part.amountMinor,
          refunded_minor: part.refundedMinor,
          commission_minor: part.commissionMinor,
        })),
        lines: lines.map((line) => ({
          line_id: line.lineId,
          rule: line.rule,
          amount_minor: line.amountMinor,
          refunded_minor: line.refundedMinor,
          commission_minor: line.commissionMinor,
        })),
      };
    }),
  };
}
