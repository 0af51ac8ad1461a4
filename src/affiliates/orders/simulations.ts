import { sql } from 'kysely';
import type { z } from 'zod';
import { isPlain, toPlainFields } from '../../analytics/pricing/plain.ts';
import { inBatches } from '../../kit/engines/postgres/batches.ts';
import { COUNT, countRows, isFound } from '../../kit/engines/postgres/count.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import type { Work } from '../../kit/operation/work.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { validationError } from '../../kit/values/errors.ts';
import { formatMoney } from '../../kit/values/format.ts';
import { fromPpm, toPpm } from '../../kit/values/money.ts';
import { getBrandCurrency } from '../../platform/brands/brands.ts';
import type { Job } from '../../platform/jobs/jobs.api.ts';
import { assertBelowLimit, createJob, toJob } from '../../platform/jobs/jobs.ts';
import type { Terms } from '../../workflow/terms/terms.shapes.ts';
import { listTermsByIds } from '../../workflow/terms/versions.ts';
import { listLinksByIds } from '../links/links.ts';
import { parseMinOrder, toRecordedRules } from '../rules/attribution-rules.ts';
import { getLinkTerms } from '../terms/effective.ts';
import { Attribution } from './attribution.shapes.ts';
import { toCommissionPricing } from './decision-facts.ts';
import { explainCandidate } from './explain.ts';
import { listItemsById } from './items.ts';
import { getOrderKind } from './order-kinds.ts';
import type { OrderRow } from './orders.ts';
import { type CommissionState, type KnownRefund, toSnapshot } from './recompute.ts';
import { listRefundsByOrder } from './refunds.ts';
import {
  computeEarning,
  type Earning,
  type RecordedCommission,
  type SimulatedDecision,
  type SimulatedRules,
  simulateDecision,
  simulateEarning,
} from './simulated-order.ts';
import { sumByCurrency, Tally } from './simulated-sums.ts';
import {
  assertPlace,
  findGap,
  listTriedLinks,
  loadTriedPricings,
  noteUsed,
  type TriedOrder,
  type TriedPlace,
  type TriedPricing,
  type UsedOfLimits,
  withRoom,
} from './simulated-terms.ts';
import {
  MOST_CHANGED,
  type Simulation,
  type SimulationJob,
  type SimulationProgress,
  type SimulationRequest,
} from './simulations.shapes.ts';

export interface SimulationPeriod {
  from: Date;
  /** Inclusive. */
  to: Date;
}

const isInPeriod = (brandId: string, { from, to }: SimulationPeriod) => sql<boolean>`(orders.brand_id = ${brandId}
  and orders.occurred_at >= ${from} and orders.occurred_at <= ${to}
  and orders.paid_at is not null and orders.is_test is not true
  and orders.attribution ->> 'reason' is distinct from 'history')`;

const hasMoreThan = (db: Db, brandId: string, period: SimulationPeriod, orders: number): Promise<boolean> =>
  isFound(
    db
      .selectFrom('orders')
      .select('id')
      .where(isInPeriod(brandId, period))
      .orderBy('occurredAt', 'desc')
      .orderBy('id', 'desc')
      .offset(orders)
      .limit(1),
  );

export const countPaidOrders = (db: Db, brandId: string, period: SimulationPeriod): Promise<number> =>
  countRows(db.selectFrom('orders').select(COUNT).where(isInPeriod(brandId, period)));

type SimulatedOrderRow = Pick<
  OrderRow,
  | 'id'
  | 'brandId'
  | 'customerHash'
  | 'customerIdHash'
  | 'orderId'
  | 'orderNumber'
  | 'integrationId'
  | 'currency'
  | 'baseMinor'
  | 'occurredAt'
  | 'paidAt'
  | 'cancelledAt'
  | 'firstCancelledAt'
  | 'storeUpdatedAt'
  | 'isTest'
  | 'kind'
  | 'isRenewal'
  | 'disputeLostAt'
  | 'attribution'
  | 'country'
>;

/** A paid order with its commission, whose columns are null if it has none. */
export interface SimulatedOrder extends SimulatedOrderRow, CommissionState {
  linkId: string | null;
  creatorId: string;
  holdEndsAt: Date | null;
  takenBackMinor: number;
  termsId: string | null;
  decidedFacts: unknown;
  room: unknown;
}

/** Lists paid orders of a period without tests, newest first; where they use up limits, in the order of time. */
async function listPaidOrders(
  db: Db,
  brandId: string,
  { period, isOldestFirst }: { period: SimulationPeriod; isOldestFirst: boolean },
  after: Pick<SimulatedOrder, 'occurredAt' | 'id'> | undefined,
  limit: number,
): Promise<SimulatedOrder[]> {
  const [sign, direction] = isOldestFirst ? [sql`>`, sql`asc`] : [sql`<`, sql`desc`];
  const isAfter = after ? sql`(orders.occurred_at, orders.id) ${sign} (${after.occurredAt}, ${after.id})` : sql`true`;
  const { rows } = await sql<SimulatedOrder>`
    select orders.id, orders.order_id, orders.order_number, orders.integration_id, orders.currency, orders.base_minor, orders.occurred_at,
      orders.paid_at, orders.cancelled_at, orders.first_cancelled_at, orders.store_updated_at, orders.is_test,
      orders.kind, orders.is_renewal, orders.dispute_lost_at, orders.attribution,
      commission.link_id, commission.creator_id, commission.commission_rate_ppm as rate_ppm, commission.hold_days,
      commission.status, commission.status_note, commission.rejected_from, commission.note_before_rejection, commission.clawed_back_at,
      commission.commission_minor, commission.hold_ends_at, commission.terms_id, commission.decided_facts, commission.room,
      orders.brand_id, orders.customer_hash, orders.customer_id_hash, orders.country,
      coalesce((select sum(back.amount_minor) from commission_adjustments as back
        where back.brand_id = orders.brand_id and back.commission_id = commission.id), 0)::bigint as taken_back_minor
    from orders left join commissions as commission on commission.order_id = orders.id
    where ${isInPeriod(brandId, period)} and ${isAfter}
    order by orders.occurred_at ${direction}, orders.id ${direction} limit ${limit}`.execute(db);
  return rows;
}

/** Lists the present terms of codes and links. */
async function listTerms(db: Db, brandId: string, ids: readonly string[]) {
  const rows = await listLinksByIds(db, brandId, ids);
  return rows.map(({ id, creatorId, holdDays, ...link }) => {
    const { percent, paysRenewals } = toPlainFields(getLinkTerms(link).terms);
    return { id, creatorId, holdDays, commissionRatePpm: toPpm(percent) ?? 0, paysRenewals };
  });
}
type LinkTerms = Awaited<ReturnType<typeof listTerms>>[number];

async function listPeople(db: Db, brandId: string, ids: readonly string[]) {
  return await db
    .selectFrom('creators')
    .select(['id', 'email', 'name'])
    .where('brandId', '=', brandId)
    .where(sql<boolean>`id = any(${[...ids]}::text[])`)
    .execute();
}

export const SIMULATION = 'simulation';

const DEFAULT_DAYS = 30;

/** A simulation with resolved period, amounts and time. */
interface SimulationPlan {
  period: SimulationPeriod;
  rules: SimulatedRules;
  /** Time at which review periods count as ended or not. */
  asOf: Date;
  /** Terms to try, and where they would stand; null without any. */
  tried: { terms: Terms; of: TriedPlace } | null;
}

function toSimulatedRules(rules: SimulationRequest['rules'], currency: string): SimulatedRules {
  const { min_order: amount } = rules;
  const minOrder = amount === 0 ? null : parseMinOrder('rules.min_order', amount ?? undefined, currency);
  return {
    attributionDays: rules.attribution_days ?? undefined,
    holdDays: rules.hold_days ?? undefined,
    model: rules.model ?? undefined,
    couponPolicy: rules.coupon_policy ?? undefined,
    minOrder,
    ratePpm: rules.rate === undefined || rules.rate === null ? undefined : toPpm(rules.rate),
  };
}

export const toSimulationPlan = ({ from, to, rules, of = {}, currency, as_of }: SimulationJob): SimulationPlan => ({
  period: { from: new Date(from), to: new Date(to) },
  rules: toSimulatedRules(rules, currency),
  asOf: new Date(as_of),
  tried: rules.terms ? { terms: rules.terms, of } : null,
});

type Engines = Pick<Context, 'postgres' | 'clock'>;

/** Fills in what the request leaves open. Throws VALIDATION_ERROR. */
async function resolveRequest({ postgres, clock }: Engines, brandId: string, request: SimulationRequest) {
  const now = clock.now();
  const to = request.to ?? now;
  const from = request.from ?? new Date(to.getTime() - DEFAULT_DAYS * DAY_MS);
  if (from > to) throw validationError([{ field: 'from', code: 'invalid', message: 'must not be after `to`.' }]);
  if (request.of) await assertPlace(postgres.db, brandId, request.of);
  const job: SimulationJob = {
    from: from.toISOString(),
    to: to.toISOString(),
    rules: request.rules,
    of: request.of,
    currency: await getBrandCurrency(postgres.db, brandId),
    as_of: now.toISOString(),
  };
  return { job, plan: toSimulationPlan(job) };
}

/** An order with its decision. */
interface SimulatedDecisionRow {
  row: SimulatedOrder;
  attribution: Attribution;
}

/** An order under the recorded and the simulated rules. */
interface OrderComparison extends SimulatedDecisionRow {
  decision: SimulatedDecision;
  now: Earning | undefined;
  after: Earning | undefined;
}

/** An order with whom the simulated rules let win. */
interface SimulatedWinner extends SimulatedDecisionRow {
  decision: SimulatedDecision;
  winner: LinkTerms | undefined;
}

/** A comparison without its other side, as limits make that depend on the orders before. */
interface OpenComparison extends Omit<OrderComparison, 'after'> {
  gap: ReturnType<typeof findGap>;
  earn: (usedLimits: UsedOfLimits) => Earning | undefined;
}

/** Tried terms, with their codes and links. */
interface TriedTerms {
  terms: Terms;
  /** The brand's, of which the months of limits are. */
  timeZone: string;
  linkIds: ReadonlySet<string>;
}

/** Decides an order again. Its earning under the simulated rules follows from the pricing by tried terms, if there is one. */
function compareOrder(
  { row, attribution, decision, winner }: SimulatedWinner,
  refunds: readonly KnownRefund[],
  priced: TriedPricing | undefined,
  { simulated, tried }: { simulated: SimulatedRules; tried: TriedTerms | null },
): OpenComparison {
  const { linkId } = row;
  const commission: RecordedCommission | undefined = linkId === null ? undefined : { ...row, linkId };
  const order = { snapshot: toSnapshot(row), refunds };
  const comparison = { row, attribution, decision, now: commission && computeEarning(commission) };
  if (!winner || !tried || !priced || !('pricing' in priced)) {
    const rules = priced && 'ratePpm' in priced ? { ...simulated, ratePpm: priced.ratePpm } : simulated;
    return { ...comparison, gap: null, earn: () => winner && simulateEarning(order, winner, commission, rules) };
  }
  const { pricing } = priced;
  const { creatorId } = winner;
  return {
    ...comparison,
    gap: findGap(tried.terms, pricing),
    earn: (usedLimits) => {
      const fixedPricing = withRoom(row, order, { creatorId, pricing, timeZone: tried.timeZone }, usedLimits);
      const earning = simulateEarning(order, winner, commission, simulated, fixedPricing);
      noteUsed(row, creatorId, tried, earning.minor, usedLimits);
      return earning;
    },
  };
}

async function compareOrders(
  db: Db,
  brandId: string,
  rows: readonly SimulatedOrder[],
  trial: { simulated: SimulatedRules; tried: TriedTerms | null; links: Map<string, LinkTerms> },
): Promise<OpenComparison[]> {
  const { simulated, tried, links } = trial;
  const refunds = await listRefundsByOrder(db, brandId, rows);
  const toOrderKey = ({ integrationId, orderId }: { integrationId: string; orderId: string }) =>
    `${integrationId} ${orderId}`;
  const byOrder = Map.groupBy(refunds, toOrderKey);
  const decisionRows = rows.map(
    (row): SimulatedDecisionRow => ({ row, attribution: Attribution.parse(row.attribution) }),
  );
  const linkIds = decisionRows.flatMap(({ attribution }) =>
    attribution.candidates.flatMap(({ link_id }) => link_id ?? []),
  );
  const unread = [...new Set(linkIds)].filter((id) => !links.has(id));
  for (const one of await listTerms(db, brandId, unread)) links.set(one.id, one);
  const termsIds = rows.flatMap(({ termsId }) => termsId ?? []);
  const terms = await listTermsByIds(db, brandId, termsIds);
  const isPriced = ({ termsId }: SimulatedOrder) => {
    const own = termsId === null ? undefined : terms.get(termsId);
    return own !== undefined && !isPlain(own);
  };
  const items = await listItemsById(db, brandId, tried ? rows : rows.filter(isPriced));
  const simulatedWinners = decisionRows.map(({ row, attribution }): SimulatedWinner => {
    const { termsId } = row;
    const lines = items.get(row.id);
    const pricing = lines && toCommissionPricing(row, row, termsId === null ? undefined : terms.get(termsId), lines);
    const decision = simulateDecision(
      { ...toSnapshot(row), isRenewal: getOrderKind(row) === 'renewal', currency: row.currency, attribution },
      simulated,
      (id) => links.get(id)?.paysRenewals ?? null,
    );
    const winner = decision.winner === undefined ? undefined : links.get(decision.winner);
    return { row: { ...row, pricing }, attribution, decision, winner };
  });
  const triedOrders = simulatedWinners.flatMap(({ row, attribution, winner }): TriedOrder[] =>
    winner && tried?.linkIds.has(winner.id)
      ? [{ row, attribution, creatorId: winner.creatorId, recorded: row.pricing }]
      : [],
  );
  const triedPricings = tried ? await loadTriedPricings(db, brandId, tried, triedOrders, items) : undefined;
  return simulatedWinners.map((one) =>
    compareOrder(one, byOrder.get(toOrderKey(one.row)) ?? [], triedPricings?.get(one.row.id), trial),
  );
}

type LinkValues = ReadonlyMap<string, { value: string }>;

const CLAIM = 'The order belongs to a customer whom its creator brought.';

/** Explains why the rules change an order: its current winner loses, and another wins. */
function explainChange({ row, now, after, attribution, decision }: OrderComparison, names: LinkValues): string {
  if (now && after && now.linkId === after.linkId) {
    if (now.ratePpm !== after.ratePpm)
      return `The rate is ${fromPpm(after.ratePpm)}% instead of ${fromPpm(now.ratePpm)}%.`;
    if (row.status !== 'pending' && row.status !== 'approved')
      return 'The review or payment of this commission stands.';
    const money = (minor: number) => formatMoney(minor, row.currency);
    return `At the same rate, its limits leave ${money(after.minor)} instead of ${money(now.minor)}.`;
  }
  const rules = toRecordedRules(decision.rules);
  const wonBefore = attribution.candidates.findIndex(({ outcome }) => outcome === 'won');
  const lostCandidate = decision.candidates[wonBefore];
  const won = decision.candidates.find(({ outcome }) => outcome === 'won');
  return [lostCandidate, won]
    .flatMap((candidate) => {
      if (!candidate) return [];
      const name = candidate.link_id === null ? undefined : names.get(candidate.link_id)?.value;
      const why = candidate.type === 'customer' ? CLAIM : explainCandidate(candidate, { rule: decision.rule, rules });
      return [`${name ?? 'Another one'}: ${why}`];
    })
    .join(' ');
}

type Changed = Simulation['data']['changed'][number];
type Shown = z.input<typeof Attribution>['rule'];

function toSide(owed: Earning | undefined, rule: Shown, emails: ReadonlyMap<string, string | null>): Changed['now'] {
  return owed
    ? {
        link_id: owed.linkId,
        creator_email: emails.get(owed.creatorId) ?? null,
        rule,
        commission_rate: fromPpm(owed.ratePpm),
        commission_minor: owed.minor,
      }
    : null;
}

/** Converts changed orders to the response. */
async function toChangedOrders(db: Db, brandId: string, comparisons: readonly OrderComparison[]): Promise<Changed[]> {
  const linkIds = comparisons.flatMap(({ decision }) => decision.candidates.flatMap(({ link_id }) => link_id ?? []));
  const names = new Map((await listLinksByIds(db, brandId, [...new Set(linkIds)])).map((link) => [link.id, link]));
  const creatorIds = comparisons.flatMap(({ now, after }) => [now, after].flatMap((owed) => owed?.creatorId ?? []));
  const people = await listPeople(db, brandId, [...new Set(creatorIds)]);
  const emails = new Map(people.map(({ id, email }) => [id, email]));
  return comparisons.map((one) => {
    const { row, now, after, attribution, decision } = one;
    return {
      id: row.id,
      order_id: row.orderId,
      integration_id: row.integrationId,
      currency: row.currency,
      occurred_at: row.occurredAt.toISOString(),
      amount_minor: row.baseMinor,
      now: toSide(now, attribution.rule, emails),
      simulated: toSide(after, decision.rule, emails),
      reason: explainChange(one, names),
      order_number: row.orderNumber,
    };
  });
}

export const NOTHING_YET: SimulationProgress = {
  after: null,
  sums: [],
  changed: [],
  counts: { orders: 0, changed: 0, without_candidates: 0, without_lines: 0, without_categories: 0 },
  used: [],
};

const ORDERS_A_NOTE = 1_000;

/**
 * Simulates the next orders of the period, newest first, with the function that decides orders. It reads one snapshot
 * and writes nothing.
 */
export async function simulateNextOrders(
  { postgres }: Pick<Context, 'postgres'>,
  brandId: string,
  { period, rules: simulated, asOf, tried: given }: SimulationPlan,
  before: SimulationProgress,
  { most, seen }: { most: number; seen?: (orders: number) => void },
): Promise<{ progress: SimulationProgress; isLast: boolean }> {
  const tally = new Tally(asOf, before.sums);
  const comparisons: OrderComparison[] = [];
  const counts = { ...before.counts };
  const begin = before.after ?? undefined;
  let { after } = before;
  let orders = 0;
  const usedLimits: UsedOfLimits = new Map(before.used);
  const triedTerms = given && {
    terms: given.terms,
    timeZone: await getTimeZone(postgres.db, brandId),
    linkIds: await listTriedLinks(postgres.db, brandId, given.of),
  };
  const links = new Map<string, LinkTerms>();
  const span = { period, isOldestFirst: triedTerms !== null };
  const batches = inBatches<OpenComparison>(postgres.exports, brandId, async (db, last, limit) => {
    const rows = await listPaidOrders(db, brandId, span, last?.row ?? begin, limit);
    return await compareOrders(db, brandId, rows, { simulated, tried: triedTerms, links });
  });
  for await (const { earn, gap, ...open } of batches) {
    const one = { ...open, after: earn(usedLimits) };
    tally.add(one);
    if (gap !== null) counts[gap] += 1;
    after = { occurredAt: one.row.occurredAt, id: one.row.id };
    orders += 1;
    counts.orders += 1;
    if (one.attribution.candidates.length === 0) counts.without_candidates += 1;
    if (one.now?.linkId !== one.after?.linkId || one.now?.minor !== one.after?.minor) {
      counts.changed += 1;
      if (counts.changed <= MOST_CHANGED) comparisons.push(one);
    }
    if (orders % ORDERS_A_NOTE === 0) seen?.(counts.orders);
    if (orders === most) break;
  }
  const changedOrders = [...before.changed, ...(await toChangedOrders(postgres.db, brandId, comparisons))];
  return {
    progress: { after, sums: tally.rows, changed: changedOrders, counts, used: [...usedLimits] },
    isLast: orders < most,
  };
}

/** Converts the sums of a simulation to the response. */
export async function toSimulation(
  db: Db,
  brandId: string,
  { period }: SimulationPlan,
  { sums, changed, counts }: SimulationProgress,
): Promise<Simulation> {
  const people = await listPeople(db, brandId, [...new Set(sums.map(({ creatorId }) => creatorId))]);
  const byId = new Map(people.map((one) => [one.id, one]));
  return {
    data: {
      totals: sumByCurrency(sums),
      creators: sums.map(({ creatorId, ...its }) => ({
        creator_id: creatorId,
        creator_email: byId.get(creatorId)?.email ?? null,
        creator_name: byId.get(creatorId)?.name ?? null,
        ...its,
      })),
      changed,
    },
    meta: { period: { from: period.from.toISOString(), to: period.to.toISOString() }, ...counts },
  };
}

/** Simulates what the brand's orders of a period would have earned under other rules. */
export async function simulate(context: Engines, brandId: string, request: SimulationRequest): Promise<Simulation> {
  const { plan } = await resolveRequest(context, brandId, request);
  const most = Number.POSITIVE_INFINITY;
  const { progress } = await simulateNextOrders(context, brandId, plan, NOTHING_YET, { most });
  return await toSimulation(context.postgres.db, brandId, plan, progress);
}

/** Starts a job if there are more orders than a call simulates; undefined otherwise. */
export async function startSimulation(context: Context, brandId: string, request: SimulationRequest) {
  const { postgres, config } = context;
  const { job, plan } = await resolveRequest(context, brandId, request);
  if (!(await hasMoreThan(postgres.db, brandId, plan.period, config.simulationOrders))) return undefined;
  return async (work: Work): Promise<{ data: z.input<typeof Job> }> => {
    await assertBelowLimit(work);
    return { data: toJob(await createJob(work, { kind: SIMULATION, request: job, dueAt: work.now }), context) };
  };
}
