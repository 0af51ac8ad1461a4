import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { isUniqueViolation } from '../../kit/engines/postgres/violation.ts';
import type { Work } from '../../kit/operation/work.ts';
import { ApiError, notFound, validationError } from '../../kit/values/errors.ts';
import { MAX_TAGS } from '../creators/creators.shapes.ts';
import { type CreatorRow, changeCreator, lockBrandRoster } from '../creators/creators.ts';
import { settleMergedProfile } from '../payments/payments.ts';
import { endMemberships, isInGroup } from './memberships.ts';
import { MAX_NOTE } from './roster.shapes.ts';
import { findEntry, type RosterRow, updateEntry } from './roster.ts';

/** A creator of the brand by their own id or their entry's, locked until the transaction ends. */
async function lockPerson(db: Db, brandId: string, id: string): Promise<CreatorRow | undefined> {
  const byEntry = db
    .selectFrom('rosterEntries')
    .select('creatorId')
    .where('brandId', '=', brandId)
    .where('id', '=', id);
  return await db
    .selectFrom('creators')
    .selectAll()
    .where('brandId', '=', brandId)
    .where((eb) => eb.or([eb('id', '=', id), eb('id', 'in', byEntry)]))
    .forUpdate()
    .executeTakeFirst();
}

/** Every column with a foreign key to creators, read from the database catalogue. */
async function listReferences(db: Db): Promise<{ table: string; column: string }[]> {
  const { rows } = await sql<{ table: string; column: string }>`
    select referring.relname as "table", own.attname as "column"
    from pg_constraint as reference
    join pg_class as referring on referring.oid = reference.conrelid
    cross join lateral unnest(reference.conkey, reference.confkey) as pair (own_key, creator_key)
    join pg_attribute as own on own.attrelid = reference.conrelid and own.attnum = pair.own_key
    join pg_attribute as its on its.attrelid = reference.confrelid and its.attnum = pair.creator_key
    where reference.contype = 'f' and reference.confrelid = 'creators'::regclass and its.attname = 'id'
      and referring.relname <> 'roster_entries'
    order by 1, 2`.execute(db);
  return rows;
}

interface MergePair {
  source: CreatorRow;
  target: CreatorRow;
}

const invalidInto = (code: string, message: string) => validationError([{ field: 'into', code, message }]);

async function lockPair({ db, brandId }: Work, id: string, into: string): Promise<MergePair> {
  const source = await lockPerson(db, brandId, id);
  if (!source) throw notFound('creator on the roster');
  const target = await lockPerson(db, brandId, into);
  if (!target) throw invalidInto('not_found', 'is not a creator of this brand.');
  if (target.id === source.id) throw invalidInto('same', 'is the same creator.');
  return { source, target };
}

/** Orders and payouts are in the ledger under their creator's id, and the ledger is never rewritten. */
async function assertNoMoney({ db, brandId }: Work, { id }: CreatorRow): Promise<void> {
  const { rows } = await sql<{ orders: number; payouts: number; entries: number }>`
    select
      (select count(*) from commissions where brand_id = ${brandId} and creator_id = ${id}) as orders,
      (select count(*) from payouts where brand_id = ${brandId} and creator_id = ${id}) as payouts,
      (select count(*) from ledger_entries where brand_id = ${brandId} and creator_id = ${id}) as entries`.execute(db);
  const [{ orders, payouts, entries } = { orders: 0, payouts: 0, entries: 0 }] = rows;
  if (orders + payouts + entries === 0) return;
  throw new ApiError(
    'CONFLICT',
    `The entry to be merged has ${orders} orders and ${payouts} payouts, which cannot move; merge in the other direction.`,
    { facts: { orders, payouts } },
  );
}

/** Leaves one entry: that of the target creator, on the roster if either was. */
async function joinEntries(work: Work, { source, target }: MergePair): Promise<RosterRow | undefined> {
  const { db, now, brandId } = work;
  const [going, staying] = [await findEntry(db, brandId, source.id), await findEntry(db, brandId, target.id)];
  if (!going) return staying;
  if (!staying) return await updateEntry(db, going, { creatorId: target.id, updatedAt: now });
  await db.deleteFrom('rosterEntries').where('brandId', '=', brandId).where('id', '=', going.id).execute();
  work.audit({ resourceId: going.id, old: going, new: null });
  const status = staying.status === 'removed' ? going.status : staying.status;
  const notes = new Set([staying.note, going.note].filter((text) => text !== null));
  const note = notes.size === 0 ? null : [...notes].join('\n\n').slice(0, MAX_NOTE);
  const row = await updateEntry(db, staying, { status, note, updatedAt: now });
  work.audit({ resourceId: row.id, old: staying, new: row });
  return row;
}

/** Keeps the addresses of the one who goes as earlier ones of the one who stays. */
async function keepAddresses({ db, brandId }: Work, { source, target }: MergePair): Promise<void> {
  await sql`
    insert into creator_addresses (brand_id, creator_id, email)
    select ${brandId}, ${target.id}, email from (
      select email from creators where brand_id = ${brandId} and id = ${source.id}
      union select wallet_email from payment_profiles where brand_id = ${brandId} and creator_id = ${source.id}) as known
    where email is not null and email is distinct from ${target.email ?? source.email}`.execute(db);
}

/** Moves every row that refers to the source to the target. */
async function moveRecords({ db, brandId }: Work, { source, target }: MergePair): Promise<void> {
  try {
    for (const { table, column } of await listReferences(db)) {
      await sql`
        update ${sql.table(table)} set ${sql.ref(column)} = ${target.id}
        where brand_id = ${brandId} and ${sql.ref(column)} = ${source.id}`.execute(db);
    }
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new ApiError(
      'CONFLICT',
      'Both have a record that a creator can have only once, so they can no longer be merged.',
      {
        cause: error,
      },
    );
  }
}

/** Merges the entries of one person into `into`, the id of the entry to keep. */
export async function mergeCreators(work: Work, id: string, into: string): Promise<string> {
  const { db, now, brandId } = work;
  await lockBrandRoster(db, brandId);
  const pair = await lockPair(work, id, into);
  const { source, target } = pair;
  await assertNoMoney(work, source);
  const entry = await joinEntries(work, pair);
  await keepAddresses(work, pair);
  await settleMergedProfile(work, source.id, target);
  // The one who stays keeps their group.
  if (await isInGroup(work, target)) await endMemberships(work, [source.id]);
  await moveRecords(work, pair);
  await db.deleteFrom('creators').where('brandId', '=', brandId).where('id', '=', source.id).execute();
  // The record tells who owns the source's clicks now.
  await db
    .insertInto('creatorMerges')
    .values({ brandId, goneId: source.id, creatorId: target.id, mergedAt: now })
    .execute();
  work.audit({ resourceId: source.id, old: source, new: null });
  // The target gets the values that it lacks. If both have a handle or an address, the target's wins.
  await changeCreator(work, target, {
    email: target.email ?? source.email,
    name: target.name ?? source.name,
    igHandle: target.igHandle ?? source.igHandle,
    ttHandle: target.ttHandle ?? source.ttHandle,
    pfpUrl: target.pfpUrl ?? source.pfpUrl,
    igFollowers: target.igFollowers ?? source.igFollowers,
    ttFollowers: target.ttFollowers ?? source.ttFollowers,
    engagementRate: target.engagementRate ?? source.engagementRate,
    tags: [...new Set([...target.tags, ...source.tags])].slice(0, MAX_TAGS),
    profiledAt: target.profiledAt ?? source.profiledAt,
    // Rows of the source show another email and name from now on.
    renamedAt: now,
  });
  return entry?.id ?? target.id;
}
