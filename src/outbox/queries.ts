import { type Insertable, sql } from 'kysely';
import type { Db } from '../engines/postgres/open.ts';
import type { AuditLogTable } from '../engines/postgres/workflow-tables.ts';
import { chained, type NewEntry } from '../ledger/entry.ts';
import type { Clock } from '../values/clock.ts';
import type { EventName } from './events.ts';

export async function insertAudit(db: Db, rows: Insertable<AuditLogTable>[]): Promise<void> {
  if (rows.length > 0) await db.insertInto('auditLog').values(rows).execute();
}

export interface NewEvent {
  id: string;
  event: EventName;
  data: string;
}

/** Takes the brand's next numbers, and with them the head's row until the commit. Answers where they begin. */
async function takeNumbers(
  db: Db,
  brandId: string,
  { entries, events }: { entries: number; events: number },
  movedAt: Date,
) {
  const head = await db
    .insertInto('outboxHeads')
    .values({ brandId, seq: events, ledgerSeq: entries, movedAt })
    .onConflict((conflict) =>
      conflict.column('brandId').doUpdateSet((eb) => ({
        seq: eb('outboxHeads.seq', '+', events),
        ledgerSeq: eb('outboxHeads.ledgerSeq', '+', entries),
        movedAt,
      })),
    )
    .returning(['seq', 'ledgerSeq', 'ledgerHash', 'ledgerRecordedAt'])
    .executeTakeFirstOrThrow();
  return { ...head, seq: head.seq - events, ledgerSeq: head.ledgerSeq - entries };
}

/** When the head's last entry was recorded, of a head that was written before it kept this. */
async function findLastRecorded(db: Db, brandId: string, seq: number): Promise<Date | undefined> {
  const last = await db
    .selectFrom('ledgerEntries')
    .select('recordedAt')
    .where('brandId', '=', brandId)
    .where('seq', '=', seq)
    .executeTakeFirst();
  return last?.recordedAt;
}

/**
 * When entries are recorded that follow the head's last one: never before it, so that times are in the chain's order also
 * where clocks differ. To be asked with the head locked: not before is the clock past every answer that was given without
 * these entries.
 */
async function recordingTime(
  db: Db,
  brandId: string,
  { ledgerSeq, ledgerRecordedAt }: { ledgerSeq: number; ledgerRecordedAt: Date | null },
  clock: Clock,
): Promise<Date> {
  const last = ledgerRecordedAt ?? (ledgerSeq > 0 ? await findLastRecorded(db, brandId, ledgerSeq) : undefined);
  const now = clock.now();
  return last && last > now ? last : now;
}

/**
 * Numbers and writes a brand's ledger entries, chained, and its events. The head's row lock makes the numbers gapless
 * and in commit order. The brand's other transactions wait for that row, so that all is written in one statement.
 */
export async function insertNumbered(
  db: Db,
  brandId: string,
  { now, clock }: { now: Date; clock: Clock },
  entries: readonly NewEntry[],
  events: readonly NewEvent[],
): Promise<void> {
  if (entries.length === 0 && events.length === 0) return;
  const head = await takeNumbers(db, brandId, { entries: entries.length, events: events.length }, clock.now());
  const recordedAt = entries.length === 0 ? now : await recordingTime(db, brandId, head, clock);
  const rows = chained(head, brandId, recordedAt, entries);
  const entriesOf = <V>(value: (row: (typeof rows)[number]) => V) => rows.map(value);
  const eventsOf = <V>(value: (event: NewEvent, i: number) => V) => events.map(value);
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
      select ${brandId}, ${now}::timestamptz, * from unnest(
        ${eventsOf((_, i) => head.seq + 1 + i)}::bigint[], ${eventsOf(({ id }) => id)}::text[],
        ${eventsOf(({ event }) => event)}::text[], ${eventsOf(({ data }) => data)}::json[]))
    update outbox_heads set ledger_hash = ${rows.at(-1)?.hash ?? null}, ledger_recorded_at = ${recordedAt}
    where brand_id = ${brandId} and ${rows.length > 0}`.execute(db);
}

/**
 * Waits for whoever has locked the brand's head. Whoever takes it afterwards records at a later time, so what the next statement
 * finds recorded by now is all that ever will be. A brand has a head since its first creator came, before any entry.
 */
export async function awaitHead(db: Db, brandId: string): Promise<void> {
  await db.selectFrom('outboxHeads').select('brandId').where('brandId', '=', brandId).forShare().execute();
}

/** Of brands that moved after a time; without one, of all. */
export const movedSince = (after: Date | undefined) =>
  after === undefined ? sql<boolean>`true` : sql<boolean>`head.moved_at > ${after}`;

/** Brands with events that the consumer has not been given yet, and from where. */
export async function listBehind(
  db: Db,
  consumer: string,
  after?: Date,
): Promise<{ brandId: string; position: number; head: number }[]> {
  return await db
    .selectFrom('outboxHeads as head')
    .leftJoin('outboxPositions as position', (join) =>
      join.onRef('position.brandId', '=', 'head.brandId').on('position.consumer', '=', consumer),
    )
    .select(['head.brandId', 'head.seq as head', (eb) => eb.fn.coalesce('position.seq', sql<number>`0`).as('position')])
    .where(movedSince(after))
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

/** Locks a consumer's position of one brand until the transaction ends; undefined when another relay has it locked. */
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
 * Deletes old events that every consumer has passed, at most `limit`. Returns how many. A consumer that has no position of
 * a brand yet has passed none of its events.
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
