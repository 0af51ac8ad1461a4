import { sql } from 'kysely';
import type { Db } from '../../../engines/postgres/open.ts';
import type { AttemptOutcome, DeliveryState, WebhookVariant } from '../../../engines/postgres/webhook-tables.ts';

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
        ...{ deliveryId, n, startedAt, durationMs, outcome, statusCode, error, responseExcerpt: excerpt },
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

/** Skips deliveries cancelled meanwhile, and those another process now attempts unless this one delivered them. */
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

export type LockedSubscription = Awaited<ReturnType<typeof lockSubscriptions>>[number];

/** The address for mails to a brand. */
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
