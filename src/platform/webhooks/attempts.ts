import { sql } from 'kysely';
import type { KeptConnections } from '../../kit/engines/http/kept-connections.ts';
import { callOutside, type OutsideAnswer } from '../../kit/engines/http/outside.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { transact } from '../../kit/engines/postgres/transaction.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import type { Context } from '../../kit/operation/context.ts';
import { findContactEmail } from '../brands/brands.ts';
import type { AttemptOutcome, ClaimedDelivery } from './claims.ts';
import type { DeliveryState } from './deliveries.ts';
import { type HealthChange, isSlow, MAX_LOST_ATTEMPTS, nextDeliveryState, nextHealth, RETRY_POLICY } from './health.ts';
import { renderBody, renderHeaders } from './signing.ts';
import { cancelPending, updateSubscription, type WebhookVariant } from './webhooks.ts';

const EXCERPT_BYTES = 1_024;

type SendingContext = Pick<Context, 'secrets' | 'config' | 'clock'>;

/** The secrets that sign at `at`, newest first. */
function openSecrets({ secrets }: SendingContext, delivery: ClaimedDelivery, at: Date): [string, ...string[]] {
  const { subscriptionId, secret, previousSecret, previousSecretExpiresAt } = delivery;
  const newest = secrets.open(secret, subscriptionId);
  const overlaps = previousSecret !== null && previousSecretExpiresAt !== null && previousSecretExpiresAt > at;
  return overlaps ? [newest, secrets.open(previousSecret, subscriptionId)] : [newest];
}

const NOT_SENT = { durationMs: 0, statusCode: null, excerpt: null, state: 'failed', nextAttemptAt: null } as const;

/** Makes one attempt and decides the next state of the delivery. Never throws because of the receiver. */
export async function attemptDelivery(
  context: SendingContext,
  connections: KeptConnections,
  delivery: ClaimedDelivery,
): Promise<AttemptResult> {
  const { variant, url, data, eventId, event, announcedAt: createdAt } = delivery;
  const startedAt = context.clock.now();
  const about = {
    deliveryId: delivery.id,
    brandId: delivery.brandId,
    subscriptionId: delivery.subscriptionId,
    variant,
    n: delivery.attempts,
    startedAt,
    counts: delivery.resend === 0 && !delivery.isTest,
  };
  const refusal = findRefusal(delivery);
  if (refusal || data === null) {
    return { ...about, ...NOT_SENT, endedAt: startedAt, outcome: 'unknown', error: refusal ?? null, isSlow: false };
  }
  const body = renderBody({ variant, eventId, event, createdAt, data });
  const signing = { variant, eventId, deliveryId: delivery.id, isTest: delivery.isTest, at: startedAt };
  const headers = renderHeaders({ ...signing, secrets: openSecrets(context, delivery, startedAt) }, body);
  const from = performance.now();
  const answer = await callOutside({
    url: new URL(url),
    method: 'POST',
    headers,
    body,
    allow: context.config.outboundAllow,
    timeoutMs: RETRY_POLICY[variant].timeoutMs,
    maxBytes: EXCERPT_BYTES,
    onLarge: 'truncate',
    answerAt: 'head',
    agentFor: connections.agentFor(delivery.subscriptionId),
  });
  const durationMs = Math.round(performance.now() - from);
  const endedAt = context.clock.now();
  const attempt = toAttempt(answer);
  const next = nextDeliveryState(variant, attempt, delivery.attempts - delivery.lostAttempts, endedAt);
  return {
    ...about,
    ...attempt,
    endedAt,
    durationMs,
    isSlow: isSlow(attempt),
    state: next.state,
    nextAttemptAt: next.state === 'pending' ? next.nextAttemptAt : null,
  };
}

/** Removes NUL, which PostgreSQL text cannot hold. */
const toStorableText = (text: string) => text.replaceAll('\0', '').toWellFormed();

const describeFailure = (cause: unknown): string => {
  if (!(cause instanceof Error)) return 'It failed.';
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : toStorableText(cause.message.slice(0, 200));
};

function toAttempt(answer: OutsideAnswer) {
  if (answer.outcome === 'answered') {
    const { status: statusCode, text } = answer;
    return { outcome: 'answered', statusCode, error: null, excerpt: toStorableText(text) } as const;
  }
  const none = { statusCode: null, excerpt: null } as const;
  if (answer.outcome === 'refused') return { outcome: 'refused', error: answer.reason, ...none } as const;
  return { outcome: answer.reason, error: describeFailure(answer.cause), ...none };
}

/** The reason for not sending the delivery; undefined if it may be sent. */
function findRefusal({ data, lostAttempts }: ClaimedDelivery): string | undefined {
  if (lostAttempts > MAX_LOST_ATTEMPTS) return 'Every process that attempted it ended before the attempt did.';
  return data === null ? 'The event is older than 30 days and was deleted.' : undefined;
}

type RecordingContext = Pick<Context, 'postgres' | 'log'>;

/** Mails the brand once per episode. A brand without an address only has the log and the webhook's status. */
async function notifyBrand(
  db: Db,
  { log }: RecordingContext,
  webhook: LockedSubscription,
  { notice, ...health }: HealthChange,
  at: Date,
) {
  if (notice === null) return;
  const { id, brandId, url } = webhook;
  const to = await findContactEmail(db, brandId);
  const since = (health.firstFailedAt ?? at).toISOString();
  log.info({ webhook: id, brandId, notice, mailed: to !== null }, 'a webhook fails');
  if (to === null) return;
  const kind = notice === 'failing' ? 'webhook_failing' : 'webhook_disabled';
  const params = { webhook_id: id, url, since };
  await queueMail({ db, brandId, now: at }, { kind, to, subjectRow: `${id}:${since}`, params });
}

async function updateHealth(
  db: Db,
  recording: RecordingContext,
  webhook: LockedSubscription,
  results: readonly AttemptResult[],
) {
  let health = webhook;
  for (const { state, endedAt } of results) {
    const next = nextHealth(health, state === 'delivered', endedAt);
    health = { ...health, ...next };
    await notifyBrand(db, recording, webhook, next, endedAt);
    const isDisabled = next.notice === 'disabled';
    const { notice: _notice, ...columns } = next;
    const off = isDisabled ? { active: false, disabledReason: 'failures' as const } : {};
    await updateSubscription(db, webhook.brandId, webhook.id, { ...columns, ...off });
    if (!isDisabled) continue;
    await cancelPending(db, webhook.brandId, webhook.id, endedAt);
    return;
  }
}

/** Records the outcomes of attempts, all of them or none. */
export async function recordAttempts(recording: RecordingContext, results: readonly AttemptResult[]): Promise<void> {
  if (results.length === 0) return;
  await transact(recording.postgres.db, async (db) => {
    const webhooks = await lockSubscriptions(db, [...new Set(results.map(({ subscriptionId }) => subscriptionId))]);
    await insertAttempts(db, results);
    await finishAttempts(db, results);
    await updateLastAttempt(db, results);
    await releaseSlots(db, results);
    for (const webhook of webhooks) {
      if (webhook.variant !== 'legacy' || !webhook.active) continue;
      const ownResults = results.filter(({ subscriptionId, counts }) => counts && subscriptionId === webhook.id);
      await updateHealth(db, recording, webhook, ownResults);
    }
  });
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
async function lockSubscriptions(db: Db, ids: readonly string[]) {
  return await db
    .selectFrom('webhookSubscriptions')
    .select(['id', 'brandId', 'variant', 'url', 'active', 'failuresInRow', 'failingSince', 'firstFailedAt'])
    .where('id', 'in', ids)
    .orderBy('id')
    .forUpdate()
    .execute();
}

/** An attempt that was presumed lost but ended is recorded with its real outcome. */
async function insertAttempts(db: Db, results: readonly AttemptResult[]): Promise<void> {
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
async function finishAttempts(db: Db, results: readonly AttemptResult[]): Promise<void> {
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

/** Updates the last attempt of each subscription; a slow older attempt never replaces one that started later. */
async function updateLastAttempt(db: Db, results: readonly AttemptResult[]): Promise<void> {
  const newest = new Map<string, AttemptResult>();
  for (const result of results) {
    const latest = newest.get(result.subscriptionId);
    if (!latest || latest.startedAt <= result.startedAt) newest.set(result.subscriptionId, result);
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
 * Releases the slots of attempts that ended: their subscriptions queue behind those that are due already. The
 * subscriptions must be locked.
 */
async function releaseSlots(db: Db, results: readonly AttemptResult[]): Promise<void> {
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
