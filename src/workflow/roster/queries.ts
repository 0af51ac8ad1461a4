import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { COUNT, countOf } from '../../kit/engines/postgres/count.ts';
import type { RosterEntriesTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { updateOwn } from '../../kit/engines/postgres/own.ts';
import { notFound } from '../../kit/values/errors.ts';
import { fromMinor } from '../../kit/values/money.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { isPerson, isRequested, type PersonWhere } from '../creators/queries.ts';

export type RosterStatus = RosterEntriesTable['status'];

export type RosterRow = Selectable<RosterEntriesTable>;

/** Per currency: paid commissions, minus what refunds took back after payment and payouts netted. */
const EARNED = sql<{ currency: string; minor: number }[]>`(
  select coalesce(jsonb_agg(jsonb_build_object('currency', one.currency, 'minor', one.minor) order by one.currency), '[]')
  from (
    select part.currency, sum(part.minor)::bigint as minor from (
      select commission.currency, commission.commission_minor as minor from commissions as commission
      where commission.brand_id = roster_entries.brand_id and commission.creator_id = roster_entries.creator_id
        and commission.status = 'paid'
      union all
      select payout.currency, -payout.netted_minor from payouts as payout
      where payout.brand_id = roster_entries.brand_id and payout.creator_id = roster_entries.creator_id
    ) as part group by part.currency
  ) as one)`;

/** Entries with their creator. */
const withCreators = (db: Db, brandId: string) =>
  db
    .selectFrom('rosterEntries')
    .innerJoin('creators as creator', 'creator.id', 'rosterEntries.creatorId')
    .innerJoin('brands as brand', 'brand.id', 'rosterEntries.brandId')
    .selectAll('rosterEntries')
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
        .whereRef('application.creatorId', '=', 'rosterEntries.creatorId')
        .where('application.status', '=', 'accepted')
        .where('campaign.status', '=', 'completed')
        .select(({ fn }) => fn.count<number>('campaign.id').distinct().as('count'))
        .$asScalar()
        .$notNull()
        .as('campaignsCompleted'),
    );

/** Earnings in major units: in the brand's currency, and separately in every other currency. */
export function withEarned<Row extends { earned: { currency: string; minor: number }[]; brandCurrency: string }>({
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

const INCLUDED: Record<'active' | 'paused' | 'removed', RosterStatus[]> = {
  active: ['active', 'hired'],
  paused: ['paused'],
  removed: ['removed'],
};

export interface RosterWhere extends ListWindow, PersonWhere {
  status?: keyof typeof INCLUDED | undefined;
}

export const roster = listing({
  noun: 'creator on the roster',
  table: 'roster_entries',
  time: 'addedAt',
  changed: ['addedAt', 'updatedAt'],
  matching: (db, brandId, { status, ...where }: RosterWhere) => {
    let entries = db.selectFrom('rosterEntries');
    if (status !== undefined) entries = entries.where('status', 'in', INCLUDED[status]);
    if (!isRequested(where)) return entries;
    const people = db.selectFrom('creators').select('creators.id').where('creators.brandId', '=', brandId);
    return entries.where('creatorId', 'in', people.where(isPerson(where)));
  },
  rows: withCreators,
});

/** Found by the entry's id or its creator's. */
export async function getRecord(db: Db, brandId: string, id: string) {
  const row = await withCreators(db, brandId)
    .where('rosterEntries.brandId', '=', brandId)
    .where((eb) => eb.or([eb('rosterEntries.id', '=', id), eb('rosterEntries.creatorId', '=', id)]))
    .executeTakeFirst();
  if (!row) throw notFound('creator on the roster');
  return withEarned(row);
}

/** Found by the entry's id or its creator's. */
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

/** How many of the plan's places are taken: every entry that is not removed. */
export const countOnRoster = (db: Db, brandId: string): Promise<number> =>
  countOf(db.selectFrom('rosterEntries').where('brandId', '=', brandId).where('status', '<>', 'removed').select(COUNT));

/** Undefined if the creator already has an entry. */
export async function insertEntry(db: Db, row: Insertable<RosterEntriesTable>): Promise<RosterRow | undefined> {
  return await db
    .insertInto('rosterEntries')
    .values(row)
    .onConflict((conflict) => conflict.columns(['brandId', 'creatorId']).doNothing())
    .returningAll()
    .executeTakeFirst();
}

export const updateEntry = (db: Db, { brandId, id }: RosterRow, change: Updateable<RosterEntriesTable>) =>
  updateOwn(db.updateTable('rosterEntries').set(change).returningAll(), brandId, id);
