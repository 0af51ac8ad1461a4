import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { inBatches } from '../../engines/postgres/batches.ts';
import type { Db } from '../../engines/postgres/open.ts';
import { inWindow, isAfter } from '../../engines/postgres/window.ts';
import type { RosterEntriesTable, RosterStatus } from '../../engines/postgres/workflow-tables.ts';
import { notFound } from '../../errors.ts';
import type { ListWindow, Page } from '../../page.ts';

export type RosterRow = Selectable<RosterEntriesTable>;

const entriesOf = (db: Db, brandId: string) =>
  db.selectFrom('rosterEntries').selectAll().where('rosterEntries.brandId', '=', brandId);

/** Entries with their person. Nothing is earned before anything is paid out. */
const withCreators = (db: Db, brandId: string, entries: ReturnType<typeof entriesOf>) =>
  db
    .selectFrom(entries.as('entry'))
    .innerJoin('creators as creator', 'creator.id', 'entry.creatorId')
    .selectAll('entry')
    .select([
      'creator.email as creatorEmail',
      'creator.name as creatorName',
      'creator.igHandle',
      'creator.ttHandle',
      'creator.pfpUrl',
      'creator.igFollowers',
      'creator.ttFollowers',
      'creator.engagementRate',
      'creator.tags',
      sql<number>`0`.as('totalEarned'),
    ])
    .select((eb) =>
      eb
        .selectFrom('applications as application')
        .innerJoin('campaigns as campaign', 'campaign.id', 'application.campaignId')
        .where('application.brandId', '=', brandId)
        .whereRef('application.creatorId', '=', 'entry.creatorId')
        .where('application.status', '=', 'accepted')
        .where('campaign.status', '=', 'completed')
        .select(({ fn }) => fn.count<number>('campaign.id').distinct().as('count'))
        .as('campaignsCompleted'),
    );

export type RosterRecordRow = Awaited<ReturnType<typeof getRecord>>;

const INCLUDED: Record<'active' | 'paused' | 'removed', RosterStatus[]> = {
  active: ['active', 'hired'],
  paused: ['paused'],
  removed: ['removed'],
};
const ALL: RosterStatus[] = ['active', 'hired', 'paused', 'removed'];

export interface RosterWhere extends ListWindow {
  status?: keyof typeof INCLUDED | undefined;
}

const matchingEntries = (db: Db, brandId: string, { status, ...window }: RosterWhere) =>
  entriesOf(db, brandId)
    .where('status', 'in', status === undefined ? ALL : INCLUDED[status])
    .where(inWindow('addedAt', window));

/** In the list's order. Entries are cut to what is wanted before anything is looked up of them. */
async function selectRecords(
  db: Db,
  brandId: string,
  where: RosterWhere,
  cut: { offset?: number; limit: number; after?: RosterRow | undefined },
) {
  const direction = where.sort === 'oldest' ? 'asc' : 'desc';
  const { offset = 0, limit, after } = cut;
  const entries = matchingEntries(db, brandId, where)
    .where(isAfter('addedAt', 'id', after && { at: after.addedAt, id: after.id }, where.sort))
    .orderBy('addedAt', direction)
    .orderBy('id', direction)
    .offset(offset)
    .limit(limit);
  return await withCreators(db, brandId, entries)
    .orderBy('entry.addedAt', direction)
    .orderBy('entry.id', direction)
    .execute();
}

export async function listEntries(db: Db, brandId: string, where: RosterWhere, { offset, limit }: Page) {
  const { total } = await matchingEntries(db, brandId, where)
    .clearSelect()
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { rows: await selectRecords(db, brandId, where, { offset, limit }), total };
}

export function eachEntry(db: Db, brandId: string, where: RosterWhere) {
  return inBatches<RosterRecordRow>(db, (trx, after, limit) => selectRecords(trx, brandId, where, { after, limit }));
}

/** By the entry's id or its creator's. */
export async function getRecord(db: Db, brandId: string, id: string) {
  const entries = entriesOf(db, brandId).where((eb) => eb.or([eb('id', '=', id), eb('creatorId', '=', id)]));
  const row = await withCreators(db, brandId, entries).executeTakeFirst();
  if (!row) throw notFound('creator on the roster');
  return row;
}

/** By the entry's id or its creator's. */
export async function getEntry(db: Db, brandId: string, id: string): Promise<RosterRow> {
  const row = await findEntry(db, brandId, id);
  if (!row) throw notFound('creator on the roster');
  return row;
}

export async function findEntry(db: Db, brandId: string, id: string): Promise<RosterRow | undefined> {
  return await db
    .selectFrom('rosterEntries')
    .selectAll()
    .where('brandId', '=', brandId)
    .where((eb) => eb.or([eb('id', '=', id), eb('creatorId', '=', id)]))
    .executeTakeFirst();
}

/** How many places of the plan are taken: everybody who is not removed. */
export async function countOnRoster(db: Db, brandId: string): Promise<number> {
  const { count } = await db
    .selectFrom('rosterEntries')
    .where('brandId', '=', brandId)
    .where('status', '<>', 'removed')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Undefined when the creator has an entry. */
export async function insertEntry(db: Db, row: Insertable<RosterEntriesTable>): Promise<RosterRow | undefined> {
  return await db
    .insertInto('rosterEntries')
    .values(row)
    .onConflict((conflict) => conflict.columns(['brandId', 'creatorId']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

export async function updateEntry(
  db: Db,
  { brandId, id }: RosterRow,
  change: Updateable<RosterEntriesTable>,
): Promise<RosterRow> {
  return await db
    .updateTable('rosterEntries')
    .set(change)
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}
