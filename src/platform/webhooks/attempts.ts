import type { KeptConnections } from '../../kit/engines/http/kept-connections.ts';
import { callOutside, type OutsideAnswer } from '../../kit/engines/http/outside.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { transact } from '../../kit/engines/postgres/transaction.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import type { Context } from '../../kit/operation/context.ts';
import { EVENTS_KEPT_MS } from '../../kit/outbox/relay.ts';
import { findContactEmail } from '../brands/queries.ts';
import {
  isSlow,
  type Judged,
  judged,
  MAX_LOST_ATTEMPTS,
  outcomeOf,
  renderBody,
  renderHeaders,
  TERMS,
} from './health.ts';
import { cancelPending, updateSubscription } from './queries.ts';
import {
  type AttemptResult,
  type Claimed,
  deleteOldDeliveries,
  deleteOldSubscriptions,
  finishAttempts,
  freePlaces,
  insertAttempts,
  type LockedSubscription,
  lockSubscriptions,
  noteNewest,
} from './claims.ts';

const EXCERPT_BYTES = 1_024;

type Sending = Pick<Context, 'secrets' | 'config' | 'clock'>;

/** The secrets that sign at `at`, newest first. */
function secretsOf({ secrets }: Sending, claimed: Claimed, at: Date): [string, ...string[]] {
  const { subscriptionId, secret, previousSecret, previousSecretExpiresAt } = claimed;
  const newest = secrets.open(secret, subscriptionId);
  const overlaps = previousSecret !== null && previousSecretExpiresAt !== null && previousSecretExpiresAt > at;
  return overlaps ? [newest, secrets.open(previousSecret, subscriptionId)] : [newest];
}

const notSent = { durationMs: 0, statusCode: null, excerpt: null, state: 'failed', nextAttemptAt: null } as const;

/** Makes one attempt and decides the next state of the delivery. Never throws because of the receiver. */
export async function attemptDelivery(
  context: Sending,
  connections: KeptConnections,
  claimed: Claimed,
): Promise<AttemptResult> {
  const { variant, url, data, eventId, event, announcedAt: createdAt } = claimed;
  const startedAt = context.clock.now();
  const about = {
    deliveryId: claimed.id,
    brandId: claimed.brandId,
    subscriptionId: claimed.subscriptionId,
    variant,
    n: claimed.attempts,
    startedAt,
    counts: claimed.resend === 0 && !claimed.isTest,
  };
  const refusal = refusalOf(claimed);
  if (refusal || data === null) {
    return { ...about, ...notSent, endedAt: startedAt, outcome: 'unknown', error: refusal ?? null, isSlow: false };
  }
  const body = renderBody({ variant, eventId, event, createdAt, data });
  const signing = { variant, eventId, deliveryId: claimed.id, isTest: claimed.isTest, at: startedAt };
  const headers = renderHeaders({ ...signing, secrets: secretsOf(context, claimed, startedAt) }, body);
  const from = performance.now();
  const answer = await callOutside({
    url: new URL(url),
    method: 'POST',
    headers,
    body,
    allow: context.config.outboundAllow,
    timeoutMs: TERMS[variant].timeoutMs,
    maxBytes: EXCERPT_BYTES,
    onLarge: 'truncate',
    answerAt: 'head',
    agentFor: connections.agentFor(claimed.subscriptionId),
  });
  const durationMs = Math.round(performance.now() - from);
  const endedAt = context.clock.now();
  const attempted = attemptedOf(answer);
  const next = outcomeOf(variant, attempted, claimed.attempts - claimed.lostAttempts, endedAt);
  return {
    ...about,
    ...attempted,
    endedAt,
    durationMs,
    isSlow: isSlow(attempted),
    state: next.state,
    nextAttemptAt: next.state === 'pending' ? next.nextAttemptAt : null,
  };
}

/** PostgreSQL text cannot hold NUL. */
const storable = (text: string) => text.replaceAll('\0', '').toWellFormed();

const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof Error)) return 'It failed.';
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : storable(cause.message.slice(0, 200));
};

function attemptedOf(answer: OutsideAnswer) {
  if (answer.outcome === 'answered') {
    const { status: statusCode, text } = answer;
    return { outcome: 'answered', statusCode, error: null, excerpt: storable(text) } as const;
  }
  const none = { statusCode: null, excerpt: null } as const;
  if (answer.outcome === 'refused') return { outcome: 'refused', error: answer.reason, ...none } as const;
  return { outcome: answer.reason, error: reasonOf(answer.cause), ...none };
}

/** Why nothing more is sent, if so. */
function refusalOf({ data, lostAttempts }: Claimed): string | undefined {
  if (lostAttempts > MAX_LOST_ATTEMPTS) return 'Every process that attempted it ended before the attempt did.';
  return data === null ? 'The event is older than 30 days and was deleted.' : undefined;
}

type Recording = Pick<Context, 'postgres' | 'log'>;

/** Mails the brand once per episode. A brand without an address only has the log and the webhook's status. */
async function notifyBrand(
  db: Db,
  { log }: Recording,
  webhook: LockedSubscription,
  { notice, ...standing }: Judged,
  at: Date,
) {
  if (notice === null) return;
  const { id, brandId, url } = webhook;
  const to = await findContactEmail(db, brandId);
  const since = (standing.firstFailedAt ?? at).toISOString();
  log.info({ webhook: id, brandId, notice, mailed: to !== null }, 'a webhook fails');
  if (to === null) return;
  const kind = notice === 'failing' ? 'webhook_failing' : 'webhook_disabled';
  const params = { webhook_id: id, url, since };
  await queueMail({ db, brandId, now: at }, { kind, to, subjectRow: `${id}:${since}`, params });
}

async function judge(db: Db, recording: Recording, webhook: LockedSubscription, results: readonly AttemptResult[]) {
  let standing = webhook;
  for (const { state, endedAt } of results) {
    const after = judged(standing, state === 'delivered', endedAt);
    standing = { ...standing, ...after };
    await notifyBrand(db, recording, webhook, after, endedAt);
    const isDisabled = after.notice === 'disabled';
    const { notice: _notice, ...columns } = after;
    const off = isDisabled ? { active: false, disabledReason: 'failures' as const } : {};
    await updateSubscription(db, webhook.brandId, webhook.id, { ...columns, ...off });
    if (!isDisabled) continue;
    await cancelPending(db, webhook.brandId, webhook.id, endedAt);
    return;
  }
}

/** Records the outcomes of attempts, all of them or none. */
export async function recordAttempts(recording: Recording, results: readonly AttemptResult[]): Promise<void> {
  if (results.length === 0) return;
  await transact(recording.postgres.db, async (db) => {
    const webhooks = await lockSubscriptions(db, [...new Set(results.map(({ subscriptionId }) => subscriptionId))]);
    await insertAttempts(db, results);
    await finishAttempts(db, results);
    await noteNewest(db, results);
    await freePlaces(db, results);
    for (const webhook of webhooks) {
      if (webhook.variant !== 'legacy' || !webhook.active) continue;
      const its = results.filter(({ subscriptionId, counts }) => counts && subscriptionId === webhook.id);
      await judge(db, recording, webhook, its);
    }
  });
}

const BATCH = 5_000;

/** Deliveries are kept as long as events. */
export async function forgetDeliveries({ postgres, clock }: Pick<Context, 'postgres' | 'clock'>): Promise<void> {
  const before = new Date(clock.now().getTime() - EVENTS_KEPT_MS);
  while ((await deleteOldDeliveries(postgres.db, before, BATCH)) === BATCH);
  await deleteOldSubscriptions(postgres.db, before);
}
