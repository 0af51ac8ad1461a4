import { sql } from 'kysely';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import { DAY_MS, HOUR_MS } from '../../../kit/values/duration.ts';
import type { IntegrationKey, IntegrationRow } from './connections.ts';

/** Records that a store sent a delivery. It waits for nobody who has the integration locked: the next delivery says the same. */
export async function markReceived(db: Db, id: string, at: Date): Promise<void> {
  await sql`
    update integrations set last_received_at = ${at} where id in (
      select id from integrations where id = ${id} and (last_received_at is null or last_received_at < ${at})
      for update skip locked)`.execute(db);
}

const toHour = (at: Date) => new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS);

async function addFailures(
  db: Db,
  integrationId: string,
  { failures = 0, forged = 0 }: { failures?: number; forged?: number },
  at: Date,
): Promise<void> {
  await db
    .insertInto('integrationFailures')
    .values({ integrationId, hour: toHour(at), failures, forged })
    .onConflict((conflict) =>
      conflict.columns(['integrationId', 'hour']).doUpdateSet((eb) => ({
        failures: eb('integrationFailures.failures', '+', failures),
        forged: eb('integrationFailures.forged', '+', forged),
      })),
    )
    .execute();
}

/** The outcomes of some deliveries of a store. */
interface DeliveryResults {
  /** At least one delivery recorded an order or refund. */
  isSynced: boolean;
  /** Number of deliveries that failed for good. */
  failures: number;
  /** The newest delivery failed. */
  isFailing: boolean;
}

/** Records how a store's deliveries fared. One that is read clears an earlier failure. */
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

/** An episode ends after this long without a finding, however often webhooks failed and recovered in it. */
const TROUBLE_MS = DAY_MS;

/** Notes that webhooks do not arrive. True for one caller an episode, who mails the brand. */
export async function beginWebhookTrouble(db: Db, { brandId, id }: IntegrationKey, at: Date): Promise<boolean> {
  const noted = db
    .updateTable('integrations')
    .set({ webhookTroubleAt: at })
    .where('brandId', '=', brandId)
    .where('id', '=', id);
  const { numUpdatedRows } = await noted.where('webhookTroubleAt', 'is', null).executeTakeFirst();
  if (numUpdatedRows > 0n) return true;
  await noted.execute();
  return false;
}

/** Called when webhooks reported all that a sweep found. If deliveries arrive, the store is no longer silent. */
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
