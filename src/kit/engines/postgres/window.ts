import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';

interface WindowQuery {
  created_after?: Date | undefined;
  created_before?: Date | undefined;
  updated_after?: Date | undefined;
}

/** Selects the ids of rows that show something of other rows, such as a creator's name, which changed after a time. */
export type ShownChanges = (brandId: string, after: Date) => RawBuilder<unknown>;

/** The columns that a window looks at. */
export interface Times {
  table: string;
  /** The column that lists are ordered by. */
  time: string;
  /** Columns with the times of creation and change: the latest counts. */
  changed: readonly string[];
  shown?: readonly ShownChanges[] | undefined;
}

/** The latest of these times, as the indexes of large lists have it. */
function selectLatest(columns: readonly string[]) {
  const [first = '', ...more] = columns;
  return more.length === 0
    ? sql.ref<Date>(first)
    : sql<Date>`greatest(${sql.join(columns.map((name) => sql.ref(name)))})`;
}

/** The ids are a union, because the index of the row's own times serves no condition with an alternative. */
function isChanged({ table, changed, shown = [] }: Times, brandId: string, after: Date) {
  const isOwn = sql<boolean>`${selectLatest(changed)} > ${after}`;
  if (shown.length === 0) return isOwn;
  const others = shown.map((select) => sql`union all ${select(brandId, after)}`);
  return sql<boolean>`${sql.ref(`${table}.id`)} in (select ${sql.ref(`${table}.id`)} from ${sql.table(table)}
    where ${sql.ref(`${table}.brandId`)} = ${brandId} and ${isOwn} ${sql.join(others, sql` `)})`;
}

/** A condition that the row was created, and changed, within the window. */
export function inWindow(times: Times, brandId: string, { created_after, created_before, updated_after }: WindowQuery) {
  const at = sql.ref<Date>(times.time);
  return sql<boolean>`(${created_after ?? null}::timestamptz is null or ${at} > ${created_after ?? null})
    and (${created_before ?? null}::timestamptz is null or ${at} <= ${created_before ?? null})
    and ${updated_after === undefined ? sql`true` : isChanged(times, brandId, updated_after)}`;
}

/** The part of a list to read: a page, or the rows after a given one. */
export interface Cut {
  offset?: number;
  limit: number;
  after?: Last | undefined;
}

/** A row's place in its list: its time, or the figure that the list is ordered by. */
export type Place = Date | number | string;

interface Last {
  at: Place;
  id: string;
}

/** A figure that a list can be ordered by, in SQL; the largest come first unless it ascends. It is never null. */
export interface Rank {
  at: RawBuilder<unknown>;
  isAscending?: boolean;
}

/** The order of a list: by time, then id; or by a rank, then id. */
export interface Order {
  time: string;
  rank?: Rank | undefined;
  id: string;
  sort: string;
}

const rankRows = ({ time, rank }: Order): RawBuilder<unknown> => rank?.at ?? sql.ref(time);

const isAscending = ({ rank, sort }: Order) => (rank ? rank.isAscending === true : sort === 'oldest');

/** A condition for the rows after a given one. */
function isAfter(order: Order, row: Last | undefined) {
  if (!row) return sql<boolean>`true`;
  const operator = isAscending(order) ? sql`>` : sql`<`;
  return sql<boolean>`(${rankRows(order)}, ${sql.ref(order.id)}) ${operator} (${row.at}, ${row.id})`;
}

export function inOrder<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  order: Order,
): SelectQueryBuilder<DB, TB, O> {
  const direction = isAscending(order) ? 'asc' : 'desc';
  return query.orderBy(rankRows(order), direction).orderBy(sql.ref(order.id), direction);
}

/** Orders the rows and limits them to the part that is wanted. */
export function cutTo<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  order: Order,
  { offset = 0, limit, after }: Cut,
): SelectQueryBuilder<DB, TB, O> {
  return inOrder(query.where(isAfter(order, after)), order)
    .offset(offset)
    .limit(limit);
}
