import type { z } from 'zod';
import type { Caller } from '../access/keys/queries.ts';
import type { Db, Exports } from '../engines/postgres/open.ts';
import { type Page, type Pagination, pageOf, paginationOf } from '../values/page.ts';
import { eachAs } from '../values/wire.ts';
import type { Context } from './context.ts';

/** A noun's two questions: one page of its list, and every row of it. */
export interface Questions<Where, Row> {
  list: (db: Db, brandId: string, where: Where, page: Page) => Promise<{ rows: Row[]; total: number }>;
  each: (exports: Exports, brandId: string, where: Where) => AsyncIterable<Row>;
}

/** What a list is asked, and by whom. */
export interface ListCall<Query, Params = object> {
  caller: Caller;
  params: Params;
  query: Query & Parameters<typeof pageOf>[0];
}

/** How a list of the brand's own is answered: a page of items with its pagination, and all of them as CSV. */
export const answersOf = <Where, Row, Item>(
  questions: Questions<Where, Row>,
  item: z.ZodObject,
  itemOf: (row: Row, context: Context) => Item,
) => answersWhere(questions, (_context, { query }: ListCall<Where>) => query, item, itemOf);

/** The same where the query alone does not say what is looked for: the path, the caller or the time does too. */
export function answersWhere<Where, Row, Item, Query, Params>(
  { list, each }: Questions<Where, Row>,
  whereOf: (context: Context, call: ListCall<Query, Params>) => Where | Promise<Where>,
  item: z.ZodObject,
  itemOf: (row: Row, context: Context) => Item,
) {
  return {
    handler: async (
      context: Context,
      call: ListCall<Query, Params>,
    ): Promise<{ data: Item[]; pagination: Pagination }> => {
      const page = pageOf(call.query);
      const where = await whereOf(context, call);
      const { rows, total } = await list(context.postgres.db, call.caller.brandId, where, page);
      return { data: rows.map((row) => itemOf(row, context)), pagination: paginationOf(page, total) };
    },
    csv: {
      item,
      rows: async (context: Context, call: ListCall<Query, Params>): Promise<AsyncIterable<Item>> => {
        const rows = each(context.postgres.exports, call.caller.brandId, await whereOf(context, call));
        return eachAs(rows, (row) => itemOf(row, context));
      },
    },
  };
}
