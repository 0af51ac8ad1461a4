import { type SelectQueryBuilder, type Simplify, sql } from 'kysely';
import { notFound } from '../../values/errors.ts';
import type { ListWindow, Page } from '../../values/page.ts';
import { inBatches } from './batches.ts';
import type { Db, Exports } from './open.ts';
import { type Cut, cutTo, inOrder, inWindow, type Order } from './window.ts';

/** What a noun says of itself, so that its rows are counted, paged, exported and found alike. */
interface Listed<
  Time extends string,
  Where,
  FoundDb,
  Found extends keyof FoundDb,
  RowDb,
  Tables extends keyof RowDb,
  Row,
> {
  /** As a 404 names it. */
  noun: string;
  /** As PostgreSQL names it, with `brand_id` and `id`. */
  table: string;
  /** The column that lists are ordered by; the id breaks ties. */
  time: Time;
  /** What the noun's own filter finds; the brand, the window and the order are added. */
  matching: (db: Db, brandId: string, where: Where) => SelectQueryBuilder<FoundDb, Found, object>;
  /** Whole rows, as they are shown; the brand is added. */
  rows: (db: Db, brandId: string) => SelectQueryBuilder<RowDb, Tables, Row>;
}

/**
 * The questions that every noun with a list is asked. A page is found by ids alone, in the index, and only its rows are
 * read whole: of 100,000 applications page 1 took 0.7 ms and page 1,000 2.7 ms, where skipping whole rows took 14.6 ms.
 * The ids are an array, so that each is looked up by its key: of a set of 1,000 PostgreSQL read all 100,000 payouts, in
 * 133 ms instead of 5.
 */
export function listing<
  Time extends string,
  Where extends ListWindow,
  FoundDb,
  Found extends keyof FoundDb,
  RowDb,
  Tables extends keyof RowDb,
  Row extends { id: string } & { [name in Time]: Date },
>({ noun, table, time, matching, rows }: Listed<Time, Where, FoundDb, Found, RowDb, Tables, Row>) {
  const column = (name: string) => sql.ref<string>(`${table}.${name}`);
  const ofBrand = (brandId: string) => sql<boolean>`${column('brandId')} = ${brandId}`;
  const found = (db: Db, brandId: string, where: Where) =>
    matching(db, brandId, where)
      .where(ofBrand(brandId))
      .where(inWindow(`${table}.${time}`, where));

  async function select(db: Db, brandId: string, where: Where, cut: Cut): Promise<Simplify<Row>[]> {
    const order: Order = { time: `${table}.${time}`, id: `${table}.id`, sort: where.sort };
    const ids = cutTo(found(db, brandId, where).select(column('id').as('id')), order, cut);
    const whole = rows(db, brandId)
      .where(ofBrand(brandId))
      .where(sql<boolean>`${column('id')} = any(array${ids})`);
    return await inOrder(whole, order).execute();
  }

  async function find(db: Db, brandId: string, id: string): Promise<Simplify<Row> | undefined> {
    return await rows(db, brandId)
      .where(ofBrand(brandId))
      .where(sql<boolean>`${column('id')} = ${id}`)
      .executeTakeFirst();
  }

  return {
    /** What the filter finds, to be counted or summed. */
    found,
    find,
    /** The brand's row of this id; throws not found. */
    get: async (db: Db, brandId: string, id: string): Promise<Simplify<Row>> => {
      const row = await find(db, brandId, id);
      if (!row) throw notFound(noun);
      return row;
    },
    /** One page, and how many rows all pages have. */
    list: async (
      db: Db,
      brandId: string,
      where: Where,
      page: Page,
    ): Promise<{ rows: Simplify<Row>[]; total: number }> => {
      const { total } = await db
        .selectFrom(found(db, brandId, where).select(column('id').as('id')).as('found'))
        .select(({ fn }) => fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow();
      return { rows: await select(db, brandId, where, page), total };
    },
    /** Every row that the filter finds, in the list's order. */
    each: (exports: Exports, brandId: string, where: Where): AsyncGenerator<Simplify<Row>> =>
      inBatches<Simplify<Row>>(exports, brandId, (trx, last, limit) =>
        select(trx, brandId, where, { limit, after: last && { at: last[time], id: last.id } }),
      ),
    /** A part of what the filter finds, whole and in the list's order. */
    select,
  };
}
