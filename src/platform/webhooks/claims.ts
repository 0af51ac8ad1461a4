import { sql } from 'kysely';
import type { WebhookAttemptsTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { DeliveryState } from './deliveries/queries.ts';
import { TERMS } from './health.ts';
import type { WebhookVariant } from './queries.ts';

export type AttemptOutcome = WebhookAttemptsTable['outcome'];

/** Most concurrent attempts of one subscription over all workers; one until the first has ended. */
const IN_FLIGHT = 8;
/** How much longer a claim lasts than the longest attempt. */
const GRACE_MS = 10_000;

/** A delivery that this process has claimed. */
export interface Claimed {
  id: string;
  brandId: string;
  subscriptionId: string;
  variant: WebhookVariant;
  url: string;
  secret: Buffer;
  previousSecret: Buffer | null;
  previousSecretExpiresAt: Date | null;
  eventId: string;
  event: string;
  isTest: boolean;
  resend: number;
  /** The number of this attempt, and of earlier ones lost with their process. */
  attempts: number;
  lostAttempts: number;
  /** JSON text; null if the event was deleted. */
  data: string | null;
  announcedAt: Date;
}

export interface ClaimRequest {
  now: Date;
  slots: number;
  /** Whether to claim for slow subscriptions or for the others. */
  slow: boolean;
  /** Subscriptions that currently count as slow. */
  stalled: readonly string[];
}

/** Locks the turns that are due longest. Other workers skip them instead of waiting. */
async function lockTurns(db: Db, { now, slots, slow, stalled }: ClaimRequest): Promise<string[]> {
  const isStalled = sql`subscription_id = any(${stalled}::text[])`;
  const due = sql`select subscription_id from webhook_turns where due_at <= ${now}`;
  const next = sql`order by due_at limit ${slots} for update skip locked`;
  const { rows } = slow
    ? await sql<{ subscriptionId: string }>`
      with slow as (${due} and is_slow ${next}), stalled as (${due} and not is_slow and ${isStalled} ${next})
      select * from slow union all select * from stalled`.execute(db)
    : await sql<{ subscriptionId: string }>`${due} and not is_slow and not ${isStalled} ${next}`.execute(db);
  return rows.map(({ subscriptionId }) => subscriptionId);
}

/** How many of the subscription's deliveries are claimed now, and when the first of these claims expires. */
const flying = (now: Date) => sql`
  lateral (select count(*) as count, min(claimed_until) as first_until from webhook_deliveries delivery
    where delivery.subscription_id = webhook.id and delivery.state = 'pending'
      and delivery.claimed_until > ${now}) flying`;

const mostInFlight = sql`case when webhook.last_triggered_at is null then 1 else ${IN_FLIGHT}::int end`;

/** Claims due deliveries of the subscriptions, one of each in turn. The turns must be locked. */
async function claimOf(db: Db, ids: readonly string[], { now, slots }: ClaimRequest): Promise<Claimed[]> {
  const until = (variant: WebhookVariant) => new Date(now.getTime() + TERMS[variant].timeoutMs + GRACE_MS);
  const { rows } = await sql<Claimed>`
    with chosen as (
      select due.id
      from webhook_subscriptions webhook
      cross join ${flying(now)}
      cross join lateral (
        select id, next_attempt_at, row_number() over (order by next_attempt_at, seq) + flying.count as turn
        from (select id, next_attempt_at, seq from webhook_deliveries delivery
          where delivery.subscription_id = webhook.id and delivery.state = 'pending'
            and delivery.next_attempt_at <= ${now}
          order by next_attempt_at, seq limit greatest(${mostInFlight} - flying.count, 0)) first) due
      where webhook.id = any(${ids}::text[])
      order by due.turn, due.next_attempt_at limit ${slots}
    ), locked as (
      select id, claimed_until, attempts from webhook_deliveries
      where id in (select id from chosen) and state = 'pending' and next_attempt_at <= ${now}
      for update skip locked
    ), lost as (
      insert into webhook_attempts (delivery_id, n, started_at, duration_ms, outcome)
      select id, attempts, claimed_until, 0, 'unknown' from locked where claimed_until is not null
      on conflict do nothing
    ), claimed as (
      update webhook_deliveries delivery set
        attempts = delivery.attempts + 1,
        lost_attempts = delivery.lost_attempts + (locked.claimed_until is not null)::int,
        claimed_until = claim.until, next_attempt_at = claim.until
      from locked, webhook_subscriptions webhook,
        lateral (select case webhook.variant when 'legacy' then ${until('legacy')}::timestamptz
          else ${until('current')}::timestamptz end as until) claim
      where delivery.id = locked.id and webhook.id = delivery.subscription_id
      returning delivery.*, webhook.variant, webhook.url, webhook.secret, webhook.previous_secret,
        webhook.previous_secret_expires_at
    )
    select claimed.id, claimed.brand_id, subscription_id, variant, url, secret, previous_secret,
      previous_secret_expires_at, event_id, claimed.event, claimed.seq is null as is_test, resend, attempts,
      lost_attempts, coalesce(own_data::text, outbox.data::text) as data,
      coalesce(outbox.created_at, claimed.created_at) as announced_at
    from claimed
    left join outbox on outbox.brand_id = claimed.brand_id and outbox.seq = claimed.seq
    order by claimed.seq`.execute(db);
  return rows;
}

/** What is still due waits behind all others; a subscription with as many attempts as it may have waits for one to end. */
async function passTurns(db: Db, ids: readonly string[], now: Date): Promise<void> {
  await sql`
    update webhook_turns turn
    set due_at = case when flying.count >= ${mostInFlight} then flying.first_until
      when next.due_at is not null then greatest(next.due_at, ${now}) end
    from webhook_subscriptions webhook
    cross join ${flying(now)}
    cross join lateral (select (select next_attempt_at from webhook_deliveries delivery
      where delivery.subscription_id = webhook.id and delivery.state = 'pending'
      order by next_attempt_at limit 1) as due_at) next
    where webhook.id = any(${ids}::text[]) and turn.subscription_id = webhook.id`.execute(db);
}

/**
 * Claims due deliveries. Only one worker at a time has a subscription's turn, so that all of them together respect its
 * limit. An expired claim belongs to a process that ended: its attempt is recorded as unknown and repeated.
 */
export async function claimDue(db: Db, request: ClaimRequest): Promise<Claimed[]> {
  return await db.transaction().execute(async (trx) => {
    const ids = await lockTurns(trx, request);
    if (ids.length === 0) return [];
    // A separate statement sees what was committed before the turns were locked.
    const claimed = await claimOf(trx, ids, request);
    await passTurns(trx, ids, request.now);
    return claimed;
  });
}

/** Whether a claim would find anything. Checked first, because a claim is five statements. */
export async function isAnythingDue(db: Db, now: Date): Promise<boolean> {
  const { rows } = await sql<{ due: boolean }>`
    select exists (select from webhook_turns where is_slow and due_at <= ${now})
      or exists (select from webhook_turns where not is_slow and due_at <= ${now}) as due`.execute(db);
  return rows[0]?.due === true;
}

/** Releases the claims of this process. The next worker cannot know how far their attempts came. */
export async function releaseClaims(db: Db, ids: readonly string[], now: Date): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable('webhookDeliveries')
    .set({ claimedUntil: now, nextAttemptAt: now })
    .where('id', 'in', ids)
    .where('state', '=', 'pending')
    .execute();
}

/** The outcome of one attempt. */
export interface AttemptResult {
  deliveryId: string;
  brandId: string;
  subscriptionId: string;
  variant: WebhookVariant;
  n: number;
  startedAt: Date;
  endedAt: Date;
  durationMs: number;
  outcome: AttemptOutcome;
  statusCode: number | null;
  error: string | null;
  excerpt: string | null;
  state: DeliveryState;
  nextAttemptAt: Date | null;
  isSlow: boolean;
  /** False for tests and resent events, which do not affect the health of the subscription. */
  counts: boolean;
}

/** Locks in the same order everywhere, so that two workers never deadlock. */
export async function lockSubscriptions(db: Db, ids: readonly string[]) {
  return await db
    .selectFrom('webhookSubscriptions')
    .select(['id', 'brandId', 'variant', 'url', 'active', 'failuresInRow', 'failingSince', 'firstFailedAt'])
    .where('id', 'in', ids)
    .orderBy('id')
    .forUpdate()
    .execute();
}

/** An attempt that was presumed lost but ended is recorded with its real outcome. */
export async function insertAttempts(db: Db, results: readonly AttemptResult[]): Promise<void> {
  await db
    .insertInto('webhookAttempts')
    .values(
      results.map(({ deliveryId, n, startedAt, durationMs, outcome, statusCode, error, excerpt }) => ({
        deliveryId,
        n,
        startedAt,
        durationMs,
        outcome,
        statusCode,
        error,
        responseExcerpt: excerpt,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['deliveryId', 'n']).doUpdateSet((eb) => ({
        outcome: eb.ref('excluded.outcome'),
        startedAt: eb.ref('excluded.startedAt'),
        durationMs: eb.ref('excluded.durationMs'),
        statusCode: eb.ref('excluded.statusCode'),
        error: eb.ref('excluded.error'),
        responseExcerpt: eb.ref('excluded.responseExcerpt'),
      })),
    )
    .execute();
}

/** Skips deliveries cancelled in the meantime, and those another process now attempts unless this one delivered them. */
export async function finishAttempts(db: Db, results: readonly AttemptResult[]): Promise<void> {
  const of = <V>(value: (result: AttemptResult) => V) => results.map(value);
  await sql`
    update webhook_deliveries delivery set
      state = result.state, next_attempt_at = result.next_attempt_at, claimed_until = null,
      last_status_code = result.status_code, last_error = result.error,
      finished_at = case when result.state = 'pending' then null else result.ended_at end
    from unnest(${of(({ deliveryId }) => deliveryId)}::text[], ${of(({ n }) => n)}::int[],
      ${of(({ state }) => state)}::text[], ${of(({ nextAttemptAt }) => nextAttemptAt)}::timestamptz[],
      ${of(({ statusCode }) => statusCode)}::int[], ${of(({ error }) => error)}::text[],
      ${of(({ endedAt }) => endedAt)}::timestamptz[])
      as result (id, n, state, next_attempt_at, status_code, error, ended_at)
    where delivery.id = result.id and delivery.state = 'pending'
      and (delivery.attempts = result.n or result.state = 'delivered')`.execute(db);
}

/** The newest attempt is the one that started last; a slow older one never replaces it. */
export async function noteNewest(db: Db, results: readonly AttemptResult[]): Promise<void> {
  const newest = new Map<string, AttemptResult>();
  for (const result of results) {
    const known = newest.get(result.subscriptionId);
    if (!known || known.startedAt <= result.startedAt) newest.set(result.subscriptionId, result);
  }
  const of = <V>(value: (result: AttemptResult) => V) => [...newest.values()].map(value);
  await sql`
    update webhook_subscriptions webhook set
      last_triggered_at = result.started_at, last_status_code = result.status_code, is_slow = result.is_slow
    from unnest(${of(({ subscriptionId }) => subscriptionId)}::text[], ${of(({ startedAt }) => startedAt)}::timestamptz[],
      ${of(({ statusCode }) => statusCode)}::int[], ${of(({ isSlow }) => isSlow)}::boolean[])
      as result (id, started_at, status_code, is_slow)
    where webhook.id = result.id
      and (webhook.last_triggered_at is null or webhook.last_triggered_at <= result.started_at)`.execute(db);
}

/**
 * An attempt that ended frees a place of its subscription, which takes its turn behind those that are due already. The
 * subscriptions must be locked.
 */
export async function freePlaces(db: Db, results: readonly AttemptResult[]): Promise<void> {
  const ids = [...new Set(results.map(({ subscriptionId }) => subscriptionId))];
  const endedAt = new Date(Math.max(...results.map((result) => result.endedAt.getTime())));
  await sql`
    with freed as (select webhook.id, greatest(next.due_at, ${endedAt}) as due_at
      from unnest(${ids}::text[]) as webhook (id)
      cross join lateral (select next_attempt_at as due_at from webhook_deliveries delivery
        where delivery.subscription_id = webhook.id and delivery.state = 'pending'
        order by next_attempt_at limit 1) next),
    locked as (select subscription_id, freed.due_at from webhook_turns turn join freed on freed.id = turn.subscription_id
      where turn.due_at is null or turn.due_at > freed.due_at order by subscription_id for update of turn)
    update webhook_turns turn set due_at = locked.due_at from locked
    where turn.subscription_id = locked.subscription_id
      and (turn.due_at is null or turn.due_at > locked.due_at)`.execute(db);
}

export type LockedSubscription = Awaited<ReturnType<typeof lockSubscriptions>>[number];

/** Deletes at most `limit` old finished deliveries with their attempts. Returns how many. */
export async function deleteOldDeliveries(db: Db, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from webhook_deliveries where id in (
      select id from webhook_deliveries where finished_at < ${before} limit ${limit})`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Removes deleted subscriptions once nothing refers to them. */
export async function deleteOldSubscriptions(db: Db, before: Date): Promise<void> {
  await sql`
    delete from webhook_subscriptions webhook where deleted_at < ${before}
      and not exists (select from webhook_deliveries delivery where delivery.subscription_id = webhook.id)`.execute(db);
}

export interface WebhookFigures {
  pending: { pool: string; count: number }[];
  oldestDueAt: Date | null;
  subscriptions: { state: string; count: number }[];
  attempts: { variant: string; outcome: string; count: number; seconds: number }[];
}

/** Webhook metrics over all brands; attempts since `since`. */
export async function readWebhookFigures(db: Db, now: Date, since: Date): Promise<WebhookFigures> {
  const pending = await sql<{ pool: string; count: number }>`
    select case when is_slow then 'slow' else 'fast' end as pool, count(*) as count
    from webhook_deliveries delivery join webhook_subscriptions webhook on webhook.id = delivery.subscription_id
    where state = 'pending' group by 1`.execute(db);
  const due = await sql<{ at: Date | null }>`
    select min(next_attempt_at) as at from webhook_deliveries
    where state = 'pending' and next_attempt_at <= ${now}`.execute(db);
  const subscriptions = await sql<{ state: string; count: number }>`
    select case when not active then 'disabled' when failing_since is not null then 'failing' else 'active' end as state,
      count(*) as count
    from webhook_subscriptions where deleted_at is null group by 1`.execute(db);
  const attempts = await sql<{ variant: string; outcome: string; count: number; seconds: number }>`
    select variant, outcome, count(*) as count, (percentile_cont(0.99) within group (order by duration_ms) / 1000) as seconds
    from webhook_attempts attempt
    join webhook_deliveries delivery on delivery.id = attempt.delivery_id
    join webhook_subscriptions webhook on webhook.id = delivery.subscription_id
    where attempt.started_at > ${since} group by 1, 2`.execute(db);
  const oldestDueAt = due.rows[0]?.at ?? null;
  return { pending: pending.rows, oldestDueAt, subscriptions: subscriptions.rows, attempts: attempts.rows };
}
