import { z } from 'zod';
import { OrderKind } from '../../workflow/terms/terms.shapes.ts';
import type { Room } from './price.ts';
import type { DecisionFacts, OrderLine } from './rules.ts';

const StoredVolume = z.object({ orders: z.number(), revenueMinor: z.number() });

/** The facts as a commission keeps them. */
const StoredFacts = z.object({
  customer: z.enum(['new', 'returning']).nullable(),
  country: z.string().nullable(),
  kind: OrderKind.nullable(),
  by: z.enum(['code', 'click', 'customer']).nullable(),
  payment: z.number().nullable(),
  volume: z.object({ month: StoredVolume, ever: StoredVolume }).nullable(),
  timeZone: z.string().optional(),
});
const StoredRoom = z.object({ minor: z.number(), by: z.enum(['customer', 'month', 'budget']), limitMinor: z.number() });

export const parseFacts = (storedFacts: unknown): DecisionFacts | null =>
  storedFacts === null || storedFacts === undefined ? null : StoredFacts.parse(storedFacts);
export const parseRoom = (storedRoom: unknown): Room | null =>
  storedRoom === null || storedRoom === undefined ? null : StoredRoom.parse(storedRoom);

/** A line of an order as it is stored. */
export const StoredLine = z.object({
  lineId: z.string(),
  sku: z.string().nullable(),
  title: z.string().nullable(),
  quantity: z.number(),
  amountMinor: z.number(),
  productId: z.string().optional(),
  variantId: z.string().optional(),
  categories: z.array(z.string()).optional(),
  onSale: z.boolean().optional(),
});

/** A line that a refund names, as it is stored. */
export const StoredRefundedLine = z.object({ lineId: z.string(), amountMinor: z.number() });

/** The lines that terms are applied to. */
export const toOrderLines = (items: readonly z.output<typeof StoredLine>[]): OrderLine[] =>
  items.map(({ lineId, sku, title, productId, variantId, categories, onSale, quantity, amountMinor }) => ({
    lineId,
    sku,
    title,
    productId: productId ?? null,
    variantId: variantId ?? null,
    categories: categories ?? null,
    onSale: onSale ?? null,
    quantity,
    amountMinor,
  }));
