import { type RawBuilder, type SelectQueryBuilder, type Simplify, sql } from 'kysely';
import { notFound } from '../../values/errors.ts';
import { isTimeSort, type ListWindow, type Page } from '../../values/page.ts';
import { inBatches } from './batches.ts';
import { COUNT, countRows } from './count.ts';
import type { Db, Exports } from './open.ts';
import { lockOwn } from './own.ts';
import { readRowCount } from './row-counts.ts';
import { openSlowCounts } from './slow-counts.ts';
import { type Cut, cutTo, inOrder, inWindow, type Order, type Place, type Rank, type ShownChanges } from './window.ts';

/** A figure for `sort=`, in SQL and of a row. */
interface RowRank<Row, Where> extends Rank {
  of: (row: Row) => Place;
  /** The same of a complete row, if `at` refers to what only `matching` joins. */
  ofRow?: RawBuilder<unknown>;
  /** If no index has all rows in order: parts of those that may match, of which all rows of one come before those of the next. */
  parts?: (where: Where) => readonly Part[];
}

/** Rows that an index has in order by `at` and `id`, which equal the rank and the id of the row. */
interface Part {
  isIn: RawBuilder<boolean>;
  at: RawBuilder<unknown>;
  id: string;
}

/** The sums of a list's rows in one currency, in minor units. */
export interface CurrencySums<Sum extends string> {
  currency: string;
  count: number;
  sums: Record<Sum, number>;
}

/** A noun's declaration of its rows, so that they can be counted, paged, summed, exported and found. */
interface Listed<
  Time extends string,
  Sum extends string,
  Where,
  FoundDb,
  Found extends keyof FoundDb,
  RowDb,
  Tables extends keyof RowDb,
  Row,
> {
  /** The noun in the message of a 404. */
  noun: string;
  /** The table's SQL name. It has the columns `brand_id` and `id`. */
  table: string;
  /** The column that lists are ordered by; the id breaks ties. */
  time: Time;
  /** The columns that say when a row was created and last changed, for `updated_after`. */
  changed: readonly string[];
  /** Changes of other rows that these rows show, for the same. */
  shown?: readonly ShownChanges[];
  /** True if the table has the triggers of `row_counts`, because a brand may have millions of its rows. */
  isCounted?: boolean;
  /** What `totals=true` sums: amounts in minor units of each row's currency, or numbers of things. Null counts as 0. */
  sums?: { currency: RawBuilder<string>; of: Record<Sum, RawBuilder<unknown>> };
  /** The rows that match the noun's filter. The brand, the window and the order are added to it. */
  matching: (db: Db, brandId: string, where: Where) => SelectQueryBuilder<FoundDb, Found, object>;
  /** Complete rows for display. The brand is added to the query. */
  rows: (db: Db, brandId: string) => SelectQueryBuilder<RowDb, Tables, Row>;
  /** The figures of `sort=`, by their names. */
  ranks?: Record<string, RowRank<Simplify<Row>, Where>>;
}

/** From this number of rows of a brand on, a filtered count that was slow is remembered. */
const MANY = 100_000;

/** Names in a selection that choose a page or set the clock instead of narrowing the list. */
const NO_FILTERS: ReadonlySet<string> = new Set([
  ...['page', 'limit', 'offset', 'sort', 'totals', 'time_zone', 'timeZone', 'now'],
]);

/** The filters of a selection that have a value, by name. */
const listFilters = (where: object): [string, unknown][] =>
  Object.entries(where).filter(([name, value]) => value !== undefined && !NO_FILTERS.has(name));

/**
 * The queries that every noun with a list needs. A page's ids are found in the index, and only those rows are read in
 * full: with 100,000 applications, page 1 took 0.7 ms and page 1,000 2.7 ms; skipping full rows took 14.6 ms. The ids
 * are an array, so that each is looked up by key: for a set of 1,000 ids PostgreSQL read all 100,000 payouts, in 133 ms
 * instead of 5.
 */
export function listing<
  Time extends string,
  Where extends ListWindow<string>,
  FoundDb,
  Found extends keyof FoundDb,
  RowDb,
  Tables extends keyof RowDb,
  Row extends { id: string } & { [name in Time]: Date },
  Sum extends string = never,
>({
  noun,
  table,
  time,
  changed,
  shown,
  isCounted = false,
  sums,
  matching,
  rows,
  ranks,
}: Listed<Time, Sum, Where, FoundDb, Found, RowDb, Tables, Row>) {
  const column = (name: string) => sql.ref<string>(`${table}.${name}`);
  const ofBrand = (brandId: string) => sql<boolean>`${column('brandId')} = ${brandId}`;
  const times = { table, time: `${table}.${time}`, changed: changed.map((name) => `${table}.${name}`), shown };
  const selectMatching = (db: Db, brandId: string, where: Where) =>
    matching(db, brandId, where)
      .where(ofBrand(brandId))
      .where(inWindow(times, brandId, where));

  function rankBy({ sort }: ListWindow<string>): RowRank<Simplify<Row>, Where> | undefined {
    const rank = ranks?.[sort];
    if (rank === undefined && !isTimeSort(sort)) throw new Error(`A list of ${noun} has no rank ${sort}.`);
    return rank;
  }

  const countFound = (db: Db, found: ReturnType<typeof selectMatching>): Promise<number> =>
    countRows(db.selectFrom(found.select(column('id').as('id')).as('found')).select(COUNT));

  /** The ids of a page. A part is only read if those before it do not fill the page. */
  async function listIdsByPart(
    db: Db,
    brandId: string,
    where: Where,
    { offset = 0, limit, after }: Cut,
    { order, parts }: { order: Order; parts: readonly Part[] },
  ): Promise<string[]> {
    const ids: string[] = [];
    let skipped = offset;
    for (const { isIn, at, id } of parts) {
      const part = selectMatching(db, brandId, where).where(isIn);
      const partCut = { offset: skipped, limit: limit - ids.length, after };
      const page = cutTo(part.select(column('id').as('id')), { ...order, rank: { at }, id }, partCut);
      const { rows: found } = await sql<{ id: string }>`${page}`.execute(db);
      ids.push(...found.map((row) => row.id));
      if (ids.length === limit) break;
      if (found.length > 0) skipped = 0;
      else if (skipped > 0) skipped -= await countFound(db, part);
    }
    return ids;
  }

  async function select(db: Db, brandId: string, where: Where, cut: Cut): Promise<Simplify<Row>[]> {
    const rank = rankBy(where);
    const order: Order = { time: `${table}.${time}`, rank, id: `${table}.id`, sort: where.sort };
    const ids = rank?.parts
      ? sql`${await listIdsByPart(db, brandId, where, cut, { order, parts: rank.parts(where) })}::text[]`
      : sql`array${cutTo(selectMatching(db, brandId, where).select(column('id').as('id')), order, cut)}`;
    const whole = rows(db, brandId)
      .where(ofBrand(brandId))
      .where(sql<boolean>`${column('id')} = any(${ids})`);
    return await inOrder(whole, rank?.ofRow ? { ...order, rank: { ...rank, at: rank.ofRow } } : order).execute();
  }

  async function find(db: Db, brandId: string, id: string): Promise<Simplify<Row> | undefined> {
    return await rows(db, brandId)
      .where(ofBrand(brandId))
      .where(sql<boolean>`${column('id')} = ${id}`)
      .executeTakeFirst();
  }

  const getPosition = (row: Simplify<Row>, where: Where): Place => rankBy(where)?.of(row) ?? row[time];

  const totals = openSlowCounts<number>();
  const allSums = openSlowCounts<CurrencySums<Sum>[]>();

  const scan = (db: Db, brandId: string, where: Where) => countFound(db, selectMatching(db, brandId, where));

  async function count(db: Db, brandId: string, where: Where): Promise<number> {
    if (!isCounted) return await scan(db, brandId, where);
    const filters = listFilters(where);
    const all = await readRowCount(db, brandId, table);
    if (filters.length === 0) return all;
    if (all < MANY) return await scan(db, brandId, where);
    return await totals(JSON.stringify([brandId, filters]), () => scan(db, brandId, where));
  }

  async function sumUp(db: Db, brandId: string, where: Where): Promise<CurrencySums<Sum>[]> {
    if (sums === undefined) return [];
    if (!isCounted || (await readRowCount(db, brandId, table)) < MANY) return await scanSums(db, brandId, where);
    return await allSums(JSON.stringify([brandId, listFilters(where)]), () => scanSums(db, brandId, where));
  }

  /** One scan of the matching rows, by currency. */
  async function scanSums(db: Db, brandId: string, where: Where): Promise<CurrencySums<Sum>[]> {
    if (sums === undefined) return [];
    const amounts = Object.entries<RawBuilder<unknown>>(sums.of);
    const matching = selectMatching(db, brandId, where).select([
      sums.currency.as('currency'),
      ...amounts.map(([name, amount]) => amount.as(name)),
    ]);
    const parts = amounts.map(([name]) => sql`${sql.lit(name)}, coalesce(sum(${sql.ref(name)}), 0)::bigint`);
    const { rows: currencies } = await sql<CurrencySums<Sum>>`
      select currency, count(*) as count, jsonb_build_object(${sql.join(parts)}) as sums
      from (${matching}) as found group by currency order by currency`.execute(db);
    return currencies;
  }

  return {
    /** The matching rows, for counts and sums. */
    found: selectMatching,
    sumUp,
    find,
    /** The brand's row with this id; throws NOT_FOUND. */
    get: async (db: Db, brandId: string, id: string): Promise<Simplify<Row>> => {
      const row = await find(db, brandId, id);
      if (!row) throw notFound(noun);
      return row;
    },
    /** The same row, locked until the transaction ends; for rows of a single table. */
    lock: (db: Db, brandId: string, id: string) => lockOwn(rows(db, brandId), noun, brandId, id),
    /** One page and the total number of rows. */
    list: async (
      db: Db,
      brandId: string,
      where: Where,
      page: Page,
      known?: number,
    ): Promise<{ rows: Simplify<Row>[]; total: number }> => {
      const total = known ?? (await count(db, brandId, where));
      return { rows: await select(db, brandId, where, page), total };
    },
    /** Every matching row, in the list's order. */
    each: (exports: Exports, brandId: string, where: Where): AsyncGenerator<Simplify<Row>> =>
      inBatches<Simplify<Row>>(exports, brandId, (trx, last, limit) =>
        select(trx, brandId, where, { limit, after: last && { at: getPosition(last, where), id: last.id } }),
      ),
    /** A part of the matching rows, complete and in the list's order. */
    select,
  };
}
