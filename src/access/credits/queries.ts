import { sql } from 'kysely';
import type { Db } from '../../engines/postgres/open.ts';

/** An entry of the charges stream: a debit or refund to be written to the credit ledger. */
export interface ChargeEntry {
  chargeId: string;
  kind: 'charge' | 'refund';
  subscriptionId: string;
  keyId: string;
  credits: number;
  periodStart: Date;
  requestId: string | null;
  occurredAt: Date;
}

export interface Balance {
  granted: number;
  charged: number;
  refunded: number;
  remaining: number;
}

/**
 * Writes entries to the ledger and skips existing ones. Passes columns as arrays, because rows of eight parameters each
 * cost PostgreSQL a quarter more.
 */
export async function insertEntries(db: Db, entries: readonly ChargeEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const column = <Name extends keyof ChargeEntry>(name: Name) => entries.map((entry) => entry[name]);
  await sql`
    insert into credit_entries
      (charge_id, kind, subscription_id, key_id, credits, period_start, request_id, occurred_at)
    select * from unnest(
      ${column('chargeId')}::text[], ${column('kind')}::text[], ${column('subscriptionId')}::text[],
      ${column('keyId')}::text[], ${column('credits')}::integer[], ${column('periodStart')}::timestamptz[],
      ${column('requestId')}::text[], ${column('occurredAt')}::timestamptz[])
    on conflict (charge_id, kind) do nothing`.execute(db);
}

/** The ledger's sums for one period. A refund counts only if its charge exists. */
export async function sumEntries(db: Db, subscriptionId: string, periodStart: Date): Promise<Balance> {
  const row = await db
    .selectFrom('creditEntries as entry')
    .select(({ fn, exists, selectFrom, and, eb }) => [
      fn.coalesce(fn.sum<number>('credits').filterWhere('kind', '=', 'grant'), sql<number>`0`).as('granted'),
      fn.coalesce(fn.sum<number>('credits').filterWhere('kind', '=', 'charge'), sql<number>`0`).as('charged'),
      fn
        .coalesce(
          fn
            .sum<number>('credits')
            .filterWhere(
              and([
                eb('kind', '=', 'refund'),
                exists(
                  selectFrom('creditEntries as charge')
                    .select('charge.chargeId')
                    .whereRef('charge.chargeId', '=', 'entry.chargeId')
                    .where('charge.kind', '=', 'charge'),
                ),
              ]),
            ),
          sql<number>`0`,
        )
        .as('refunded'),
    ])
    .where('entry.subscriptionId', '=', subscriptionId)
    .where('entry.periodStart', '=', periodStart)
    .executeTakeFirstOrThrow();
  return { ...row, remaining: row.granted - row.charged + row.refunded };
}

/** The entries that are already in the ledger, as `kind:chargeId`. */
export async function findKnownEntries(db: Db, entries: readonly ChargeEntry[]): Promise<Set<string>> {
  if (entries.length === 0) return new Set();
  const ids = [...new Set(entries.map((entry) => entry.chargeId))];
  const rows = await db
    .selectFrom('creditEntries')
    .select(['chargeId', 'kind'])
    .where('chargeId', '=', sql<string>`any(${ids}::text[])`)
    .execute();
  return new Set(rows.map((row) => `${row.kind}:${row.chargeId}`));
}

export interface Grant {
  subscriptionId: string;
  periodStart: Date;
  /** Makes the grant unique: a period's first, or one plan change. */
  reason: string;
  credits: number;
  at: Date;
}

export async function insertGrant(db: Db, grant: Grant): Promise<void> {
  await db
    .insertInto('creditEntries')
    .values({
      chargeId: `grant:${grant.subscriptionId}:${grant.periodStart.toISOString()}:${grant.reason}`,
      kind: 'grant',
      subscriptionId: grant.subscriptionId,
      keyId: null,
      credits: grant.credits,
      periodStart: grant.periodStart,
      requestId: null,
      occurredAt: grant.at,
    })
    .onConflict((conflict) => conflict.columns(['chargeId', 'kind']).doNothing())
    .execute();
}

/** Locks the subscription's row until the transaction ends, so that grants of one period are made one at a time. */
export async function lockSubscription(db: Db, subscriptionId: string): Promise<void> {
  await db.selectFrom('subscriptions').select('id').where('id', '=', subscriptionId).forUpdate().execute();
}

/** Increments the version, so that every process reads the subscription again and its balance in Redis is rebuilt. */
export async function bumpVersion(db: Db, subscriptionId: string): Promise<void> {
  await db
    .updateTable('subscriptions')
    .set((eb) => ({ version: eb('version', '+', 1), inRedis: false }))
    .where('id', '=', subscriptionId)
    .execute();
}

/** The charges with this request id or charge id, each with the time of its refund. */
export async function listChargesOf(db: Db, requestOrChargeId: string) {
  return await db
    .selectFrom('creditEntries as charge')
    .leftJoin('creditEntries as refund', (join) =>
      join.onRef('refund.chargeId', '=', 'charge.chargeId').on('refund.kind', '=', 'refund'),
    )
    .selectAll('charge')
    .select('refund.occurredAt as refundedAt')
    .where('charge.kind', '=', 'charge')
    .where((eb) =>
      eb.or([eb('charge.requestId', '=', requestOrChargeId), eb('charge.chargeId', '=', requestOrChargeId)]),
    )
    .orderBy('charge.occurredAt')
    .execute();
}
