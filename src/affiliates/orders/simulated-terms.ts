import { sql } from 'kysely';
import { isPlain } from '../../analytics/pricing/plain.ts';
import { getAmountMinor } from '../../analytics/pricing/rules.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { validationError } from '../../kit/values/errors.ts';
import { toPpm } from '../../kit/values/money.ts';
import { dayIn } from '../../kit/values/time-zone.ts';
import type { AmountsByCurrency, Terms } from '../../workflow/terms/terms.shapes.ts';
import { canonicalTerms } from '../../workflow/terms/terms.ts';
import { hasSharedLimit, measureRoom } from '../terms/room.ts';
import type { Attribution } from './attribution.shapes.ts';
import { type FactsOrder, readFacts, toPricing } from './decision-facts.ts';
import type { StoredItems } from './items.ts';
import { toHex } from './order-history.ts';
import { getOrderKind } from './order-kinds.ts';
import type { OrderRow } from './orders.ts';
import type { Pricing } from './pricing.ts';
import { computePayable, type KnownRefund, type OrderSnapshot } from './recompute.ts';
import type { SimulationRequest } from './simulations.shapes.ts';

export type TriedPlace = NonNullable<SimulationRequest['of']>;

/** Lists the codes and links under terms at a place: neither their own terms nor those of nearer places come first. */
export async function listTriedLinks(db: Db, brandId: string, of: TriedPlace): Promise<Set<string>> {
  const { link_id: linkId, group_id: groupId, campaign_id: campaignId } = of;
  const hasGroupTerms = sql`exists (select from group_memberships as member
    join creator_groups as grouped on grouped.id = member.group_id and grouped.terms_id is not null
    where member.brand_id = links.brand_id and member.creator_id = links.creator_id and member.until is null)`;
  const hasCampaignTerms = sql`exists (select from campaigns as campaign
    where campaign.brand_id = links.brand_id and campaign.id = links.campaign_id and campaign.terms_id is not null)`;
  const isTried =
    linkId !== undefined
      ? sql`links.id = ${linkId}`
      : groupId !== undefined
        ? sql`links.inherits_terms and links.creator_id in (select member.creator_id from group_memberships as member
            where member.brand_id = ${brandId} and member.group_id = ${groupId} and member.until is null)`
        : campaignId !== undefined
          ? sql`links.inherits_terms and links.campaign_id = ${campaignId} and not ${hasGroupTerms}`
          : sql`links.inherits_terms and not ${hasGroupTerms} and not ${hasCampaignTerms}`;
  const { rows } = await sql<{ id: string }>`
    select links.id from links where links.brand_id = ${brandId} and ${isTried}`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

const PLACES = { link_id: 'links', group_id: 'creatorGroups', campaign_id: 'campaigns' } as const;

/** Refuses a place that the brand does not have. */
export async function assertPlace(db: Db, brandId: string, of: TriedPlace): Promise<void> {
  for (const field of ['link_id', 'group_id', 'campaign_id'] as const) {
    const id = of[field];
    if (id === undefined) continue;
    const row = await db
      .selectFrom(PLACES[field])
      .select('id')
      .where('brandId', '=', brandId)
      .where('id', '=', id)
      .executeTakeFirst();
    if (row) continue;
    const message = `is not known; got ${JSON.stringify(id)}.`;
    throw validationError([{ field: `of.${field}`, code: 'not_found', message }]);
  }
}

/** An order under tried terms, with the creator whom it pays and what priced it. */
export interface TriedOrder {
  row: FactsOrder & Pick<OrderRow, 'kind' | 'isRenewal' | 'country'>;
  attribution: Attribution;
  creatorId: string;
  recorded: Pricing | undefined;
}

/** Prices by tried terms: as a percentage, as recorded because they are the same, or by rules. */
export type TriedPricing = { ratePpm: number } | { isRecorded: true } | { pricing: Pricing };

/** Reads what prices orders by tried terms, by order. Facts that were recorded when one was decided count as they were. */
export async function loadTriedPricings(
  db: Db,
  brandId: string,
  { terms, timeZone }: { terms: Terms; timeZone: string },
  triedOrders: readonly TriedOrder[],
  items: ReadonlyMap<string, StoredItems>,
): Promise<Map<string, TriedPricing>> {
  const ratePpm = isPlain(terms) ? (toPpm(terms.rate.percent ?? 0) ?? 0) : null;
  const asText = canonicalTerms(terms);
  const isSame = ({ recorded }: TriedOrder) => recorded !== undefined && canonicalTerms(recorded.terms) === asText;
  const askedOrders = (ratePpm === null ? triedOrders.filter((one) => !isSame(one)) : []).map((one) => {
    const { rule, candidates } = one.attribution;
    const claim = candidates.find(({ type, outcome }) => type === 'customer' && outcome === 'won');
    const orderFacts = {
      country: one.row.country,
      kind: getOrderKind(one.row),
      by: rule === 'code' ? ('code' as const) : claim ? ('customer' as const) : ('click' as const),
      payment: (claim?.type === 'customer' && claim.payment) || 1,
    };
    return { order: one.row, terms, creatorId: one.creatorId, timeZone, known: orderFacts };
  });
  const facts = await readFacts(db, brandId, askedOrders, terms);
  const byOrder = new Map(askedOrders.map(({ order }, place) => [order.id, facts[place]]));
  return new Map(
    triedOrders.map((one): [string, TriedPricing] => {
      const { row, recorded } = one;
      if (isSame(one)) return [row.id, { isRecorded: true }];
      const freshFacts = byOrder.get(row.id);
      if (!freshFacts) return [row.id, { ratePpm: ratePpm ?? 0 }];
      const mergedFacts = {
        ...freshFacts,
        customer: freshFacts.customer === null ? null : (recorded?.facts?.customer ?? freshFacts.customer),
        volume: freshFacts.volume === null ? null : (recorded?.facts?.volume ?? freshFacts.volume),
        timeZone: recorded?.facts?.timeZone ?? freshFacts.timeZone,
      };
      const lines = items.get(row.id) ?? { items: [], refunded: new Map() };
      return [row.id, { pricing: toPricing(row, { terms, facts: mergedFacts, room: null }, lines) }];
    }),
  );
}

const usesLines = ({ rules }: Terms) =>
  rules.some(({ when }) => when.product ?? when.category ?? when.on_sale ?? when.quantity_from);
const usesCategories = ({ rules }: Terms) => rules.some(({ when }) => when.category ?? when.on_sale);

/** Names the facts of lines that the terms ask for and nobody reported. */
export function findGap(terms: Terms, { lines }: Pricing): 'without_lines' | 'without_categories' | null {
  if (lines.length === 0) return usesLines(terms) ? 'without_lines' : null;
  const isSaid = lines.some(({ categories, onSale }) => categories !== null || onSale !== null);
  return usesCategories(terms) && !isSaid ? 'without_categories' : null;
}

/** Sums by shared limit, as simulated orders used it up. Orders come in the order of time. */
export type UsedOfLimits = Map<string, number>;

/** Terms with the brand's time zone, of which the months of limits are. */
interface LimitedTerms {
  terms: Terms;
  timeZone: string;
}

/** The keys of the shared limits that the terms have in the order's currency. */
function listLimitKeys(
  { currency, occurredAt, customerHash, customerIdHash }: FactsOrder,
  creatorId: string,
  { terms: { caps, budget }, timeZone }: LimitedTerms,
) {
  const isLimited = (amounts: AmountsByCurrency | undefined) => getAmountMinor(amounts, currency) !== undefined;
  const customer = isLimited(caps?.customer) ? (toHex(customerHash) ?? toHex(customerIdHash)) : null;
  const hasMonths = isLimited(caps?.month) || budget?.per === 'month';
  const month = hasMonths ? dayIn(timeZone, occurredAt).slice(0, 7) : '';
  return {
    customer: customer === null ? null : `customer ${currency} ${creatorId} ${customer}`,
    month: isLimited(caps?.month) ? `month ${currency} ${creatorId} ${month}` : null,
    budget: isLimited(budget?.amount) ? `budget ${currency} ${budget?.per === 'month' ? month : 'ever'}` : null,
  };
}

/** Fixes the room that earlier simulated orders leave to this one. */
export function withRoom(
  order: FactsOrder,
  { snapshot, refunds }: { snapshot: OrderSnapshot; refunds: readonly KnownRefund[] },
  { creatorId, pricing, timeZone }: { creatorId: string; pricing: Pricing; timeZone: string },
  usedLimits: UsedOfLimits,
): Pricing {
  if (!hasSharedLimit(pricing.terms, order.currency)) return pricing;
  const keys = listLimitKeys(order, creatorId, { terms: pricing.terms, timeZone });
  const sumUsed = (key: string | null) => (key !== null && usedLimits.get(key)) || 0;
  const sums = {
    customerMinor: sumUsed(keys.customer),
    monthMinor: sumUsed(keys.month),
    budgetMinor: sumUsed(keys.budget),
  };
  const payable = computePayable(snapshot, refunds, pricing);
  return { ...pricing, room: measureRoom(pricing.terms, order.currency, sums, payable) };
}

/** Adds what an order pays to what is used of its limits. */
export function noteUsed(
  order: FactsOrder,
  creatorId: string,
  triedTerms: LimitedTerms,
  minor: number,
  usedLimits: UsedOfLimits,
): void {
  for (const key of Object.values(listLimitKeys(order, creatorId, triedTerms))) {
    if (key !== null) usedLimits.set(key, (usedLimits.get(key) ?? 0) + minor);
  }
}
