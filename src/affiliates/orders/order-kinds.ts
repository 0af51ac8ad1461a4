import type { Selectable } from 'kysely';
import type { OrdersTable } from '../../kit/engines/postgres/database.ts';
import type { OrderKind } from '../../workflow/terms/terms.shapes.ts';
import type { SubscriptionFacts } from '../terms/kinds.ts';

/** The part that an order plays in a subscription, and the country that it goes to. */
export interface OrderTraits extends SubscriptionFacts {
  country: string | null;
}

type TraitColumns = Pick<
  Selectable<OrdersTable>,
  'kind' | 'isRenewal' | 'subscriptionId' | 'previousSubscriptionId' | 'country'
>;

export const getOrderKind = ({ kind, isRenewal }: Pick<TraitColumns, 'kind' | 'isRenewal'>): OrderKind =>
  kind ?? (isRenewal ? 'renewal' : 'once');

/** Converts a kind to its column, where null stands for `once`. */
const toKindColumn = (kind: OrderKind) => (kind === 'once' ? null : kind);

export const toTraits = (row: TraitColumns): OrderTraits => ({
  kind: getOrderKind(row),
  subscriptionId: row.subscriptionId,
  previousSubscriptionId: row.previousSubscriptionId,
  country: row.country,
});

export const toTraitColumns = ({ kind, subscriptionId, previousSubscriptionId, country }: OrderTraits) => ({
  kind: toKindColumn(kind),
  subscriptionId,
  previousSubscriptionId,
  country,
});

/** Stores and their apps tell the kind later than the order, and may stop telling it: the most telling kind stays. */
const BY_WEIGHT: readonly OrderKind[] = ['once', 'first', 'resubscribe', 'upgrade', 'renewal'];

function pickText(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return a <= b ? a : b;
}

/** The result does not depend on the order in which reports arrive. */
export const mergeTraits = (a: OrderTraits, b: OrderTraits): OrderTraits => ({
  kind: BY_WEIGHT.indexOf(a.kind) >= BY_WEIGHT.indexOf(b.kind) ? a.kind : b.kind,
  subscriptionId: pickText(a.subscriptionId, b.subscriptionId),
  previousSubscriptionId: pickText(a.previousSubscriptionId, b.previousSubscriptionId),
  country: pickText(a.country, b.country),
});

export const areSameTraits = (a: OrderTraits, b: OrderTraits): boolean =>
  a.kind === b.kind &&
  a.subscriptionId === b.subscriptionId &&
  a.previousSubscriptionId === b.previousSubscriptionId &&
  a.country === b.country;
