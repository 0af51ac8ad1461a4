import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { ListWindow, Page } from '../../api/page.ts';
import { inBatches } from '../../engines/postgres/batches.ts';
import type { Db, Exports } from '../../engines/postgres/open.ts';
import { type Cut, cutTo, inOrder, inWindow } from '../../engines/postgres/window.ts';
import type { RosterEntriesTable, RosterStatus } from '../../engines/postgres/workflow-tables.ts';
import { notFound } from '../../values/errors.ts';
import { fromMinor } from '../../values/money.ts';
import { isPerson, isRequested, type PersonWhere } from '../creators/filter-queries.ts';

export type RosterRow = Selectable<RosterEntriesTable>;

const entriesOf = (db: Db, brandId: string) =>
  db.selectFrom('rosterEntries').selectAll().where('rosterEntries.brandId', '=', brandId);

/** Per currency: commissions paid, without what refunds after payment had taken back and payouts netted. */
const EARNED = sql<{ currency: string; minor: number }[]>`(
  select coalesce(jsonb_agg(jsonb_build_object('currency', one.currency, 'minor', one.minor) order by one.currency), '[]')
  from (
    select part.currency, sum(part.minor)::bigint as minor from (
      select commission.currency, commission.commission_minor as minor from commissions as commission
      where commission.brand_id = entry.brand_id and commission.creator_id = entry.creator_id and commission.status = 'paid'
      union all
      select payout.currency, -payout.netted_minor from payouts as payout
      where payout.brand_id = entry.brand_id and payout.creator_id = entry.creator_id
    ) as part group by part.currency
  ) as one)`;

/** Entries with their person. */
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
    .select(EARNED.as('earned'))
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

/** In major units: of the brand's currency, and beside it of every other in which something was earned. */
function withEarned<Row extends { earned: { currency: string; minor: number }[]; brandCurrency: string }>({
  earned,
  brandCurrency,
  ...row
}: Row) {
  const amounts = earned.map(({ currency, minor }) => ({ currency, total_earned: fromMinor(minor, currency) }));
  return {
    ...row,
    totalEarned: amounts.find(({ currency }) => currency === brandCurrency)?.total_earned ?? 0,
    byCurrency: amounts.filter(({ currency, total_earned }) => currency !== brandCurrency && total_earned !== 0),
  };
}

export type RosterRecordRow = Awaited<ReturnType<typeof getRecord>>;

const INCLUDED: Record<'active' | 'paused' | 'removed', RosterStatus[]> = {
  active: ['active', 'hired'],
  paused: ['paused'],
  removed: ['removed'],
};
const ALL: RosterStatus[] = ['active', 'hired', 'paused', 'removed'];

export interface RosterWhere extends ListWindow, PersonWhere {
  status?: keyof typeof INCLUDED | undefined;
}

function matchingEntries(db: Db, brandId: string, { status, ...where }: RosterWhere) {
  const entries = entriesOf(db, brandId)
    .where('status', 'in', status === undefined ? ALL : INCLUDED[status])
    .where(inWindow('addedAt', where));
  if (!isRequested(where)) return entries;
  const people = db.selectFrom('creators').select('creators.id').where('creators.brandId', '=', brandId);
  return entries.where('creatorId', 'in', people.where(isPerson(where)));
}

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
