import type { Insertable, Selectable, Updateable } from 'kysely';
import type { ListWindow, Page } from '../../api/page.ts';
import { inBatches } from '../../engines/postgres/batches.ts';
import type { Db, Exports } from '../../engines/postgres/open.ts';
import { type Cut, cutTo, inOrder, inWindow } from '../../engines/postgres/window.ts';
import type { RosterEntriesTable, RosterStatus } from '../../engines/postgres/workflow-tables.ts';
import { notFound } from '../../values/errors.ts';
import { fromMinor } from '../../values/money.ts';

export type RosterRow = Selectable<RosterEntriesTable>;

const entriesOf = (db: Db, brandId: string) =>
  db.selectFrom('rosterEntries').selectAll().where('rosterEntries.brandId', '=', brandId);

/** Entries with their person. Earned is what was paid out in the brand's currency; others are not added to it. */
const withCreators = (db: Db, brandId: string, entries: ReturnType<typeof entriesOf>) =>
  db
    .selectFrom(entries.as('entry'))
    .innerJoin('creators as creator', 'creator.id', 'entry.creatorId')
    .innerJoin('brands as brand', 'brand.id', 'entry.brandId')
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
      'brand.currency as brandCurrency',
    ])
    .select((eb) =>
      eb
        .selectFrom('commissions as commission')
        .where('commission.brandId', '=', brandId)
        .whereRef('commission.creatorId', '=', 'entry.creatorId')
        .whereRef('commission.currency', '=', 'brand.currency')
        .where('commission.status', '=', 'paid')
        .select(({ fn }) => fn.sum<number | null>('commission.commissionMinor').as('minor'))
        .as('earnedMinor'),
    )
    .select((eb) =>
      eb
        .selectFrom('applications as application')
        .innerJoin('campaigns as campaign', 'campaign.id', 'application.campaignId')
        .where('application.brandId', '=', brandId)
        .whereRef('application.creatorId', '=', 'entry.creatorId')
        .where('application.status', '=', 'accepted')
        .where('campaign.status', '=', 'completed')
        .select(({ fn }) => fn.count<number>('campaign.id').distinct().as('count'))
        .$asScalar()
        .$notNull()
        .as('campaignsCompleted'),
    );

/** In major units of the brand's currency. */
function withEarned<Row extends { earnedMinor: number | null; brandCurrency: string }>({
  earnedMinor,
  brandCurrency,
  ...row
}: Row) {
  return { ...row, totalEarned: fromMinor(earnedMinor ?? 0, brandCurrency) };
}

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

/** Entries are cut to what is wanted before anything is looked up of them. */
async function selectRecords(db: Db, brandId: string, where: RosterWhere, cut: Cut) {
  const { sort } = where;
  const entries = cutTo(matchingEntries(db, brandId, where), { time: 'addedAt', id: 'id', sort }, cut);
  const order = { time: 'entry.addedAt', id: 'entry.id', sort };
  return (await inOrder(withCreators(db, brandId, entries), order).execute()).map(withEarned);
}

export async function listEntries(db: Db, brandId: string, where: RosterWhere, page: Page) {
  const { total } = await matchingEntries(db, brandId, where)
    .clearSelect()
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return { rows: await selectRecords(db, brandId, where, page), total };
}

export function eachEntry(exports: Exports, brandId: string, where: RosterWhere) {
  return inBatches<RosterRecordRow>(exports, brandId, (trx, last, limit) =>
    selectRecords(trx, brandId, where, { limit, after: last && { at: last.addedAt, id: last.id } }),
  );
}

/** By the entry's id or its creator's. */
export async function getRecord(db: Db, brandId: string, id: string) {
  const entries = entriesOf(db, brandId).where((eb) => eb.or([eb('id', '=', id), eb('creatorId', '=', id)]));
  const row = await withCreators(db, brandId, entries).executeTakeFirst();
  if (!row) throw notFound('creator on the roster');
  return withEarned(row);
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
