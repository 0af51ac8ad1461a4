import type { Updateable } from 'kysely';
import type { IntegrationsTable } from '../../../kit/engines/postgres/database.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import { type IntegrationKey, updateOfKey } from '../connections/queries.ts';

/** Stores whose webhooks are due to be looked at, each claimed until `next`. */
export async function claimDueWebhooks(db: Db, now: Date, next: Date, limit: number) {
  const due = db
    .selectFrom('integrations')
    .select('id')
    .where('status', '=', 'connected')
    .where('webhooksDueAt', '<=', now)
    .orderBy('webhooksDueAt')
    .limit(limit)
    .forUpdate()
    .skipLocked();
  return await db
    .updateTable('integrations')
    .set({ webhooksDueAt: next })
    .where('id', 'in', due)
    .returning(['id', 'brandId', 'provider', 'baseUrl', 'name', 'webhookState'])
    .execute();
}
/** Whether this call is the one that looks at a store's webhooks, when they are due by `dueBy`. */
export async function claimWebhooks(db: Db, key: IntegrationKey, dueBy: Date, next: Date): Promise<boolean> {
  const claimed = await updateOfKey(db, key)
    .set({ webhooksDueAt: next })
    .where('webhooksDueAt', '<=', dueBy)
    .executeTakeFirst();
  return claimed.numUpdatedRows > 0n;
}
export type DueWebhooks = Awaited<ReturnType<typeof claimDueWebhooks>>[number];

/** What was found of a store's webhooks. */
export type WebhookFindings = Pick<
  Updateable<IntegrationsTable>,
  'webhookState' | 'missingWebhooks' | 'webhookProblem' | 'webhooksCheckedAt' | 'webhooksDueAt'
>;

export const recordWebhooks = (db: Db, key: IntegrationKey, found: WebhookFindings) =>
  updateOfKey(db, key).set(found).where('status', '<>', 'disconnected').execute();
