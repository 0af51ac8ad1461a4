import { type Insertable, sql } from 'kysely';
import type { Db } from '../engines/postgres/open.ts';
import type { AuditLogTable, OutboxTable } from '../engines/postgres/workflow-tables.ts';

export async function insertAudit(db: Db, rows: Insertable<AuditLogTable>[]): Promise<void> {
  if (rows.length > 0) await db.insertInto('auditLog').values(rows).execute();
}

/** Numbers the events and writes them. The head's row lock makes the numbers gapless and in commit order. */
export async function insertEvents(
  db: Db,
  brandId: string,
  events: Omit<Insertable<OutboxTable>, 'brandId' | 'seq'>[],
): Promise<void> {
  if (events.length === 0) return;
  const { seq } = await db
    .insertInto('outboxHeads')
    .values({ brandId, seq: events.length })
    .onConflict((conflict) =>
      conflict.column('brandId').doUpdateSet((eb) => ({ seq: eb('outboxHeads.seq', '+', events.length) })),
    )
    .returning('seq')
    .executeTakeFirstOrThrow();
  const first = seq - events.length + 1;
  await db
    .insertInto('outbox')
    .values(events.map((event, i) => ({ ...event, brandId, seq: first + i })))
    .execute();
}

/** Brands with events that the consumer has not been given yet, and from where. */
export async function listBehind(
  db: Db,
  consumer: string,
): Promise<{ brandId: string; position: number; head: number }[]> {
  return await db
    .selectFrom('outboxHeads as head')
    .leftJoin('outboxPositions as position', (join) =>
      join.onRef('position.brandId', '=', 'head.brandId').on('position.consumer', '=', consumer),
    )
    .select(['head.brandId', 'head.seq as head', (eb) => eb.fn.coalesce('position.seq', sql<number>`0`).as('position')])
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

/** Holds a consumer's position of one brand until the transaction ends; undefined when another relay holds it. */
export async function tryHoldPosition(db: Db, consumer: string, brandId: string): Promise<number | undefined> {
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
