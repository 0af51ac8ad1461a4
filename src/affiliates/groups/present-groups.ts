import { sql } from 'kysely';

const ANYBODY = sql<boolean>`true`;

/** The creator in a column is in the group now; anybody without a group. */
export const matchesGroup = (column: string, brandId: string, groupId: string | undefined) =>
  groupId === undefined
    ? ANYBODY
    : sql<boolean>`${sql.ref(column)} in (select member.creator_id from group_memberships as member
        where member.brand_id = ${brandId} and member.group_id = ${groupId} and member.until is null)`;

/** The group that the creator in a column is in now. */
export const selectGroupId = (column: string) => sql<string | null>`(
  select member.group_id from group_memberships as member
  where member.creator_id = ${sql.ref(column)} and member.until is null)`;
