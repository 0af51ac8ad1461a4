import { sql } from 'kysely';
import { toInsert } from '../../kit/engines/postgres/rows.ts';
import type { Work } from '../../kit/operation/work.ts';
import type { Reading } from '../stores/formats/provider.ts';
import type { OrderSource } from './orders.shapes.ts';

/** Records which orders started subscriptions, as the store said that was asked. */
export async function insertStartedSubscriptions(
  { db, now }: Work,
  { id: integrationId, brandId }: OrderSource,
  readings: readonly Reading[],
): Promise<void> {
  const startedSubscriptions = readings.flatMap((reading) =>
    reading.kind === 'order' ? (reading.facts.startedBy ?? []) : [],
  );
  const rows = [...new Map(startedSubscriptions.map((one) => [one.subscriptionId, one])).values()];
  if (rows.length === 0) return;
  const values = rows.map((row) => ({ brandId, integrationId, ...row, createdAt: now }));
  await sql`${toInsert('store_subscriptions', values)} on conflict do nothing`.execute(db);
}
