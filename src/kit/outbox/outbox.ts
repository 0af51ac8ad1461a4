import { type Insertable, type Selectable, sql } from 'kysely';
import type { AuditLogTable, OutboxNumbersTable } from '../engines/postgres/database.ts';
import type { Db } from '../engines/postgres/open.ts';
import type { Clock } from '../values/clock.ts';
import type { EventName } from './events.ts';
import { chained, type NewEntry } from './ledger-entry.ts';
import { selectPart } from './parts.ts';

export async function insertAudit(db: Db, rows: Insertable<AuditLogTable>[]): Promise<void> {
  if (rows.length > 0) await db.insertInto('auditLog').values(rows).execute();
}

export interface NewEvent {
  id: string;
  event: EventName;
  data: string;
  createdAt: Date;
}

type Numbers = Selectable<OutboxNumbersTable>;

/** A brand's latest numbers, read from the end of the key, so that older versions kept by a snapshot are not walked. */
export const selectNumbers = (db: Db, brandId: string) =>
  db.selectFrom('outboxNumbers').where('brandId', '=', brandId).orderBy('version', 'desc').limit(1);

/**
 * Returns the time of the next entries: never before the brand's last one, so that times follow the chain's order even if
 * clocks differ. Call it with the numbers locked: the clock is then later than every answer that was given without
 * these entries.
 */
function recordingTime({ ledgerRecordedAt: last }: Numbers, clock: Clock): Date {
  const now = clock.now();
  return last && last > now ? last : now;
}

/** Entries and events that one statement writes, so that none takes as long as a statement may. */
const NUMBERED_AT_ONCE = 5_000;

/**
 * Numbers and writes a brand's ledger entries, chained, and its events, and seals the rows that the transaction wrote.
 * The lock on the brand's numbers makes them gapless and in commit order. The brand's other transactions wait for that
 * lock, so what a change usually has is written in one statement.
 */
export async function insertNumbered(
  db: Db,
  brandId: string,
  times: { now: Date; clock: Clock },
  entries: readonly NewEntry[],
  events: readonly NewEvent[],
): Promise<void> {
  if (entries.length === 0 && events.length === 0 && !(await hasUnsealed(db))) return;
  let from = 0;
  do {
    const until = from + NUMBERED_AT_ONCE;
    await insertNext(db, brandId, times, entries.slice(from, until), events.slice(from, until));
    from = until;
  } while (from < Math.max(entries.length, events.length));
}

async function insertNext(
  db: Db,
  brandId: string,
  { now, clock }: { now: Date; clock: Clock },
  entries: readonly NewEntry[],
  events: readonly NewEvent[],
): Promise<void> {
  // Locks the brand's numbers until the commit; without a change they get no new version.
  const last = await selectNumbers(db, brandId).selectAll().forUpdate().executeTakeFirstOrThrow();
  const recordedAt = entries.length === 0 ? now : recordingTime(last, clock);
  const rows = chained(last, brandId, recordedAt, entries);
  const ledgerSeq = last.ledgerSeq + rows.length;
  const ledgerHash = rows.at(-1)?.hash ?? last.ledgerHash;
  const entriesOf = <V>(value: (row: (typeof rows)[number]) => V) => rows.map(value);
  const mapEvents = <V>(value: (event: NewEvent, i: number) => V) => events.map(value);
  await sql`
    with appended as (
      insert into ledger_entries (brand_id, recorded_at, seq, id, kind, currency, creator_id, link_id, order_id,
        commission_id, payout_id, postings, hash)
      select ${brandId}, ${recordedAt}::timestamptz, * from unnest(
        ${entriesOf(({ seq }) => seq)}::bigint[], ${entriesOf(({ id }) => id)}::text[],
        ${entriesOf(({ kind }) => kind)}::text[], ${entriesOf(({ currency }) => currency)}::text[],
        ${entriesOf(({ creatorId }) => creatorId)}::text[], ${entriesOf(({ linkId }) => linkId)}::text[],
        ${entriesOf(({ orderId }) => orderId)}::text[], ${entriesOf(({ commissionId }) => commissionId)}::text[],
        ${entriesOf(({ payoutId }) => payoutId)}::text[], ${entriesOf(({ postings }) => JSON.stringify(postings))}::jsonb[],
        ${entriesOf(({ hash }) => hash)}::bytea[])),
    announced as (
      insert into outbox (brand_id, created_at, seq, id, event, data)
      select ${brandId}, * from unnest(
        ${mapEvents(({ createdAt }) => createdAt)}::timestamptz[],
        ${mapEvents((_, i) => last.seq + 1 + i)}::bigint[], ${mapEvents(({ id }) => id)}::text[],
        ${mapEvents(({ event }) => event)}::text[], ${mapEvents(({ data }) => data)}::json[])),
    ${NOTED_HERE},
    head as (
      update outbox_numbers as head set version = version + 1, moved_at = ${clock.now()},
        seq = ${last.seq + events.length}, ledger_seq = ${ledgerSeq}, ledger_hash = ${ledgerHash},
        ledger_recorded_at = ${entries.length > 0 ? recordedAt : last.ledgerRecordedAt},
        seal_seq = head.seal_seq + case when noted.rows is null then 0 else 1 end,
        seal_hash = case when noted.rows is null then head.seal_hash else seal_hash(head.seal_hash, head.brand_id,
          head.seal_seq + 1, ${ledgerSeq}::bigint, ${ledgerHash}::bytea, ${recordedAt}::timestamptz, noted.rows) end
      from (select max(rows) as rows from noted) as noted
      where head.brand_id = ${brandId} and head.version = ${last.version}
      returning head.brand_id, head.seal_seq, head.ledger_seq, head.ledger_hash, head.seal_hash)
    ${insertSeal(recordedAt)}`.execute(db);
}

/**
 * Waits for the transaction that has locked the brand's numbers. Later transactions record at a later time, so the next
 * statement finds everything that will ever be recorded up to now.
 */
export async function awaitNumbers(db: Db, brandId: string): Promise<void> {
  await selectNumbers(db, brandId).select('brandId').forShare().execute();
}

/** Brands with a change after a time; without one, all brands. */
export const movedSince = (after: Date | undefined) =>
  after === undefined ? sql<boolean>`true` : sql<boolean>`head.moved_at > ${after}`;

/** Brands with events that the consumer has not received yet, and where to continue; of these parts, or all. */
export async function listBehind(
  db: Db,
  consumer: string,
  after?: Date,
  parts?: readonly number[],
): Promise<{ brandId: string; position: number; head: number }[]> {
  return await db
    .selectFrom('outboxNumbers as head')
    .leftJoin('outboxPositions as position', (join) =>
      join.onRef('position.brandId', '=', 'head.brandId').on('position.consumer', '=', consumer),
    )
    .select(['head.brandId', 'head.seq as head', (eb) => eb.fn.coalesce('position.seq', sql<number>`0`).as('position')])
    .where(movedSince(after))
    .$if(parts !== undefined, (brands) =>
      brands.where(sql<boolean>`${selectPart('head.brandId')} = any(${parts}::int[])`),
    )
    .where((eb) => eb('head.seq', '>', eb.fn.coalesce('position.seq', sql<number>`0`)))
    .execute();
}

export async function listEventsAfter(db: Db, brandId: string, seq: number, limit: number) {
  return await db
    .selectFrom('outbox')
    .select(['brandId', 'seq', 'id', 'event', 'data', 'createdAt'])
    .where('brandId', '=', brandId)
    .where('seq', '>', seq)
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** Locks a consumer's position for one brand until the transaction ends; undefined if another relay has locked it. */
export async function tryLockPosition(db: Db, consumer: string, brandId: string): Promise<number | undefined> {
  await db
    .insertInto('outboxPositions')
    .values({ consumer, brandId, seq: 0 })
    .onConflict((conflict) => conflict.columns(['consumer', 'brandId']).doNothing())
    .execute();
  const row = await db
    .selectFrom('outboxPositions')
    .select('seq')
    .where('consumer', '=', consumer)
    .where('brandId', '=', brandId)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  return row?.seq;
}

export async function updatePosition(db: Db, consumer: string, brandId: string, seq: number): Promise<void> {
  await db
    .updateTable('outboxPositions')
    .set({ seq })
    .where('consumer', '=', consumer)
    .where('brandId', '=', brandId)
    .execute();
}

/**
 * Deletes up to `limit` old events that every consumer has passed. Returns how many. A consumer without a position for
 * a brand has passed none of its events.
 */
export async function deleteOldEvents(
  db: Db,
  consumers: readonly string[],
  before: Date,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from outbox where id in (
      select event.id from outbox event
      where event.created_at < ${before}
        and ${consumers.length} = (
          select count(*) from outbox_positions position
          where position.brand_id = event.brand_id and position.seq >= event.seq
            and position.consumer = any(${consumers}::text[]))
      limit ${limit})`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Rows of `sealed_rows`, in the form that the hash of their seal covers. */
export const NOTED = sql<string>`string_agg(jsonb_build_array(table_name, key, found_hash, facts)::text, ',' order by id)`;

/**
 * A CTE with what triggers noted of this transaction's writes since its last seal; it has no row if there is nothing.
 */
const NOTED_HERE = sql`
  noted as (
    select seal_id, ${NOTED} as rows from sealed_rows
    where seal_id = nullif(current_setting('rollcall.seal', true), '')::bigint group by seal_id)`;

/** Inserts the seal that a CTE `head` has numbered and hashed. Later writes are noted under the next seal. */
const insertSeal = (sealedAt: Date) => sql`
  insert into seals (brand_id, seq, seal_id, ledger_seq, ledger_hash, sealed_at, hash)
  select brand_id, seal_seq, seal_id, ledger_seq, ledger_hash, ${sealedAt}::timestamptz, seal_hash from head cross join noted
  returning set_config('rollcall.seal', '', true)`;

/** Seals what this transaction wrote so far. Call it before the commit of a change that is no `Work`. */
export async function sealNoted(db: Db, brandId: string): Promise<void> {
  await sql`select seal_noted(${brandId})`.execute(db);
}

/** True if this transaction wrote a row that is not sealed yet. */
async function hasUnsealed(db: Db): Promise<boolean> {
  const { rows } = await sql<{ seal: string | null }>`
    select nullif(current_setting('rollcall.seal', true), '') as seal`.execute(db);
  return rows[0]?.seal != null;
}
