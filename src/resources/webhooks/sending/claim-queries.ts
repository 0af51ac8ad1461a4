import { sql } from 'kysely';
import type { Db } from '../../../engines/postgres/open.ts';
import type { WebhookVariant } from '../../../engines/postgres/webhook-tables.ts';
import { TERMS } from '../policy.ts';

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

/**
 * Claims due deliveries, taking one of each subscription in turn. Claims run one at a time, so that two workers together
 * respect the limit per subscription. An expired claim belongs to a process that ended: its attempt is recorded as
 * unknown and repeated.
 */
export async function claimDue(db: Db, { now, slots, slow, stalled }: ClaimRequest): Promise<Claimed[]> {
  return await db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtext('rollcall webhook claims'))`.execute(trx);
    const until = (variant: WebhookVariant) => new Date(now.getTime() + TERMS[variant].timeoutMs + GRACE_MS);
    const { rows } = await sql<Claimed>`
      with recursive waiting as (
        (select subscription_id from webhook_deliveries where state = 'pending' order by subscription_id limit 1)
        union all
        select (select delivery.subscription_id from webhook_deliveries delivery
          where delivery.state = 'pending' and delivery.subscription_id > waiting.subscription_id
          order by delivery.subscription_id limit 1)
        from waiting where waiting.subscription_id is not null
      ), chosen as (
        select due.id
        from waiting
        join webhook_subscriptions webhook on webhook.id = waiting.subscription_id
        cross join lateral (select count(*) as count from webhook_deliveries delivery
          where delivery.subscription_id = webhook.id and delivery.state = 'pending'
            and delivery.claimed_until > ${now}) flying
        cross join lateral (
          select id, next_attempt_at, row_number() over (order by next_attempt_at, seq) + flying.count as turn
          from (select id, next_attempt_at, seq from webhook_deliveries delivery
            where delivery.subscription_id = webhook.id and delivery.state = 'pending'
              and delivery.next_attempt_at <= ${now}
            order by next_attempt_at, seq
            limit greatest(case when webhook.last_triggered_at is null then 1 else ${IN_FLIGHT}::int end - flying.count, 0)
          ) first) due
        where (webhook.is_slow or webhook.id = any(${stalled}::text[])) = ${slow}
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
      order by claimed.seq`.execute(trx);
    return rows;
  });
}

/** Whether a claim would find anything. Checked first, because a claim is four statements under a shared lock. */
export async function isAnythingDue(db: Db, now: Date): Promise<boolean> {
  const { rows } = await sql<{ due: boolean }>`
    select exists (select from webhook_deliveries where state = 'pending' and next_attempt_at <= ${now}) as due`.execute(
    db,
  );
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
