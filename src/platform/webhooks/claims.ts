import { sql } from 'kysely';
import type { WebhookAttemptsTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { RETRY_POLICY } from './health.ts';
import type { WebhookVariant } from './webhooks.ts';

export type AttemptOutcome = WebhookAttemptsTable['outcome'];

/** Most concurrent attempts of one subscription over all workers; one until the first has ended. */
const IN_FLIGHT = 8;
/** A claim outlasts the longest attempt by this much. */
const GRACE_MS = 10_000;

/** A delivery that this process has claimed. */
export interface ClaimedDelivery {
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
  /** True to claim for slow subscriptions, false for the others. */
  slow: boolean;
  /** Subscriptions that currently count as slow. */
  stalled: readonly string[];
}

/** Locks the turns that are due longest. Other workers skip them instead of waiting. */
async function lockTurns(db: Db, { now, slots, slow, stalled }: ClaimRequest): Promise<string[]> {
  const isStalled = sql`subscription_id = any(${stalled}::text[])`;
  const dueTurns = sql`
    select subscription_id from webhook_turns where due_at <= ${now} and not exists (
      select from webhook_subscriptions own join brands on brands.id = own.brand_id
      where own.id = webhook_turns.subscription_id and brands.suspended_at is not null)`;
  const next = sql`order by due_at limit ${slots} for update skip locked`;
  const { rows } = slow
    ? await sql<{ subscriptionId: string }>`
      with slow as (${dueTurns} and is_slow ${next}), stalled as (${dueTurns} and not is_slow and ${isStalled} ${next})
      select * from slow union all select * from stalled`.execute(db)
    : await sql<{ subscriptionId: string }>`${dueTurns} and not is_slow and not ${isStalled} ${next}`.execute(db);
  return rows.map(({ subscriptionId }) => subscriptionId);
}

/** Counts the subscription's deliveries that are claimed now, with the time at which the first of these claims expires. */
const selectInFlight = (now: Date) => sql`
  lateral (select count(*) as count, min(claimed_until) as first_until from webhook_deliveries delivery
    where delivery.subscription_id = webhook.id and delivery.state = 'pending'
      and delivery.claimed_until > ${now}) flying`;

const MAX_IN_FLIGHT = sql`case when webhook.last_triggered_at is null then 1 else ${IN_FLIGHT}::int end`;

/** Claims due deliveries of the subscriptions, one of each in turn. The turns must be locked. */
async function claimDeliveries(
  db: Db,
  ids: readonly string[],
  { now, slots }: ClaimRequest,
): Promise<ClaimedDelivery[]> {
  const until = (variant: WebhookVariant) => new Date(now.getTime() + RETRY_POLICY[variant].timeoutMs + GRACE_MS);
  const { rows } = await sql<ClaimedDelivery>`
    with chosen as (
      select due.id
      from webhook_subscriptions webhook
      cross join ${selectInFlight(now)}
      cross join lateral (
        select id, next_attempt_at, row_number() over (order by next_attempt_at, seq) + flying.count as turn
        from (select id, next_attempt_at, seq from webhook_deliveries delivery
          where delivery.subscription_id = webhook.id and delivery.state = 'pending'
            and delivery.next_attempt_at <= ${now}
          order by next_attempt_at, seq limit greatest(${MAX_IN_FLIGHT} - flying.count, 0)) first) due
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

/** Moves the turns behind those of other subscriptions; one at its limit of attempts waits until an attempt ends. */
async function rescheduleTurns(db: Db, ids: readonly string[], now: Date): Promise<void> {
  await sql`
    update webhook_turns turn
    set due_at = case when flying.count >= ${MAX_IN_FLIGHT} then flying.first_until
      when next.due_at is not null then greatest(next.due_at, ${now}) end
    from webhook_subscriptions webhook
    cross join ${selectInFlight(now)}
    cross join lateral (select (select next_attempt_at from webhook_deliveries delivery
      where delivery.subscription_id = webhook.id and delivery.state = 'pending'
      order by next_attempt_at limit 1) as due_at) next
    where webhook.id = any(${ids}::text[]) and turn.subscription_id = webhook.id`.execute(db);
}

/**
 * Claims due deliveries. Only one worker at a time has a subscription's turn, so that all of them together respect its
 * limit. An expired claim belongs to a process that ended: its attempt is recorded as unknown and repeated.
 */
export async function claimDue(db: Db, request: ClaimRequest): Promise<ClaimedDelivery[]> {
  return await db.transaction().execute(async (trx) => {
    const ids = await lockTurns(trx, request);
    if (ids.length === 0) return [];
    // A separate statement sees what was committed before the turns were locked.
    const deliveries = await claimDeliveries(trx, ids, request);
    await rescheduleTurns(trx, ids, request.now);
    return deliveries;
  });
}

/** True if a claim would find a delivery. Checked first, because a claim is five statements. */
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
