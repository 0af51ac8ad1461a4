import { type RawBuilder, sql } from 'kysely';
import { isPlain } from '../../analytics/pricing/plain.ts';
import type { Room } from '../../analytics/pricing/price.ts';
import { type DecisionFacts, getAmountMinor } from '../../analytics/pricing/rules.ts';
import { parseFacts, parseRoom, toOrderLines } from '../../analytics/pricing/stored-facts.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { isDay } from '../../kit/values/time.ts';
import { dayIn, monthIn } from '../../kit/values/time-zone.ts';
import { NET_COMMISSION } from '../../workflow/terms/budgets.ts';
import type { AmountsByCurrency, Terms } from '../../workflow/terms/terms.shapes.ts';
import { listTermsByIds } from '../../workflow/terms/versions.ts';
import type { CommissionRow } from '../commissions/commissions.ts';
import { mailBudgetUse } from '../terms/budget-mails.ts';
import { hasSharedLimit, measureRoom, type UsedLimits } from '../terms/room.ts';
import { findItems, type StoredItems } from './items.ts';
import type { OrderRow } from './orders.ts';
import type { Pricing } from './pricing.ts';

/** The order whose facts are read. */
export type FactsOrder = Pick<
  OrderRow,
  'id' | 'brandId' | 'integrationId' | 'orderId' | 'currency' | 'occurredAt' | 'customerHash' | 'customerIdHash'
>;

/** An order with the terms whose conditions ask for its facts. */
interface AskedOrder {
  order: FactsOrder;
  terms: Terms;
  creatorId: string;
  timeZone: string;
  known: Pick<DecisionFacts, 'country' | 'kind' | 'by' | 'payment'>;
}

/** Finds the orders whose customers have an earlier paid one: of more than 0.00. */
async function findReturning(db: Db, brandId: string, orders: readonly FactsOrder[]): Promise<Set<string>> {
  if (orders.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    select asked.id from unnest(${orders.map(({ id }) => id)}::text[], ${orders.map((one) => one.occurredAt)}::timestamptz[],
      ${orders.map((one) => one.customerHash)}::bytea[], ${orders.map((one) => one.customerIdHash)}::bytea[])
      as asked (id, occurred_at, customer_hash, customer_id_hash)
    where exists (select from orders where brand_id = ${brandId}
      and (customer_hash = asked.customer_hash or customer_id_hash = asked.customer_id_hash)
      and paid_at is not null and base_minor > 0 and is_test is not true
      and (orders.occurred_at, orders.id) < (asked.occurred_at, asked.id))`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

type Volumes = NonNullable<DecisionFacts['volume']>;

/** Sums the creator's paid orders before each order that are not rejected, net of refunds; of its month alone, if only that is asked. */
async function readVolumes(
  db: Db,
  brandId: string,
  askedOrders: readonly AskedOrder[],
  span: 'month' | 'ever',
): Promise<Map<string, Volumes>> {
  if (askedOrders.length === 0) return new Map();
  const months = askedOrders.map(({ timeZone, order }) => monthIn(timeZone, order.occurredAt).start);
  const { rows } = await sql<{ id: string; month: number; monthMinor: number; ever: number; everMinor: number }>`
    select asked.id, sums.* from unnest(${askedOrders.map(({ order }) => order.id)}::text[],
      ${askedOrders.map(({ creatorId }) => creatorId)}::text[], ${askedOrders.map(({ order }) => order.currency)}::text[],
      ${askedOrders.map(({ order }) => order.occurredAt)}::timestamptz[], ${months}::timestamptz[])
      as asked (id, creator_id, currency, occurred_at, month), lateral (
        select count(*) filter (where is_in_month) as month, count(*) as ever,
          coalesce(sum(minor) filter (where is_in_month), 0)::bigint as month_minor,
          coalesce(sum(minor), 0)::bigint as ever_minor
        from (select commissions.occurred_at >= asked.month as is_in_month,
            case when commissions.currency = asked.currency then amount_minor - refunded_minor end as minor
          from commissions where brand_id = ${brandId} and creator_id = asked.creator_id and order_id is not null
            and paid_at is not null and amount_minor > 0 and status <> 'rejected'
            and ${span === 'ever' ? sql`true` : sql`commissions.occurred_at >= asked.month`}
            and (commissions.occurred_at, order_id) < (asked.occurred_at, asked.id)) as earlier) as sums`.execute(db);
  return new Map(
    rows.map(({ id, month, monthMinor, ever, everMinor }) => [
      id,
      { month: { orders: month, revenueMinor: monthMinor }, ever: { orders: ever, revenueMinor: everMinor } },
    ]),
  );
}

/** True if rules name days without a time. */
const namesDays = ({ rules }: Terms): boolean =>
  rules.some(({ when: { placed } }) => [placed?.from, placed?.to].some((text) => text !== undefined && isDay(text)));

const asks = ({ terms }: AskedOrder, condition: 'customer' | 'volume'): boolean =>
  terms.rules.some(({ when }) => when[condition] !== undefined);

/** The span of volumes that terms compare with. */
const findSpan = ({ rules }: Terms): 'month' | 'ever' =>
  rules.some(({ when }) => when.volume?.per === 'ever') ? 'ever' : 'month';

/**
 * Reads what conditions of the terms are compared with, of all orders together. What no condition uses is not read.
 * Facts that are recorded have both spans of a volume; those of terms that are only tried have what these ask.
 */
export async function readFacts(
  db: Db,
  brandId: string,
  askedOrders: readonly AskedOrder[],
  triedTerms?: Terms,
): Promise<DecisionFacts[]> {
  const customerOrders = askedOrders.filter(
    (one) => asks(one, 'customer') && (one.order.customerHash !== null || one.order.customerIdHash !== null),
  );
  const recognizedIds = new Set(customerOrders.map(({ order }) => order.id));
  const returning = await findReturning(
    db,
    brandId,
    customerOrders.map(({ order }) => order),
  );
  const volumes = await readVolumes(
    db,
    brandId,
    askedOrders.filter((one) => asks(one, 'volume')),
    triedTerms ? findSpan(triedTerms) : 'ever',
  );
  return askedOrders.map(({ order: { id }, terms, timeZone, known: given }) => ({
    ...given,
    customer: recognizedIds.has(id) ? (returning.has(id) ? 'returning' : 'new') : null,
    volume: volumes.get(id) ?? null,
    ...(namesDays(terms) ? { timeZone } : {}),
  }));
}

interface Deal {
  creatorId: string;
  termsId: string;
  terms: Terms;
}

/** Sums other paid commissions that are not rejected, in the order's currency and without what was taken back of them. */
async function sumOthers(db: Db, { brandId, id, currency }: FactsOrder, matches: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ minor: number }>`
    select coalesce(sum(${NET_COMMISSION}), 0)::bigint as minor
    from commissions as one where one.brand_id = ${brandId} and one.currency = ${currency}
      and one.paid_at is not null and one.status <> 'rejected' and one.order_id <> ${id} and ${matches}`.execute(db);
  return rows[0]?.minor ?? 0;
}

/** Orders that terms of this place decided, whatever their version. A link with a percentage alone has no version. */
const isOfPlace = (brandId: string, termsId: string) => sql`(
  one.terms_id in (select its.id from terms as its join terms as own using (brand_id, place, place_id)
    where own.brand_id = ${brandId} and own.id = ${termsId})
  or one.terms_id is null and one.link_id = (select place_id from terms
    where brand_id = ${brandId} and id = ${termsId} and place = 'link'))`;

/** Sums what other orders use up of the limits that the terms have in the order's currency. */
async function readUsed(
  db: Db,
  order: FactsOrder,
  { creatorId, termsId, terms }: Deal,
  timeZone: string,
): Promise<UsedLimits> {
  const { brandId, currency, occurredAt, customerHash, customerIdHash } = order;
  const { caps, budget } = terms;
  const { start, end } = monthIn(timeZone, occurredAt);
  const isInMonth = sql`one.occurred_at >= ${start} and one.occurred_at < ${end}`;
  const isOfCreator = sql`one.creator_id = ${creatorId}`;
  const isOfCustomer = sql`one.order_id in (select id from orders where brand_id = ${brandId}
    and (customer_hash = ${customerHash} or customer_id_hash = ${customerIdHash}))`;
  const isInBudget = sql`${budget?.per === 'month' ? isInMonth : sql`true`} and ${isOfPlace(brandId, termsId)}`;
  const sumIfLimited = (amounts: AmountsByCurrency | undefined, matches: RawBuilder<unknown>) =>
    getAmountMinor(amounts, currency) === undefined ? 0 : sumOthers(db, order, matches);
  return {
    customerMinor: await sumIfLimited(caps?.customer, sql`${isOfCreator} and ${isOfCustomer}`),
    monthMinor: await sumIfLimited(caps?.month, sql`${isOfCreator} and ${isInMonth}`),
    budgetMinor: await sumIfLimited(budget?.amount, isInBudget),
  };
}

/** Orders that share a limit fix what they take of it one after another. Returns the zone of the brand's months. */
async function lockLimits(db: Db, brandId: string): Promise<string> {
  const { rows } = await sql<{ timeZone: string }>`
    select time_zone, pg_advisory_xact_lock(hashtext(${`limits ${brandId}`})) from brands where id = ${brandId}`.execute(
    db,
  );
  return rows[0]?.timeZone ?? 'UTC';
}

/** What an order pays may depend on the commissions of other orders. */
export const dependsOnOthers = (terms: Terms, currency: string): boolean =>
  hasSharedLimit(terms, currency) || terms.rules.some(({ when }) => when.volume !== undefined);

/** Fixes what other orders leave to this one, which is paid now; null if it shares no limit. */
export async function fixRoom(
  work: Work,
  order: FactsOrder,
  deal: Omit<Deal, 'termsId'> & { termsId: string | null },
  payableMinor: number,
): Promise<Room | null> {
  const { creatorId, termsId, terms } = deal;
  const { currency, occurredAt } = order;
  if (termsId === null || !hasSharedLimit(terms, currency)) return null;
  const timeZone = await lockLimits(work.db, order.brandId);
  const usedLimits = await readUsed(work.db, order, { creatorId, termsId, terms }, timeZone);
  const room = measureRoom(terms, currency, usedLimits, payableMinor);
  const usage = { usedMinor: usedLimits.budgetMinor, takenMinor: room?.minor ?? 0 };
  const month = dayIn(timeZone, occurredAt).slice(0, 7);
  await mailBudgetUse(work, { termsId, terms, currency, month, ...usage });
  return room;
}

/** Adds the lines that terms are applied to. */
export const toPricing = (
  { currency }: Pick<FactsOrder, 'currency'>,
  fixed: Pick<Pricing, 'terms' | 'facts' | 'room'>,
  items: StoredItems,
): Pricing => ({ ...fixed, currency, lines: toOrderLines(items.items), refundedItems: items.refunded });

type DecidedCommission = Pick<CommissionRow, 'termsId' | 'decidedFacts' | 'room'>;

/** Builds the pricing of a commission from its terms and lines; undefined if its terms are a percentage alone. */
export function toCommissionPricing(
  order: Pick<FactsOrder, 'currency'>,
  { decidedFacts, room }: DecidedCommission,
  terms: Terms | undefined,
  items: StoredItems,
): Pricing | undefined {
  if (!terms || isPlain(terms)) return undefined;
  return toPricing(order, { terms, facts: parseFacts(decidedFacts), room: parseRoom(room) }, items);
}

/** Loads what prices a commission beside its order; undefined if its terms are a percentage alone. */
export async function loadCommissionPricing(
  db: Db,
  order: FactsOrder,
  commission: DecidedCommission,
): Promise<Pricing | undefined> {
  const { termsId } = commission;
  if (termsId === null) return undefined;
  const terms = (await listTermsByIds(db, order.brandId, [termsId])).get(termsId);
  if (!terms || isPlain(terms)) return undefined;
  return toCommissionPricing(order, commission, terms, await findItems(db, order));
}

/** True while an order that paid nobody may be decided again: for 24 hours. */
export const mayReconsider = ({ occurredAt }: Pick<OrderRow, 'occurredAt'>, at: Date): boolean =>
  at.getTime() <= occurredAt.getTime() + DAY_MS;
