import { sql } from 'kysely';
import type { ShownChanges } from '../../kit/engines/postgres/window.ts';

/** Creators who got another email or name after that time. */
const selectRenamedIds: ShownChanges = (brandId, after) =>
  sql`select id from creators where brand_id = ${brandId} and renamed_at > ${after}`;

/** Rows of a table that show the email and name of such a creator. `id` is the column with the row's id. */
export const showCreator =
  (table: string, id = 'id'): ShownChanges =>
  (brandId, after) =>
    sql`select one.${sql.ref(id)} from ${sql.table(table)} as one
      where one.brand_id = ${brandId} and one.creator_id in (${selectRenamedIds(brandId, after)})`;

/** Creators who joined or left a group after that time. */
export const selectRegrouped: ShownChanges = (brandId, after) =>
  sql`select creator_id from group_memberships where brand_id = ${brandId} and greatest(since, until) > ${after}`;
