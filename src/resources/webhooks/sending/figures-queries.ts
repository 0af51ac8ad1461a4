import { sql } from 'kysely';
import type { Db } from '../../../engines/postgres/open.ts';

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
