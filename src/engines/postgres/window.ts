import { type SelectQueryBuilder, sql } from 'kysely';

type Sort = 'newest' | 'oldest';

/** A condition that the row's creation time is within the window. */
export function inWindow(
  column: string,
  { created_after, created_before }: { created_after?: Date | undefined; created_before?: Date | undefined },
) {
  const time = sql.ref<Date>(column);
  return sql<boolean>`(${created_after ?? null}::timestamptz is null or ${time} > ${created_after ?? null})
    and (${created_before ?? null}::timestamptz is null or ${time} <= ${created_before ?? null})`;
}

/** A condition for the rows after a given one in a list ordered by time, then id, in either direction. */
function isAfter(time: string, id: string, row: { at: Date; id: string } | undefined, sort: Sort) {
  if (!row) return sql<boolean>`true`;
  const operator = sort === 'oldest' ? sql`>` : sql`<`;
  return sql<boolean>`(${sql.ref(time)}, ${sql.ref(id)}) ${operator} (${row.at}, ${row.id})`;
}

/** The part of a list to read: a page, or the rows after a given one. */
export interface Cut {
  offset?: number;
  limit: number;
  after?: { at: Date; id: string } | undefined;
}

/** The order of a list: by time, then id. */
export interface Order {
  time: string;
  id: string;
  sort: Sort;
}

export function inOrder<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  { time, id, sort }: Order,
): SelectQueryBuilder<DB, TB, O> {
  const direction = sort === 'oldest' ? 'asc' : 'desc';
  return query.orderBy(sql.ref(time), direction).orderBy(sql.ref(id), direction);
}

/** Orders the rows and limits them to the part that is wanted. */
export function cutTo<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  order: Order,
  { offset = 0, limit, after }: Cut,
): SelectQueryBuilder<DB, TB, O> {
  return inOrder(query.where(isAfter(order.time, order.id, after, order.sort)), order)
    .offset(offset)
    .limit(limit);
}
