import { type Selectable, sql } from 'kysely';
import { isFound } from '../../kit/engines/postgres/count.ts';
import type { GroupMembershipsTable } from '../../kit/engines/postgres/database.ts';
import type { Work } from '../../kit/operation/work.ts';
import { newId } from '../../kit/values/ids.ts';

type MembershipRow = Selectable<GroupMembershipsTable>;

/** Puts creators into a group, who are in no other now. The roster is locked. */
export async function insertMemberships(work: Work, groupId: string, creatorIds: readonly string[]): Promise<void> {
  if (creatorIds.length === 0) return;
  const { db, now, brandId } = work;
  const rows = creatorIds.map((creatorId) => {
    const id = newId('mbr', now.getTime());
    return { id, brandId, groupId, creatorId, since: now, until: null };
  });
  await db.insertInto('groupMemberships').values(rows).execute();
  for (const row of rows) work.audit({ resourceId: row.id, old: null, new: row, generated: ['id'] });
}

export const isInGroup = async ({ db, brandId }: Work, { id: creatorId }: { id: string }): Promise<boolean> =>
  await isFound(
    db
      .selectFrom('groupMemberships')
      .select('id')
      .where('brandId', '=', brandId)
      .where('creatorId', '=', creatorId)
      .where('until', 'is', null),
  );

/** Puts a creator who joins the roster into the default group, unless they are in a group. The roster is locked. */
export async function joinDefaultGroup(work: Work, creatorId: string): Promise<void> {
  if (await isInGroup(work, { id: creatorId })) return;
  const group = await work.db
    .selectFrom('creatorGroups')
    .select('id')
    .where('brandId', '=', work.brandId)
    .where('isDefault', '=', true)
    .where('deletedAt', 'is', null)
    .executeTakeFirst();
  if (group) await insertMemberships(work, group.id, [creatorId]);
}

/** Ends the present memberships of creators, whichever group they are in. The roster is locked. */
export async function endMemberships(work: Work, creatorIds: readonly string[]): Promise<void> {
  const { db, now, brandId } = work;
  const { rows } = await sql<MembershipRow>`
    update group_memberships set until = ${now}
    where brand_id = ${brandId} and creator_id = any(${[...creatorIds]}::text[]) and until is null returning *`.execute(
    db,
  );
  for (const row of rows) work.audit({ resourceId: row.id, old: { ...row, until: null }, new: row });
}
