import { sql } from 'kysely';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import { DAY_MS, HOUR_MS } from '../../../kit/values/duration.ts';
import type { IntegrationKey, IntegrationRow } from './connections.ts';

/** Records that a store sent a delivery. A locked row is skipped, because the next delivery records the same. */
export async function markReceived(db: Db, id: string, at: Date): Promise<void> {
  await sql`
    update integrations set last_received_at = ${at} where id in (
      select id from integrations where id = ${id} and (last_received_at is null or last_received_at < ${at})
      for update skip locked)`.execute(db);
}

async function addFailures(
  db: Db,
  integrationId: string,
  { failures = 0, forged = 0 }: { failures?: number; forged?: number },
  at: Date,
): Promise<void> {
  await db
    .insertInto('integrationFailures')
    .values({ integrationId, hour: new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS), failures, forged })
    .onConflict((conflict) =>
      conflict.columns(['integrationId', 'hour']).doUpdateSet((eb) => ({
        failures: eb('integrationFailures.failures', '+', failures),
        forged: eb('integrationFailures.forged', '+', forged),
      })),
    )
    .execute();
}

/** Results of some deliveries of a store. */
interface DeliveryResults {
  /** At least one delivery recorded an order or refund. */
  isSynced: boolean;
  /** Number of deliveries that failed for good. */
  failures: number;
  /** The newest delivery failed. */
  isFailing: boolean;
}

/** Records the results of a store's deliveries. A readable one clears an earlier failure. */
export async function updateHealth(
  db: Db,
  { brandId, id }: Pick<IntegrationRow, 'brandId' | 'id'>,
  { isSynced, failures, isFailing }: DeliveryResults,
  at: Date,
): Promise<void> {
  await db
    .updateTable('integrations')
    .set({
      lastReceivedAt: sql<Date>`coalesce(last_received_at, ${at})`,
      lastFailedAt: isFailing ? at : null,
      ...(isSynced ? { lastSyncAt: at } : {}),
    })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .execute();
  if (failures > 0) await addFailures(db, id, { failures }, at);
}

/** Counts a delivery of a store whose secrets cannot be opened. */
export async function countFailure(db: Db, integrationId: string, at: Date): Promise<void> {
  await addFailures(db, integrationId, { failures: 1 }, at);
  await db.updateTable('integrations').set({ lastFailedAt: at }).where('id', '=', integrationId).execute();
}

/** Counts a delivery that the store had not signed. */
export async function countForged(db: Db, integrationId: string, at: Date): Promise<void> {
  await addFailures(db, integrationId, { forged: 1 }, at);
}

/** An episode ends after this long without a failure, however often webhooks failed and recovered in it. */
const TROUBLE_MS = DAY_MS;

/** Records that webhooks do not arrive. Returns true for one caller an episode, who mails the brand. */
export async function beginWebhookTrouble(db: Db, { brandId, id }: IntegrationKey, at: Date): Promise<boolean> {
  const update = db
    .updateTable('integrations')
    .set({ webhookTroubleAt: at })
    .where('brandId', '=', brandId)
    .where('id', '=', id);
  const { numUpdatedRows } = await update.where('webhookTroubleAt', 'is', null).executeTakeFirst();
  if (numUpdatedRows > 0n) return true;
  await update.execute();
  return false;
}

/**
 * Ends the trouble once webhooks reported all that a sweep listed. If deliveries arrive, the store is no longer silent.
 */
export async function endWebhookTrouble(db: Db, { brandId, id }: IntegrationKey, at: Date): Promise<void> {
  const arriving = db
    .updateTable('integrations')
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where((eb) => eb('lastReceivedAt', '>', eb.ref('webhookTroubleAt')));
  await arriving.where('silentSince', 'is not', null).set({ silentSince: null }).execute();
  const before = new Date(at.getTime() - TROUBLE_MS);
  await arriving.where('webhookTroubleAt', '<', before).set({ webhookTroubleAt: null }).execute();
}
