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
 * cost PostgreSQL a quarter more. In one order, so that two processes that write the same entries do not deadlock.
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
    order by 1, 2
    on conflict (charge_id, kind) do nothing`.execute(db);
}

/** The ledger's sums for one period. A refund counts only if its charge exists. Emptied months count by their sums. */
export async function sumEntries(db: Db, subscriptionId: string, periodStart: Date): Promise<Balance> {
  const { rows } = await sql<Omit<Balance, 'remaining'>>`
    select coalesce(sum(granted), 0)::float8 as granted, coalesce(sum(charged), 0)::float8 as charged,
      coalesce(sum(refunded), 0)::float8 as refunded
    from (
      select case entry.kind when 'grant' then credits end as granted, case entry.kind when 'charge' then credits end as charged,
        case when entry.kind = 'refund' and exists (
          select from credit_entries charge where charge.charge_id = entry.charge_id and charge.kind = 'charge')
          then credits end as refunded
      from credit_entries entry where subscription_id = ${subscriptionId} and period_start = ${periodStart}
      union all
      select 0, sums.charged, sums.refunded
      from credit_sums sums join credit_months month on month.month = sums.month and month.emptied_at is not null
      where sums.subscription_id = ${subscriptionId} and sums.period_start = ${periodStart}) counted`.execute(db);
  const { granted = 0, charged = 0, refunded = 0 } = rows[0] ?? {};
  return { granted, charged, refunded, remaining: granted - charged + refunded };
}

interface Spending {
  keyId: string;
  /** The UTC day, as days since 1970. */
  day: number;
  isOfPeriod: boolean;
  credits: number;
}

/** The spending of keys by day, in the period and since yesterday, without refunded charges. */
export async function listSpending(db: Db, keyIds: readonly string[], periodStart: Date): Promise<Spending[]> {
  const { rows } = await sql<Spending>`
    select key_id, floor(extract(epoch from occurred_at) / 86400)::integer as day,
      period_start = ${periodStart} as is_of_period, sum(credits)::float8 as credits
    from credit_entries charge
    where key_id = any(${keyIds}::text[]) and kind = 'charge'
      and occurred_at >= least(${periodStart}::timestamptz, now()) - interval '2 days'
      and not exists (select from credit_entries refund where refund.charge_id = charge.charge_id and refund.kind = 'refund')
    group by 1, 2, 3`.execute(db);
  return rows;
}

/** The entries that are already in the ledger, as `kind:chargeId`. */
export async function findKnownEntries(db: Db, chargeIds: readonly string[]): Promise<Set<string>> {
  if (chargeIds.length === 0) return new Set();
  const ids = [...new Set(chargeIds)];
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
export async function listKeyCharges(db: Db, requestOrChargeId: string) {
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
