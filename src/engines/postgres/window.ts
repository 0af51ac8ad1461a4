import { sql } from 'kysely';

/** The window as a condition on the row's creation time. */
export function inWindow(
  column: string,
  { created_after, created_before }: { created_after?: Date | undefined; created_before?: Date | undefined },
) {
  const time = sql.ref<Date>(column);
  return sql<boolean>`(${created_after ?? null}::timestamptz is null or ${time} > ${created_after ?? null})
    and (${created_before ?? null}::timestamptz is null or ${time} <= ${created_before ?? null})`;
}

/** What stands after a row in a list ordered by time, then id: in either direction. */
export function isAfter(
  time: string,
  id: string,
  row: { at: Date; id: string } | undefined,
  sort: 'newest' | 'oldest',
) {
  if (!row) return sql<boolean>`true`;
  const operator = sort === 'oldest' ? sql`>` : sql`<`;
  return sql<boolean>`(${sql.ref(time)}, ${sql.ref(id)}) ${operator} (${row.at}, ${row.id})`;
}
