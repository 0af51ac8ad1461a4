import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { fromPpm } from '../../kit/values/money.ts';
import type { Terms } from '../../workflow/terms/terms.shapes.ts';
import { listTermsByIds } from '../../workflow/terms/versions.ts';
import { isPlain, makePlainTerms } from '../pricing/plain.ts';
import { parseFacts, parseRoom, StoredLine, StoredRefundedLine, toOrderLines } from '../pricing/stored-facts.ts';
import type { OrderLines } from './products.ts';
import type { SyncedEntry } from './sync.ts';

const Items = z.array(StoredLine);
const Refunds = z
  .array(
    z.object({
      refundId: z.string(),
      amountMinor: z.number(),
      at: z.coerce.date(),
      items: z.array(StoredRefundedLine).nullable(),
    }),
  )
  .nullable();

interface LinesRow {
  integrationId: string;
  orderId: string;
  items: unknown;
  /** Every refund of the order that its store has not taken back, even if it names no lines. */
  refunds: unknown;
}

/** The key of an order: its store and its id there. */
export const toOrderKey = ({ integrationId, storeOrderId }: Pick<SyncedEntry, 'integrationId' | 'storeOrderId'>) =>
  `${integrationId} ${storeOrderId}`;

/** An entry of an order that has a commission. */
interface OrderEntry extends SyncedEntry {
  integrationId: string;
  storeOrderId: string;
  baseMinor: number;
  placedAt: Date;
}

const isOfOrder = (entry: SyncedEntry): entry is OrderEntry =>
  [entry.integrationId, entry.storeOrderId, entry.baseMinor, entry.placedAt].every((fact) => fact !== null);

/** When a cancellation or a lost dispute ended the sale of a paid order. */
function findEnd({ paidAt, cancelledAt, disputeLostAt }: OrderEntry): Date | null {
  if (paidAt === null) return null;
  if (cancelledAt === null || disputeLostAt === null) return cancelledAt ?? disputeLostAt;
  return disputeLostAt < cancelledAt ? disputeLostAt : cancelledAt;
}

/** Finds the terms of entries; those that are a percentage alone stand in the commission's own rate. */
async function loadTerms(db: Db, entries: readonly OrderEntry[]): Promise<(entry: OrderEntry) => Terms> {
  const termsById = new Map<string, Terms>();
  for (const [brandId, own] of Map.groupBy(entries, (entry) => entry.brandId)) {
    const ids = own.flatMap(({ termsId }) => termsId ?? []);
    for (const [id, terms] of await listTermsByIds(db, brandId, ids)) if (!isPlain(terms)) termsById.set(id, terms);
  }
  const plainTerms = new Map<number, Terms>();
  const getPlainTerms = (ratePpm: number): Terms => {
    const terms = plainTerms.get(ratePpm) ?? makePlainTerms(fromPpm(ratePpm), 'order');
    plainTerms.set(ratePpm, terms);
    return terms;
  };
  return ({ termsId, commissionRatePpm }) => termsById.get(termsId ?? '') ?? getPlainTerms(commissionRatePpm ?? 0);
}

/** The lines of the entries' orders, as far as their stores say what was bought, with all that prices them. */
export async function listLines(db: Db, entries: readonly SyncedEntry[]): Promise<Map<string, OrderLines>> {
  const orders = new Map(entries.filter(isOfOrder).map((entry) => [toOrderKey(entry), entry] as const));
  if (orders.size === 0) return new Map();
  const keys = [...orders.values()];
  const { rows } = await sql<LinesRow>`
    select own.integration_id, own.order_id, own.items, (
      select jsonb_agg(jsonb_build_object('refundId', refund.refund_id, 'amountMinor', refund.amount_minor,
        'at', refund.at, 'items', named.items))
      from order_refunds as refund
      join order_heads as head on head.integration_id = refund.integration_id and head.order_id = refund.order_id
        and (head.refunds_listed_at is null or refund.told_at >= head.refunds_listed_at)
      left join order_items as named on named.integration_id = refund.integration_id and named.order_id = refund.order_id
        and named.refund_id = refund.refund_id
      where refund.integration_id = own.integration_id and refund.order_id = own.order_id
        and refund.currency = wanted.currency) as refunds
    from unnest(${keys.map((key) => key.integrationId)}::text[], ${keys.map((key) => key.storeOrderId)}::text[],
      ${keys.map((key) => key.currency)}::text[]) as wanted (integration_id, order_id, currency)
    join order_items as own on own.integration_id = wanted.integration_id and own.order_id = wanted.order_id
      and own.refund_id = ''`.execute(db);
  const findTerms = await loadTerms(db, keys);
  return new Map(
    rows.flatMap(({ integrationId, orderId, items, refunds }) => {
      const key = toOrderKey({ integrationId, storeOrderId: orderId });
      const entry = orders.get(key);
      if (!entry) return [];
      const order: OrderLines = {
        order: { currency: entry.currency, amountMinor: entry.baseMinor, placedAt: entry.placedAt },
        lines: toOrderLines(Items.parse(items)),
        refunds: (Refunds.parse(refunds) ?? []).map(({ items: named, ...refund }) => ({
          ...refund,
          items: named ?? [],
        })),
        endedAt: findEnd(entry),
        isTest: entry.isTest ?? false,
        terms: findTerms(entry),
        facts: parseFacts(entry.decidedFacts),
        room: parseRoom(entry.room),
      };
      return [[key, order] as const];
    }),
  );
}
