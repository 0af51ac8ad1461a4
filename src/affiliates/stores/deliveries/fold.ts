import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import type { Context } from '../../../kit/operation/context.ts';
import { inWork, type Work } from '../../../kit/operation/work.ts';
import { ApiError } from '../../../kit/values/errors.ts';
import { recordWish } from '../../data-requests/data-requests.ts';
import { recordReadings } from '../../orders/record.ts';
import { openStore } from '../connections/access.ts';
import { listReceivers, markUninstalled, type Receiver, updateAccessStatus } from '../connections/connections.ts';
import { updateHealth } from '../connections/health.ts';
import { getClient } from '../formats/clients.ts';
import { parseDelivery } from '../formats/delivery-body.ts';
import {
  type Delivery,
  getRetryAfterMs,
  getSettings,
  needsReconnect,
  type PersonWish,
  type Reading,
  type StoreAccess,
  type StoreSettings,
} from '../formats/provider.ts';
import type { DELIVERY_STATES, Reason } from './deliveries.shapes.ts';
import { toFailedOutcome, toOutcome } from './outcomes.ts';
import { askAboutOrder, usesProducts } from './store-questions.ts';

/** A brand with due deliveries; `dueAt` is that of the longest waiting one. */
interface DueBrand {
  brandId: string;
  dueAt: Date;
}

/** Lists brands with due deliveries that no worker folds, with one index probe for each brand that has waiting ones. */
export async function listDueBrands(db: Db, owner: string, now: Date): Promise<DueBrand[]> {
  const { rows } = await sql<DueBrand>`
    with recursive waiting as (
      (select brand_id, next_attempt_at from store_deliveries where state = 'waiting'
        order by brand_id, next_attempt_at limit 1)
      union all
      select next.brand_id, next.next_attempt_at from waiting cross join lateral (
        select brand_id, next_attempt_at from store_deliveries
        where state = 'waiting' and brand_id > waiting.brand_id order by brand_id, next_attempt_at limit 1) as next)
    select waiting.brand_id, next_attempt_at as due_at from waiting
    left join store_delivery_claims as claim on claim.brand_id = waiting.brand_id
      and claim.owner <> ${owner} and claim.claimed_until > ${now}
    where next_attempt_at <= ${now} and claim.brand_id is null order by next_attempt_at`.execute(db);
  return rows;
}

export interface DeliveryClaim {
  brandId: string;
  owner: string;
  now: Date;
  until: Date;
}

interface ClaimSize {
  rows: number;
  /** Limit on the sum of the bodies; the first one is always taken. */
  bytes: number;
}

/** A delivery to fold. */
export interface ClaimedDelivery {
  id: string;
  integrationId: string;
  topic: string | null;
  headers: unknown;
  body: Buffer;
  attempts: number;
  receivedAt: Date;
}

/** Claims a brand for this worker and returns its oldest due deliveries; none if another worker has the brand. */
async function claimDeliveries(db: Db, claim: DeliveryClaim, size: ClaimSize): Promise<ClaimedDelivery[]> {
  const { brandId, owner, now, until } = claim;
  const { rows } = await sql<ClaimedDelivery>`
    with claim as (
      insert into store_delivery_claims as held (brand_id, owner, claimed_until) values (${brandId}, ${owner}, ${until})
      on conflict (brand_id) do update set owner = excluded.owner, claimed_until = excluded.claimed_until
        where held.owner = excluded.owner or held.claimed_until <= ${now}
      returning brand_id)
    select id, integration_id, topic, headers, body, attempts, received_at from (
      select delivery.*, sum(octet_length(body)) over (order by next_attempt_at, id) - octet_length(body) as bytes_before
      from (
        select id, integration_id, topic, headers, body, attempts, received_at, next_attempt_at from store_deliveries
        where brand_id = (select brand_id from claim) and state = 'waiting' and next_attempt_at <= ${now}
        order by next_attempt_at, id limit ${size.rows}) as delivery) as due
    where bytes_before < ${size.bytes} order by next_attempt_at, id`.execute(db);
  return rows;
}

async function releaseClaim(db: Db, { brandId, owner }: Pick<DeliveryClaim, 'brandId' | 'owner'>): Promise<void> {
  await db
    .updateTable('storeDeliveryClaims')
    // `-infinity`, so that clock skew cannot keep a claim alive.
    .set({ claimedUntil: sql<Date>`'-infinity'` })
    .where('brandId', '=', brandId)
    .where('owner', '=', owner)
    .execute();
}

interface InboxFigures {
  /** Deliveries due now, and those with a later attempt. */
  waiting: { due: number; later: number };
  oldestDueAt: Date | null;
  /** Recent deliveries by state. */
  received: { state: string; count: number }[];
}

export async function readInbox(db: Db, now: Date, since: Date): Promise<InboxFigures> {
  const { rows } = await sql<{ due: number; later: number; oldestDueAt: Date | null }>`
    select count(*) filter (where next_attempt_at <= ${now}) as due,
      count(*) filter (where next_attempt_at > ${now}) as later,
      min(next_attempt_at) filter (where next_attempt_at <= ${now}) as oldest_due_at
    from store_deliveries where state = 'waiting'`.execute(db);
  const { oldestDueAt = null, ...waiting } = rows[0] ?? { due: 0, later: 0 };
  const received = await db
    .selectFrom('storeDeliveries')
    .select(({ fn }) => ['state', fn.countAll<number>().as('count')])
    .where('receivedAt', '>', since)
    .groupBy('state')
    .execute();
  return { waiting, oldestDueAt, received };
}

/** The outcome of a delivery. */
export interface DeliveryOutcome {
  id: string;
  /** Attempts before this one. */
  attemptsBefore: number;
  attempts: number;
  state: (typeof DELIVERY_STATES)[number];
  nextAttemptAt: Date | null;
  reason: Reason | null;
  notes: readonly string[];
  topic: string | null;
  orderId: string | null;
}

/**
 * Stores the outcomes of deliveries and returns the ids of those that no other worker has folded. Only the primary key can
 * find them: when a backlog begins, the statistics know of none that waits, and each would be compared with all of it.
 */
async function updateOutcomes(
  db: Db,
  brandId: string,
  outcomes: readonly DeliveryOutcome[],
  now: Date,
): Promise<Set<string>> {
  const of = <V>(value: (outcome: DeliveryOutcome) => V) => outcomes.map(value);
  const { rows } = await sql<{ id: string }>`
    update store_deliveries as delivery set
      state = became.state, attempts = became.attempts, tried_at = ${now},
      next_attempt_at = became.next_attempt_at, reason = nullif(became.reason, 'null'), notes = became.notes,
      topic = coalesce(delivery.topic, became.topic), order_id = coalesce(became.order_id, delivery.order_id),
      finished_at = case when became.state = 'waiting' then null else ${now}::timestamptz end
    from unnest(${of(({ id }) => id)}::text[], ${of(({ attemptsBefore }) => attemptsBefore)}::int[],
      ${of(({ attempts }) => attempts)}::int[],
      ${of(({ state }) => state)}::text[], ${of(({ nextAttemptAt }) => nextAttemptAt?.toISOString() ?? null)}::timestamptz[],
      ${of(({ reason }) => JSON.stringify(reason))}::jsonb[], ${of(({ notes }) => JSON.stringify(notes))}::jsonb[],
      ${of(({ topic }) => topic)}::text[], ${of(({ orderId }) => orderId)}::text[])
      as became (id, attempts_before, attempts, state, next_attempt_at, reason, notes, topic, order_id)
    where delivery.id = became.id and became.attempts_before =
      case when delivery.brand_id = ${brandId} and delivery.state = 'waiting' then delivery.attempts end
    returning delivery.id`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** Makes the waiting deliveries of a store that answers again due now. */
async function updateWaitingToDue(db: Db, brandId: string, integrationId: string, now: Date): Promise<void> {
  await db
    .updateTable('storeDeliveries')
    .set({ nextAttemptAt: now })
    .where('brandId', '=', brandId)
    .where('integrationId', '=', integrationId)
    .where('state', '=', 'waiting')
    .where('nextAttemptAt', '>', now)
    .execute();
}

/** After this many deliveries without an answer, a store is not called again for the same batch. */
const UNANSWERED = 3;

/** State of a store within one batch. */
interface StoreBatch {
  receiver: Receiver;
  /** Opened for the first delivery that requires a call. Most require none, even those of a disconnected store. */
  opened: Promise<StoreAccess> | undefined;
  hasAnswered: boolean;
  /** Number of deliveries without an answer since the last one. */
  unanswered: number;
  /** Why not. */
  failure: unknown;
}

/** The store was not called, because it did not answer other deliveries of the batch. */
class StoreNotCalled extends Error {}

/** Stands in for the store at first; reading its token throws, which shows that the store has to be called. */
class StoreNotOpened extends Error {}

async function open(context: Context, sender: StoreBatch): Promise<StoreAccess & StoreSettings> {
  const { receiver, unanswered, failure } = sender;
  if (unanswered >= UNANSWERED || needsReconnect(failure))
    throw new StoreNotCalled('It had no answer.', { cause: failure });
  sender.opened ??= openStore(context, receiver);
  const onAnswer = () => {
    sender.hasAnswered = true;
    sender.unanswered = 0;
  };
  return Object.assign(await sender.opened, { ...getSettings(receiver), onAnswer });
}

async function readUsingStore(context: Context, sender: StoreBatch, delivery: Delivery): Promise<Reading | undefined> {
  const client = getClient(sender.receiver.provider);
  const { baseUrl } = sender.receiver;
  const sealedAccess = {
    ...getSettings(sender.receiver),
    baseUrl,
    allow: [],
    get token(): string {
      throw new StoreNotOpened();
    },
  };
  try {
    return await client.read(delivery, sealedAccess);
  } catch (error) {
    if (!(error instanceof StoreNotOpened)) throw error;
    return await client.read(delivery, await open(context, sender));
  }
}

/** A delivery with its reading, or without one if it is unreadable. */
interface ReadDelivery {
  claimed: ClaimedDelivery;
  sender: StoreBatch;
  reading: Reading | undefined;
  wish?: PersonWish;
  outcome: DeliveryOutcome;
}

const Headers = z.record(z.string(), z.string());
const OF_STORE: ReadonlySet<string> = new Set(['store_unavailable', 'reauth_required']);

async function readDelivery(
  context: Context,
  delivery: ClaimedDelivery,
  sender: StoreBatch,
  needs: { products: boolean },
): Promise<ReadDelivery> {
  const { secrets, clock, failures } = context;
  let body: unknown;
  try {
    body = parseDelivery(secrets.openBytes(delivery.body, delivery.id));
    const headers = Headers.parse(delivery.headers);
    const uninstalledAt = getClient(sender.receiver.provider).uninstalledAt?.(headers);
    if (uninstalledAt) await markUninstalled(context.postgres.db, sender.receiver, uninstalledAt, clock.now());
    const wish = getClient(sender.receiver.provider).readWish?.({ headers, body });
    if (wish)
      return {
        claimed: delivery,
        sender,
        reading: undefined,
        wish,
        outcome: { ...toOutcome(delivery, body, undefined), state: 'done' },
      };
    const firstReading = await readUsingStore(context, sender, { headers, body });
    const { receiver } = sender;
    const reading =
      firstReading?.kind === 'order'
        ? await askAboutOrder(context, { reading: firstReading, receiver, open: () => open(context, sender) }, needs)
        : firstReading;
    return { claimed: delivery, sender, reading, outcome: toOutcome(delivery, body, reading) };
  } catch (thrown) {
    const wasTried = !(thrown instanceof StoreNotCalled);
    const error = wasTried ? thrown : thrown.cause;
    const outcome = toFailedOutcome(delivery, body, { error, wasTried }, clock.now());
    const { code = '' } = outcome.reason ?? {};
    if (code === 'internal_error') failures.failed('reading a delivery of a store', error);
    if (OF_STORE.has(code)) {
      sender.failure = error;
      sender.unanswered += getRetryAfterMs(error) === undefined ? 1 : UNANSWERED;
    }
    return { claimed: delivery, sender, reading: undefined, outcome };
  }
}

/** Deliveries of a brand that are read concurrently, because reading one may call its store. */
const READ_AT_ONCE = 8;

async function readAll(
  context: Context,
  brandId: string,
  claimedDeliveries: readonly ClaimedDelivery[],
): Promise<ReadDelivery[]> {
  const ids = [...new Set(claimedDeliveries.map(({ integrationId }) => integrationId))];
  const receivers = await listReceivers(context.postgres.db, brandId, ids);
  const stores = new Map(
    receivers.map((receiver): [string, StoreBatch] => [
      receiver.id,
      { receiver, opened: undefined, hasAnswered: false, unanswered: 0, failure: undefined },
    ]),
  );
  const byId = new Map<string, ReadDelivery>();
  const needs = { products: await usesProducts(context.postgres.db, brandId) };
  // Deliveries that failed before come last, so that a store that does not answer them is still called for the others.
  const queue = claimedDeliveries.toSorted((a, b) => a.attempts - b.attempts).values();
  const work = async () => {
    for (const one of queue) {
      const sender = stores.get(one.integrationId);
      if (!sender) throw new Error(`The delivery ${one.id} is of no store of the brand.`);
      byId.set(one.id, await readDelivery(context, one, sender, needs));
    }
  };
  await Promise.all(Array.from({ length: READ_AT_ONCE }, work));
  for (const sender of stores.values()) await updateStatusFromAnswers(context, sender);
  return claimedDeliveries.flatMap(({ id }) => byId.get(id) ?? []);
}

/** Updates the status of a store after calls: only they show whether it accepts its secrets. */
async function updateStatusFromAnswers(
  { postgres, clock }: Context,
  { receiver, hasAnswered, failure }: StoreBatch,
): Promise<void> {
  if (needsReconnect(failure)) return await updateAccessStatus(postgres.db, receiver, 'reauth_required', clock.now());
  if (hasAnswered && receiver.status !== 'connected') {
    await updateAccessStatus(postgres.db, receiver, 'connected', clock.now());
  }
}

/** Empties the bodies of what was just read of people who were erased, or who ask to be. */
async function eraseBodies({ db, brandId }: Work, deliveries: readonly ReadDelivery[]): Promise<void> {
  const wishIds = deliveries.flatMap(({ wish, outcome }) => (wish ? [outcome.id] : []));
  const others = deliveries.flatMap(({ reading, outcome }) => (reading ? [outcome.id] : []));
  await sql`
    update store_deliveries as own set body = '', headers = '{}', reason = null, notes = '[]'
    where own.brand_id = ${brandId} and (own.id = any(${wishIds}::text[]) or own.id = any(${others}::text[]) and exists (
      select from orders where orders.integration_id = own.integration_id and orders.order_id = own.order_id
        and orders.brand_id = own.brand_id and orders.erased_by is not null))`.execute(db);
}

/** Records readings and outcomes in one transaction. Deliveries that another worker folded are left out. */
async function record(context: Context, brandId: string, deliveries: readonly ReadDelivery[]): Promise<void> {
  const { postgres, clock, secrets } = context;
  const actor = { brandId, keyId: null, operation: 'ingest', requestId: null };
  await inWork(postgres.db, clock, actor, async (work) => {
    const outcomes = deliveries.map(({ outcome }) => outcome);
    const own = await updateOutcomes(work.db, brandId, outcomes, work.now);
    const ours = Map.groupBy(
      deliveries.filter(({ outcome }) => own.has(outcome.id)),
      ({ sender }) => sender,
    );
    for (const [{ receiver }, its] of ours) {
      const readings = its.flatMap(({ reading }) => reading ?? []);
      await recordReadings(work, secrets, receiver, readings);
      for (const { wish } of its) if (wish) await recordWish(work, secrets, receiver, wish);
      const endedDeliveries = its.filter(({ outcome }) => outcome.state !== 'waiting');
      if (endedDeliveries.length === 0) continue;
      const failedDeliveries = endedDeliveries.filter(({ outcome }) => outcome.state === 'failed');
      const isFailing = endedDeliveries.at(-1)?.outcome.state === 'failed';
      const health = { isSynced: readings.length > 0, failures: failedDeliveries.length, isFailing };
      await updateHealth(work.db, receiver, health, work.now);
    }
    await eraseBodies(
      work,
      deliveries.filter(({ outcome }) => own.has(outcome.id)),
    );
  });
}

/** Records one delivery, or the reason for which that fails. */
async function recordAlone(context: Context, brandId: string, delivery: ReadDelivery): Promise<void> {
  const { clock, failures } = context;
  try {
    await record(context, brandId, [delivery]);
  } catch (error) {
    const { claimed, outcome } = delivery;
    const { topic, orderId } = outcome;
    const failure = toFailedOutcome(claimed, undefined, { error, wasTried: true }, clock.now());
    const failedOutcome = { ...failure, topic, orderId };
    if (failedOutcome.reason?.code === 'internal_error') failures.failed('recording a delivery of a store', error);
    await record(context, brandId, [{ ...delivery, reading: undefined, outcome: failedOutcome }]);
  }
}

/** Records a batch, or one by one if that fails, so that a bad delivery does not hold up the others. */
async function recordAll(context: Context, brandId: string, deliveries: readonly ReadDelivery[]): Promise<void> {
  try {
    await record(context, brandId, deliveries);
  } catch (error) {
    if (error instanceof ApiError && error.engine === 'PostgreSQL') throw error;
    for (const one of deliveries) await recordAlone(context, brandId, one);
  }
}

const BATCH = { rows: 200, bytes: 8 * 1024 * 1024 };
/** Longer than a batch takes, even with a slow store. */
const CLAIMED_MS = 30_000;

/** Folds a brand's oldest due deliveries. Returns false if there were none. */
export async function foldBatch(context: Context, owner: string, brandId: string): Promise<boolean> {
  const { postgres, clock } = context;
  const now = clock.now();
  const claim: DeliveryClaim = { brandId, owner, now, until: new Date(now.getTime() + CLAIMED_MS) };
  const claimedDeliveries = await claimDeliveries(postgres.db, claim, BATCH);
  try {
    if (claimedDeliveries.length === 0) return false;
    const deliveries = await readAll(context, brandId, claimedDeliveries);
    await recordAll(context, brandId, deliveries);
    const answeredDeliveries = deliveries.filter(
      ({ claimed: one, sender, reading }) => one.attempts > 0 && sender.hasAnswered && reading,
    );
    for (const { receiver } of new Set(answeredDeliveries.map(({ sender }) => sender))) {
      await updateWaitingToDue(postgres.db, receiver.brandId, receiver.id, clock.now());
    }
    return true;
  } finally {
    await releaseClaim(postgres.db, claim);
  }
}
