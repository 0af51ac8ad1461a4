import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { ListedImport } from './imports.ts';

/** More rows that stay are not counted. */
const MOST = 10_000;

/** Tables whose rows keep a creator on the roster. */
const USES = ['commissions', 'payouts', 'past_commissions', 'applications', 'contracts', 'deliverables'] as const;

/** True of an order that only its import made. */
export const isOrderUntouched = sql<boolean>`orders.updated_at is null and orders.attribution ->> 'reason' = 'history'
  and not exists (select from commissions where commissions.order_id = orders.id)`;

/** True of a roster entry whose creator nothing but the import refers to. One that came back was changed by that alone. */
export const isEntryUntouched = sql<boolean>`entry.status <> 'removed' and coalesce(entry.updated_at, entry.added_at) = entry.added_at and ${sql.join(
  USES.map(
    (table) => sql`not exists (select from ${sql.table(table)} as used where used.creator_id = entry.creator_id)`,
  ),
  sql` and `,
)}`;

/**
 * By the kind of an import. Without `offset 0`, and before the statistics know of a first import, each of its rows would be
 * compared with all rows of the brand.
 */
const STAYING: Readonly<Partial<Record<ListedImport['of'], RawBuilder<boolean>>>> = {
  orders: sql`written.noun = 'order' and exists (select from orders
    where orders.brand_id = written.brand_id and orders.id = written.row_id and not (${isOrderUntouched}) offset 0)`,
  roster: sql`written.noun = 'roster_entry' and exists (select from roster_entries as entry
    where entry.brand_id = written.brand_id and entry.id = written.row_id and entry.status <> 'removed'
      and not (${isEntryUntouched}) offset 0)`,
};

/** Counts rows of an import that an undo would leave; null where only the undo itself finds them. */
export async function countStaying(db: Db, { of, id, brandId }: ListedImport): Promise<number | null> {
  if (of === 'commissions') return 0;
  const staying = STAYING[of];
  if (!staying) return null;
  const { rows } = await sql<{ staying: number }>`
    select count(*)::int as staying from (select from import_writes as written
      where written.brand_id = ${brandId} and written.import_id = ${id} and ${staying} limit ${MOST}) as listed`.execute(
    db,
  );
  return rows[0]?.staying ?? null;
}
