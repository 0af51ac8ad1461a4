import { sql } from 'kysely';
import type { CreatorGroupsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { violates } from '../../kit/engines/postgres/violation.ts';
import { table } from '../../kit/operation/table.ts';
import type { Work } from '../../kit/operation/work.ts';
import { ApiError, notFound } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { toWire } from '../../kit/values/wire.ts';
import { lockBrandRoster } from '../../workflow/creators/creators.ts';
import { listBudgets } from '../../workflow/terms/budgets.ts';
import { changeWithNews } from '../../workflow/terms/news.ts';
import { endVersions, parseTerms, setTerms } from '../../workflow/terms/versions.ts';
import { summarizeTerms } from '../terms/summary.ts';
import type { GroupCreate, GroupPatch } from './groups.shapes.ts';

export const groups = listing({
  noun: 'group',
  table: 'creator_groups',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  // The number of its creators.
  shown: [
    (brandId, after) =>
      sql`select group_id from group_memberships where brand_id = ${brandId} and greatest(since, until) > ${after}`,
  ],
  matching: (db) => db.selectFrom('creatorGroups').where('deletedAt', 'is', null),
  rows: (db, brandId) =>
    db
      .selectFrom('creatorGroups')
      .leftJoin('terms', 'terms.id', 'creatorGroups.termsId')
      .selectAll('creatorGroups')
      .select('terms.terms')
      .select((eb) =>
        eb
          .selectFrom('groupMemberships as member')
          .where('member.brandId', '=', brandId)
          .whereRef('member.groupId', '=', 'creatorGroups.id')
          .where('member.until', 'is', null)
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .$asScalar()
          .$notNull()
          .as('creators'),
      )
      .where('creatorGroups.deletedAt', 'is', null),
});

type ListedGroup = Awaited<ReturnType<typeof groups.get>>;

/** The groups as the brand sees them, with what is used of their budgets. */
export async function showGroups(db: Db, brandId: string, now: Date, rows: readonly ListedGroup[]) {
  const groups = rows.map((row) => ({
    row,
    place: 'group' as const,
    placeId: row.id,
    terms: row.terms === null ? null : parseTerms(row.terms),
  }));
  const budgets = await listBudgets(db, brandId, now, groups);
  return groups.map(({ row, terms }) => ({
    ...toWire(row),
    terms,
    terms_summary: terms && summarizeTerms(terms),
    default: row.isDefault,
    budget: budgets.get(row.id) ?? [],
  }));
}

export async function getGroup(db: Db, brandId: string, now: Date, id: string) {
  const [group] = await showGroups(db, brandId, now, [await groups.get(db, brandId, id)]);
  if (!group) throw notFound('group');
  return group;
}

const groupRows = table<CreatorGroupsTable>('creator_groups', 'group');

/** Locks a group that was not deleted. The roster is locked before, as whoever moves members does. */
export async function lockGroup(work: Work, id: string) {
  const row = await groupRows.lock(work, id);
  if (row.deletedAt !== null) throw notFound('group');
  return row;
}

/** Another group is the default no longer. */
async function endDefault(work: Work, id: string): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from creator_groups where brand_id = ${work.brandId} and is_default and deleted_at is null and id <> ${id}`.execute(
    work.db,
  );
  for (const other of rows) {
    await groupRows.update(work, await groupRows.lock(work, other.id), { isDefault: false, updatedAt: work.now });
  }
}

/** Runs a write whose name may be taken; then it throws CONFLICT, and the transaction must not go on. */
async function refuseTakenName<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!violates(error, 'creator_groups_name')) throw error;
    throw new ApiError('CONFLICT', 'Another group has this name.', {
      cause: error,
      details: [{ field: 'name', code: 'taken', message: 'is the name of another group.' }],
    });
  }
}

export async function createGroup(work: Work, input: GroupCreate): Promise<string> {
  const { db, now, brandId } = work;
  await lockBrandRoster(db, brandId);
  const id = newId('grp', now.getTime());
  if (input.default) await endDefault(work, id);
  const termsId = await setTerms(work, { place: 'group', placeId: id }, input.terms ?? null);
  await refuseTakenName(() =>
    groupRows.insert(work, {
      id,
      name: input.name,
      isDefault: input.default,
      holdDays: input.hold_days ?? null,
      attributionDays: input.attribution_days ?? null,
      termsId,
      createdAt: now,
      updatedAt: null,
      deletedAt: null,
    }),
  );
  return id;
}

export async function patchGroup(work: Work, id: string, patch: GroupPatch): Promise<void> {
  const { db, now, brandId } = work;
  await lockBrandRoster(db, brandId);
  const old = await lockGroup(work, id);
  if (patch.default) await endDefault(work, id);
  const { name, terms, default: isDefault, hold_days: holdDays, attribution_days: attributionDays, notify } = patch;
  await changeWithNews(work, { place: 'group', placeId: id, isTold: notify ?? false }, async () => {
    const termsId = terms === undefined ? undefined : await setTerms(work, { place: 'group', placeId: id }, terms);
    const change = omitUndefined({ name, isDefault, holdDays, attributionDays, termsId });
    await refuseTakenName(() => groupRows.update(work, old, { ...change, updatedAt: now }));
  });
}

/** Deletes a group that nobody is in. Its versions stay, because orders were decided by them. */
export async function deleteGroup(work: Work, id: string): Promise<void> {
  const { db, now, brandId } = work;
  await lockBrandRoster(db, brandId);
  const old = await lockGroup(work, id);
  const { creators } = await groups.get(db, brandId, id);
  if (creators > 0) {
    throw new ApiError('CONFLICT', `The group has ${creators} creators; take them out or move them first.`, {
      facts: { creators },
    });
  }
  await endVersions(work, 'group', [id]);
  await groupRows.update(work, old, { isDefault: false, deletedAt: now, updatedAt: now });
}
