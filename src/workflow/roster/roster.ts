import { type RawBuilder, type Selectable, sql, type Updateable } from 'kysely';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { RosterEntriesTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { updateOwn } from '../../kit/engines/postgres/own.ts';
import type { Work } from '../../kit/operation/work.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import { ApiError, notFound } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { Page } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import {
  type CreatorRow,
  changeCreator,
  createCreator,
  ensureCreator,
  getCreator,
  hasPersonFilter,
  type Identity,
  listMatching,
  lockBrandRoster,
  matchesPerson,
} from '../creators/creators.ts';
import type { ProfileColumns } from '../creators/profiles.ts';
import { selectRegrouped } from '../creators/renamed.ts';
import { followMailAddress } from '../payments/payments.ts';
import { joinDefaultGroup } from './memberships.ts';
import type { RosterAdd, RosterAddByHandle, RosterFilter, RosterPatch } from './roster.shapes.ts';

export type RosterStatus = RosterEntriesTable['status'];

export type RosterRow = Selectable<RosterEntriesTable>;

/** Paid commissions by currency, minus the refunds that payouts deducted. */
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

const isOfEntry = sql`one.brand_id = roster_entries.brand_id and one.creator_id = roster_entries.creator_id`;

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
    .select(sql<number>`coalesce((select minor from ${selectSold(isOfEntry)} as sold), 0)`.as('soldMinor'))
    .select((eb) =>
      eb
        .selectFrom('groupMemberships as member')
        .where('member.brandId', '=', brandId)
        .whereRef('member.creatorId', '=', 'rosterEntries.creatorId')
        .where('member.until', 'is', null)
        .select('member.groupId')
        .as('groupId'),
    )
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

/** Earnings and sales in major units: in the brand's currency, and earnings separately in every other currency. */
export function withEarned<
  Row extends { earned: { currency: string; minor: number }[]; soldMinor: number; brandCurrency: string },
>({ earned, soldMinor, brandCurrency, ...row }: Row) {
  const amounts = earned.map(({ currency, minor }) => ({ currency, total_earned: fromMinor(minor, currency) }));
  return {
    ...row,
    totalEarned: amounts.find(({ currency }) => currency === brandCurrency)?.total_earned ?? 0,
    totalSold: fromMinor(soldMinor, brandCurrency),
    byCurrency: amounts.filter(({ currency, total_earned }) => currency !== brandCurrency && total_earned !== 0),
  };
}

const INCLUDED: Record<'active' | 'paused' | 'removed', RosterStatus[]> = {
  active: ['active', 'hired'],
  paused: ['paused'],
  removed: ['removed'],
};

/** By creator, what `EARNED` has in the brand's currency. */
const selectPaid = (isWanted: RawBuilder<unknown>) => sql<{ creatorId: string; minor: number }>`(
  select part.creator_id, sum(part.minor)::bigint as minor from (
    select one.creator_id, one.commission_minor as minor from commissions as one
    join brands on brands.id = one.brand_id and brands.currency = one.currency
    where one.status = 'paid' and ${isWanted}
    union all
    select one.creator_id, -one.netted_minor from payouts as one
    join brands on brands.id = one.brand_id and brands.currency = one.currency where ${isWanted}
  ) as part group by part.creator_id)`;

/** By creator, the sales of paid orders in the brand's currency, less refunds: what the ledger and figures count. */
const selectSold = (isWanted: RawBuilder<unknown>) => sql<{ creatorId: string; minor: number }>`(
  select one.creator_id, sum(one.amount_minor - one.refunded_minor)::bigint as minor from commissions as one
  join brands on brands.id = one.brand_id and brands.currency = one.currency
  where one.paid_at is not null and ${isWanted} group by one.creator_id)`;

/** By creator, the number of completed campaigns. */
const selectCompleted = (isWanted: RawBuilder<unknown>) => sql<{ creatorId: string; campaigns: number }>`(
  select one.creator_id, count(distinct campaign.id) as campaigns
  from applications as one join campaigns as campaign on campaign.id = one.campaign_id
  where one.status = 'accepted' and campaign.status = 'completed' and ${isWanted} group by one.creator_id)`;

export const roster = listing({
  noun: 'creator on the roster',
  table: 'roster_entries',
  time: 'addedAt',
  changed: ['addedAt', 'updatedAt'],
  shown: [
    (
      brandId,
      after,
    ) => sql`select one.id from roster_entries as one where one.brand_id = ${brandId} and one.creator_id in (
      select id from creators where brand_id = ${brandId} and updated_at > ${after}
      union all ${selectRegrouped(brandId, after)})`,
  ],
  sums: {
    currency: sql`(select brands.currency from brands where brands.id = roster_entries.brand_id)`,
    of: {
      total_earned: sql`(select minor from ${selectPaid(isOfEntry)} as paid)`,
      total_sold: sql`(select minor from ${selectSold(isOfEntry)} as sold)`,
    },
  },
  matching: (db, brandId, { status, group_id: groupId, ...where }: Omit<RosterFilter, keyof Page>) => {
    let entries = db
      .selectFrom('rosterEntries')
      .$if(where.sort === 'followers' || where.sort === 'engagement', (query) =>
        query.innerJoin('creators as creator', (join) =>
          join.onRef('creator.id', '=', 'rosterEntries.creatorId').on('creator.brandId', '=', brandId),
        ),
      )
      .$if(where.sort === 'paid', (query) =>
        query.leftJoin(
          selectPaid(sql`one.brand_id = ${brandId}`).as('paid'),
          'paid.creatorId',
          'rosterEntries.creatorId',
        ),
      )
      .$if(where.sort === 'sold', (query) =>
        query.leftJoin(
          selectSold(sql`one.brand_id = ${brandId}`).as('sold'),
          'sold.creatorId',
          'rosterEntries.creatorId',
        ),
      )
      .$if(where.sort === 'campaigns', (query) =>
        query.leftJoin(
          selectCompleted(sql`one.brand_id = ${brandId}`).as('completed'),
          'completed.creatorId',
          'rosterEntries.creatorId',
        ),
      );
    if (status !== undefined) entries = entries.where('rosterEntries.status', 'in', INCLUDED[status]);
    if (groupId !== undefined) {
      const members = db.selectFrom('groupMemberships as member').where('member.brandId', '=', brandId);
      const present = members.where('groupId', '=', groupId).where('until', 'is', null).select('member.creatorId');
      entries = entries.where('rosterEntries.creatorId', 'in', present);
    }
    if (!hasPersonFilter(where)) return entries;
    const people = db.selectFrom('creators').select('creators.id').where('creators.brandId', '=', brandId);
    return entries.where('rosterEntries.creatorId', 'in', people.where(matchesPerson(where)));
  },
  rows: withCreators,
  ranks: {
    // An index has it in this form.
    followers: {
      at: sql`greatest(coalesce(creator.ig_followers, -1), coalesce(creator.tt_followers, -1))`,
      of: ({ igFollowers, ttFollowers }) => Math.max(igFollowers ?? -1, ttFollowers ?? -1),
    },
    paid: {
      at: sql`coalesce(paid.minor, 0)`,
      ofRow: sql`coalesce((select minor from ${selectPaid(isOfEntry)} as paid), 0)`,
      of: ({ earned, brandCurrency }) => earned.find(({ currency }) => currency === brandCurrency)?.minor ?? 0,
    },
    engagement: {
      at: sql`coalesce(creator.engagement_rate, -1)`,
      of: ({ engagementRate }) => engagementRate ?? -1,
    },
    sold: {
      at: sql`coalesce(sold.minor, 0)`,
      ofRow: sql`coalesce((select minor from ${selectSold(isOfEntry)} as sold), 0)`,
      of: ({ soldMinor }) => soldMinor,
    },
    campaigns: {
      at: sql`coalesce(completed.campaigns, 0)`,
      ofRow: sql`coalesce((select campaigns from ${selectCompleted(isOfEntry)} as completed), 0)`,
      of: ({ campaignsCompleted }) => campaignsCompleted,
    },
  },
});

/** Finds the entry by its id or its creator's. */
export async function getRecord(db: Db, brandId: string, id: string) {
  const row = await withCreators(db, brandId)
    .where('rosterEntries.brandId', '=', brandId)
    .where((eb) => eb.or([eb('rosterEntries.id', '=', id), eb('rosterEntries.creatorId', '=', id)]))
    .executeTakeFirst();
  if (!row) throw notFound('creator on the roster');
  return withEarned(row);
}

/** Finds the entry by its id or its creator's. */
async function getEntry(db: Db, brandId: string, id: string): Promise<RosterRow> {
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

export const updateEntry = (db: Db, { brandId, id }: RosterRow, change: Updateable<RosterEntriesTable>) =>
  updateOwn(db.updateTable('rosterEntries').set(change).returningAll(), brandId, id);

interface NewEntry {
  creatorId: string;
  status: RosterStatus;
  note: string | null;
}

/** Throws CREATOR_LIMIT_REACHED if the roster, including the creator just added, exceeds the plan. */
async function assertWithinLimit({ db, brandId }: Work, limit: number): Promise<void> {
  // Every entry that is not removed uses a place of the plan.
  const count = await countRows(
    db.selectFrom('rosterEntries').where('brandId', '=', brandId).where('status', '<>', 'removed').select(COUNT),
  );
  if (count <= limit) return;
  throw new ApiError(
    'CREATOR_LIMIT_REACHED',
    `The plan allows ${limit} creators on the roster; remove one, or upgrade.`,
    {
      facts: { limit, current: count - 1 },
    },
  );
}

/** Audits a change and emits its event. An added creator must fit the plan. */
async function settle(work: Work, limit: number, old: RosterRow | null, row: RosterRow): Promise<void> {
  work.audit({ resourceId: row.id, old, new: row });
  const wasOnRoster = old !== null && old.status !== 'removed';
  if (wasOnRoster && row.status === 'removed') await announce(work, 'roster.creator_removed', row);
  if (wasOnRoster || row.status === 'removed') return;
  await assertWithinLimit(work, limit);
  await joinDefaultGroup(work, row.creatorId);
  await announce(work, 'roster.creator_added', row);
}

async function announce(work: Work, event: 'roster.creator_added' | 'roster.creator_removed', row: RosterRow) {
  const { email, name } = await getCreator(work.db, work.brandId, row.creatorId);
  const { id, creatorId: creator_id, status, addedAt } = row;
  const person = { creator_email: email, creator_name: name };
  work.emit(event, { id, creator_id, ...person, status, added_at: addedAt.toISOString() });
}

/** Adds a creator to the roster or puts them back; `added` is false if they were there already. */
export async function addEntry(work: Work, limit: number, { creatorId, status, note }: NewEntry) {
  const { db, now, brandId } = work;
  await lockBrandRoster(db, brandId);
  const id = newId('rst', now.getTime());
  // The insert does nothing if the creator already has an entry.
  const newEntry = await db
    .insertInto('rosterEntries')
    .values({ id, brandId, creatorId, status, note, addedAt: now, updatedAt: null })
    .onConflict((conflict) => conflict.columns(['brandId', 'creatorId']).doNothing())
    .returningAll()
    .executeTakeFirst();
  if (newEntry) {
    await settle(work, limit, null, newEntry);
    return { entry: newEntry, added: true };
  }
  const old = await getEntry(db, brandId, creatorId);
  if (old.status !== 'removed') return { entry: old, added: false };
  const back = await updateEntry(db, old, { status, addedAt: now, updatedAt: now, ...(note === null ? {} : { note }) });
  await settle(work, limit, old, back);
  return { entry: back, added: true };
}

/** Notes something about a creator of whom nothing is noted yet; false if there is a note. */
export async function fillNote(work: Work, creatorId: string, note: string): Promise<boolean> {
  const { db, brandId, now } = work;
  const row = await db
    .updateTable('rosterEntries')
    .set({ note, updatedAt: now })
    .where('brandId', '=', brandId)
    .where('creatorId', '=', creatorId)
    .where('status', '<>', 'removed')
    .where('note', 'is', null)
    .returningAll()
    .executeTakeFirst();
  if (row) work.audit({ resourceId: row.id, old: { ...row, note: null }, new: row });
  return row !== undefined;
}

/**
 * Adds an accepted creator to the roster in the caller's transaction. Above the plan's `limit` it throws
 * CREATOR_LIMIT_REACHED, and the transaction must not continue.
 */
export async function putOnRoster(
  work: Work,
  limit: number,
  creatorId: string,
): Promise<{ entryId: string; added: boolean }> {
  const { entry, added: isNew } = await addEntry(work, limit, { creatorId, status: 'active', note: null });
  return { entryId: entry.id, added: isNew };
}

async function addNew(work: Work, limit: number, input: NewEntry): Promise<RosterRow> {
  const { entry, added: isNew } = await addEntry(work, limit, input);
  if (isNew) return entry;
  throw new ApiError('ALREADY_ON_ROSTER', 'This creator is already on the roster.', {
    facts: { existing_id: entry.id },
  });
}

export async function addByEmail(work: Work, limit: number, input: RosterAdd): Promise<RosterRow> {
  const person = { email: input.creator_email, name: input.name ?? null, igHandle: null, ttHandle: null };
  const creatorId = await ensureCreator(work, person);
  return await addNew(work, limit, { creatorId, status: 'active', note: input.note ?? null });
}

/** Another creator of the brand has the value. An applicant has no roster entry, so the creator id is given. */
async function conflict({ db, brandId }: Work, creatorId: string, message: string): Promise<ApiError> {
  const entry = await findEntry(db, brandId, creatorId);
  return new ApiError('CONFLICT', message, { facts: { existing_id: entry?.id ?? creatorId } });
}

const same = (a: string | null, b: string | null) => a?.toLowerCase() === b?.toLowerCase();

/** The one creator with these handles and this address; missing values are filled in. Two creators are a CONFLICT. */
async function joinIdentity(work: Work, identity: Identity, columns: Partial<CreatorRow>): Promise<CreatorRow> {
  const matching = await listMatching(work.db, work.brandId, identity);
  const match = matching.find(({ igHandle }) => same(igHandle, identity.igHandle)) ?? matching[0];
  if (!match) throw new Error('The creator that blocked the insert was not found.');
  const { email, igHandle, ttHandle } = identity;
  const fits = (a: string | null, b: string | null) => a === null || b === null || same(a, b);
  const isOne = fits(email, match.email) && fits(igHandle, match.igHandle) && fits(ttHandle, match.ttHandle);
  if (matching.length > 1 || !isOne) {
    const what = email === null ? 'The handles' : 'The handles and the email address';
    throw await conflict(work, match.id, `${what} belong to different creators of the brand.`);
  }
  const joinedCreator = await changeCreator(work, match, {
    ...columns,
    ...(match.email === null && email !== null ? { email } : {}),
    ...(match.igHandle === null && igHandle !== null ? { igHandle } : {}),
    ...(match.ttHandle === null && ttHandle !== null ? { ttHandle } : {}),
  });
  if (!joinedCreator) throw new Error('What nobody else had is taken.');
  return joinedCreator;
}

export async function addByHandle(
  work: Work,
  limit: number,
  input: RosterAddByHandle,
  profile: ProfileColumns,
): Promise<{ entry: RosterRow; creator: CreatorRow }> {
  const { ig_handle: igHandle = null, tt_handle: ttHandle = null, creator_email: email = null } = input;
  const identity = { email, igHandle, ttHandle };
  const { name = null, ...seen } = profile;
  const newCreator = await createCreator(work, {
    ...seen,
    ...identity,
    name: input.name ?? name,
    tags: input.tags ?? [],
  });
  const ownValues = omitUndefined({ name: input.name ?? undefined, tags: input.tags ?? undefined });
  const creator = newCreator ?? (await joinIdentity(work, identity, { ...seen, ...ownValues }));
  const entry = await addNew(work, limit, { creatorId: creator.id, status: 'hired', note: null });
  return { entry, creator };
}

export async function patchEntry(work: Work, limit: number, id: string, patch: RosterPatch): Promise<void> {
  const { db, now, brandId } = work;
  await lockBrandRoster(db, brandId);
  const old = await getEntry(db, brandId, id);
  const { status, note, name, tags, creator_email: email } = patch;
  const change = omitUndefined({ name, tags: tags === null ? [] : tags, email });
  if (Object.keys(change).length > 0) {
    const creator = await getCreator(db, brandId, old.creatorId);
    if (!(await changeCreator(work, creator, change))) {
      const identity = { email: email ?? null, igHandle: null, ttHandle: null };
      const [other] = await listMatching(db, brandId, identity);
      throw await conflict(work, other?.id ?? '', 'Another creator of the brand has this email address.');
    }
    if (email !== undefined && creator.email !== null) {
      await followMailAddress(work, creator.id, { old: creator.email, next: email });
    }
  }
  await settle(work, limit, old, await updateEntry(db, old, { ...omitUndefined({ status, note }), updatedAt: now }));
}

/** Takes a creator off the roster; their record and history stay. */
export async function removeEntry(work: Work, id: string): Promise<RosterRow> {
  const { db, now, brandId } = work;
  await lockBrandRoster(db, brandId);
  const old = await getEntry(db, brandId, id);
  if (old.status === 'removed') return old;
  const removedEntry = await updateEntry(db, old, { status: 'removed', updatedAt: now });
  work.audit({ resourceId: removedEntry.id, old, new: removedEntry });
  await announce(work, 'roster.creator_removed', removedEntry);
  return removedEntry;
}
