import { sql } from 'kysely';
import type { z } from 'zod';
import { inBatches } from '../../kit/engines/postgres/batches.ts';
import { COUNT, countRows, isFound } from '../../kit/engines/postgres/count.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Work } from '../../kit/operation/work.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { validationError } from '../../kit/values/errors.ts';
import { fromPpm, toPpm } from '../../kit/values/money.ts';
import { getBrandCurrency } from '../../platform/brands/brands.ts';
import type { Job } from '../../platform/jobs/jobs.api.ts';
import { assertBelowLimit, createJob, toJob } from '../../platform/jobs/jobs.ts';
import { type LinkRow, listLinksByIds } from '../links/links.ts';
import { parseMinOrder, toRecordedRules } from '../rules/attribution-rules.ts';
import { explainCandidate } from './explain.ts';
import { Attribution } from './orders.shapes.ts';
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
import {
  MOST_CHANGED,
  type Simulation,
  type SimulationJob,
  type SimulationProgress,
  type SimulationRequest,
} from './simulations.shapes.ts';

export interface Period {
  from: Date;
  /** Inclusive. */
  to: Date;
}

const isInPeriod = (brandId: string, { from, to }: Period) => sql<boolean>`(orders.brand_id = ${brandId}
  and orders.occurred_at >= ${from} and orders.occurred_at <= ${to}
  and orders.paid_at is not null and orders.is_test is not true
  and orders.attribution ->> 'reason' is distinct from 'history')`;

const hasMoreThan = (db: Db, brandId: string, period: Period, orders: number): Promise<boolean> =>
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

export const countPaidOrders = (db: Db, brandId: string, period: Period): Promise<number> =>
  countRows(db.selectFrom('orders').select(COUNT).where(isInPeriod(brandId, period)));

type Facts = Pick<
  OrderRow,
  | 'id'
  | 'orderId'
  | 'integrationId'
  | 'currency'
  | 'baseMinor'
  | 'occurredAt'
  | 'paidAt'
  | 'cancelledAt'
  | 'firstCancelledAt'
  | 'storeUpdatedAt'
  | 'isTest'
  | 'isRenewal'
  | 'disputeLostAt'
  | 'attribution'
>;

/** A paid order with its commission, whose columns are null if it has none. */
export interface SimulatedOrder extends Facts, CommissionState {
  linkId: string | null;
  creatorId: string;
  holdEndsAt: Date | null;
  takenBackMinor: number;
}

/** Lists paid orders of a period without tests, newest first. */
async function listPaidOrders(
  db: Db,
  brandId: string,
  period: Period,
  after: Pick<SimulatedOrder, 'occurredAt' | 'id'> | undefined,
  limit: number,
): Promise<SimulatedOrder[]> {
  const isAfter = after ? sql`(orders.occurred_at, orders.id) < (${after.occurredAt}, ${after.id})` : sql`true`;
  const { rows } = await sql<SimulatedOrder>`
    select orders.id, orders.order_id, orders.integration_id, orders.currency, orders.base_minor, orders.occurred_at,
      orders.paid_at, orders.cancelled_at, orders.first_cancelled_at, orders.store_updated_at, orders.is_test,
      orders.is_renewal, orders.dispute_lost_at, orders.attribution,
      commission.link_id, commission.creator_id, commission.commission_rate_ppm as rate_ppm, commission.hold_days,
      commission.status, commission.status_note, commission.rejected_from, commission.note_before_rejection,
      commission.commission_minor, commission.hold_ends_at,
      coalesce((select sum(back.amount_minor) from commission_adjustments as back
        where back.brand_id = orders.brand_id and back.commission_id = commission.id), 0)::bigint as taken_back_minor
    from orders left join commissions as commission on commission.order_id = orders.id
    where ${isInPeriod(brandId, period)} and ${isAfter}
    order by orders.occurred_at desc, orders.id desc limit ${limit}`.execute(db);
  return rows;
}

/** Lists the present terms of codes and links. */
async function listTerms(db: Db, brandId: string, ids: readonly string[]) {
  if (ids.length === 0) return [];
  return await db
    .selectFrom('links')
    .select(['id', 'creatorId', 'commissionRatePpm', 'holdDays', 'paysRenewals'])
    .where('brandId', '=', brandId)
    .where(sql<boolean>`id = any(${[...ids]}::text[])`)
    .execute();
}
type LinkTerms = Pick<LinkRow, 'id' | 'creatorId' | 'commissionRatePpm' | 'holdDays' | 'paysRenewals'>;

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
  period: Period;
  rules: SimulatedRules;
  /** Time at which review periods count as ended or not. */
  asOf: Date;
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

export const toSimulationPlan = ({ from, to, rules, currency, as_of }: SimulationJob): SimulationPlan => ({
  period: { from: new Date(from), to: new Date(to) },
  rules: toSimulatedRules(rules, currency),
  asOf: new Date(as_of),
});

type Engines = Pick<Context, 'postgres' | 'clock'>;

/** Fills in what the request leaves open. Throws VALIDATION_ERROR. */
async function resolveRequest({ postgres, clock }: Engines, brandId: string, request: SimulationRequest) {
  const now = clock.now();
  const to = request.to ?? now;
  const from = request.from ?? new Date(to.getTime() - DEFAULT_DAYS * DAY_MS);
  if (from > to) throw validationError([{ field: 'from', code: 'invalid', message: 'must not be after `to`.' }]);
  const job: SimulationJob = {
    from: from.toISOString(),
    to: to.toISOString(),
    rules: request.rules,
    currency: await getBrandCurrency(postgres.db, brandId),
    as_of: now.toISOString(),
  };
  return { job, plan: toSimulationPlan(job) };
}

/** An order with its decision. */
interface DecidedOrder {
  row: SimulatedOrder;
  attribution: Attribution;
}

/** An order under the recorded and the simulated rules. */
interface OrderComparison extends DecidedOrder {
  decision: SimulatedDecision;
  now: Earning | undefined;
  after: Earning | undefined;
}

function compareOrder(
  { row, attribution }: DecidedOrder,
  refunds: readonly KnownRefund[],
  terms: ReadonlyMap<string, LinkTerms>,
  simulated: SimulatedRules,
): OrderComparison {
  const snapshot = toSnapshot(row);
  const decision = simulateDecision(
    { ...snapshot, currency: row.currency, attribution },
    simulated,
    (id) => terms.get(id)?.paysRenewals ?? null,
  );
  const { linkId } = row;
  const commission: RecordedCommission | undefined = linkId === null ? undefined : { ...row, linkId };
  const winner = decision.winner === undefined ? undefined : terms.get(decision.winner);
  return {
    row,
    attribution,
    decision,
    now: commission && computeEarning(commission),
    after: winner && simulateEarning({ snapshot, refunds }, winner, commission, simulated),
  };
}

async function compareOrders(db: Db, brandId: string, rows: readonly SimulatedOrder[], simulated: SimulatedRules) {
  const refunds = await listRefundsByOrder(db, brandId, rows);
  const toOrderKey = ({ integrationId, orderId }: { integrationId: string; orderId: string }) =>
    `${integrationId} ${orderId}`;
  const byOrder = Map.groupBy(refunds, toOrderKey);
  const decided = rows.map((row): DecidedOrder => ({ row, attribution: Attribution.parse(row.attribution) }));
  const linkIds = decided.flatMap(({ attribution }) => attribution.candidates.flatMap(({ link_id }) => link_id ?? []));
  const terms = new Map((await listTerms(db, brandId, [...new Set(linkIds)])).map((one) => [one.id, one]));
  return decided.map((one) => compareOrder(one, byOrder.get(toOrderKey(one.row)) ?? [], terms, simulated));
}

type Sums = SimulationProgress['sums'][number];

const NO_SUMS = {
  orders_now: 0,
  orders_simulated: 0,
  commission_now_minor: 0,
  commission_simulated_minor: 0,
  in_review_now_minor: 0,
  in_review_simulated_minor: 0,
};

const toKey = ({ creatorId, currency }: Pick<Sums, 'creatorId' | 'currency'>) => `${currency} ${creatorId}`;

/** Sums by creator and currency. */
class Tally {
  readonly #sums = new Map<string, Sums>();
  readonly #at: Date;

  constructor(at: Date, before: readonly Sums[]) {
    this.#at = at;
    for (const sums of before) this.#sums.set(toKey(sums), { ...sums });
  }

  add({ row: { currency }, now, after }: OrderComparison): void {
    if (now) this.#addTo(now, currency, 'now');
    if (after) this.#addTo(after, currency, 'simulated');
  }

  #addTo({ creatorId, minor, holdEndsAt }: Earning, currency: string, side: 'now' | 'simulated'): void {
    const key = toKey({ creatorId, currency });
    const sums = this.#sums.get(key) ?? { ...NO_SUMS, creatorId, currency };
    sums[`orders_${side}` as const] += 1;
    sums[`commission_${side}_minor` as const] += minor;
    if (holdEndsAt && holdEndsAt > this.#at) sums[`in_review_${side}_minor` as const] += minor;
    this.#sums.set(key, sums);
  }

  /** Sorted by the change of the commission, largest first. */
  get rows(): Sums[] {
    const change = (sums: Sums) => Math.abs(sums.commission_simulated_minor - sums.commission_now_minor);
    return [...this.#sums.values()].sort(
      (a, b) => change(b) - change(a) || (`${a.creatorId}${a.currency}` < `${b.creatorId}${b.currency}` ? -1 : 1),
    );
  }
}

function sumByCurrency(rows: readonly Sums[]) {
  const totals = new Map<string, typeof NO_SUMS>();
  for (const { creatorId: _creator, currency, ...sums } of rows) {
    const total = totals.get(currency) ?? NO_SUMS;
    totals.set(currency, {
      orders_now: total.orders_now + sums.orders_now,
      orders_simulated: total.orders_simulated + sums.orders_simulated,
      commission_now_minor: total.commission_now_minor + sums.commission_now_minor,
      commission_simulated_minor: total.commission_simulated_minor + sums.commission_simulated_minor,
      in_review_now_minor: total.in_review_now_minor + sums.in_review_now_minor,
      in_review_simulated_minor: total.in_review_simulated_minor + sums.in_review_simulated_minor,
    });
  }
  return [...totals].sort(([a], [b]) => (a < b ? -1 : 1)).map(([currency, sums]) => ({ currency, ...sums }));
}

type Names = ReadonlyMap<string, { value: string }>;

/** Explains why the rules change an order: its current winner loses, and another wins. */
function explainChange({ now, after, attribution, decision }: OrderComparison, names: Names): string {
  if (now && after && now.linkId === after.linkId) {
    return now.ratePpm === after.ratePpm
      ? 'The review or payment of this commission stands.'
      : `The rate is ${fromPpm(after.ratePpm)}% instead of ${fromPpm(now.ratePpm)}%.`;
  }
  const rules = toRecordedRules(decision.rules);
  const wonBefore = attribution.candidates.findIndex(({ outcome }) => outcome === 'won');
  const lost = decision.candidates[wonBefore];
  const won = decision.candidates.find(({ outcome }) => outcome === 'won');
  return [lost, won]
    .flatMap((candidate) => {
      if (!candidate) return [];
      const name = candidate.link_id === null ? undefined : names.get(candidate.link_id)?.value;
      return [`${name ?? 'Another one'}: ${explainCandidate(candidate, { rule: decision.rule, rules })}`];
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
async function toChangedOrders(db: Db, brandId: string, changed: readonly OrderComparison[]): Promise<Changed[]> {
  const linkIds = changed.flatMap(({ decision }) => decision.candidates.flatMap(({ link_id }) => link_id ?? []));
  const names = new Map((await listLinksByIds(db, brandId, [...new Set(linkIds)])).map((link) => [link.id, link]));
  const creatorIds = changed.flatMap(({ now, after }) => [now, after].flatMap((owed) => owed?.creatorId ?? []));
  const people = await listPeople(db, brandId, [...new Set(creatorIds)]);
  const emails = new Map(people.map(({ id, email }) => [id, email]));
  return changed.map((one) => {
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
    };
  });
}

export const NOTHING_YET: SimulationProgress = {
  after: null,
  sums: [],
  changed: [],
  counts: { orders: 0, changed: 0, without_candidates: 0 },
};

const ORDERS_A_NOTE = 1_000;

/**
 * Simulates the next orders of the period, newest first, with the function that decides orders. It reads one snapshot
 * and writes nothing.
 */
export async function simulateNextOrders(
  { postgres }: Pick<Context, 'postgres'>,
  brandId: string,
  { period, rules, asOf }: SimulationPlan,
  before: SimulationProgress,
  { most, seen }: { most: number; seen?: (orders: number) => void },
): Promise<{ progress: SimulationProgress; isLast: boolean }> {
  const tally = new Tally(asOf, before.sums);
  const changed: OrderComparison[] = [];
  const counts = { ...before.counts };
  const begin = before.after ?? undefined;
  let { after } = before;
  let orders = 0;
  const batches = inBatches<OrderComparison>(postgres.exports, brandId, async (db, last, limit) =>
    compareOrders(db, brandId, await listPaidOrders(db, brandId, period, last?.row ?? begin, limit), rules),
  );
  for await (const one of batches) {
    tally.add(one);
    after = { occurredAt: one.row.occurredAt, id: one.row.id };
    orders += 1;
    counts.orders += 1;
    if (one.attribution.candidates.length === 0) counts.without_candidates += 1;
    if (one.now?.linkId !== one.after?.linkId || one.now?.minor !== one.after?.minor) {
      counts.changed += 1;
      if (counts.changed <= MOST_CHANGED) changed.push(one);
    }
    if (orders % ORDERS_A_NOTE === 0) seen?.(counts.orders);
    if (orders === most) break;
  }
  const changedOrders = [...before.changed, ...(await toChangedOrders(postgres.db, brandId, changed))];
  return { progress: { after, sums: tally.rows, changed: changedOrders, counts }, isLast: orders < most };
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
