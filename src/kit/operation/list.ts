import type { z } from 'zod';
import type { Caller } from '../access/keys/callers.ts';
import type { Db, Exports } from '../engines/postgres/open.ts';
import { type Page, type Pagination, toPage, toPagination } from '../values/page.ts';
import { mapRows } from '../values/wire.ts';
import type { Context } from './context.ts';

/** A noun's two list queries: one page, and every row. */
export interface ListQueries<Where, Row> {
  list: (db: Db, brandId: string, where: Where, page: Page) => Promise<{ rows: Row[]; total: number }>;
  each: (exports: Exports, brandId: string, where: Where) => AsyncIterable<Row>;
}

/** The input of a list and its caller. */
export interface ListCall<Query, Params = object> {
  caller: Caller;
  params: Params;
  query: Query & Parameters<typeof toPage>[0];
}

/** The handlers of a brand's list: a page of items with pagination, and all items as CSV. */
export const listHandlers = <Where, Row, Item>(
  questions: ListQueries<Where, Row>,
  item: z.ZodObject,
  itemOf: (row: Row, context: Context) => Item,
) => answersWhere(questions, (_context, { query }: ListCall<Where>) => query, item, itemOf);

/** Like `answersOf`, for a filter that also depends on the path, the caller or the time. */
export function answersWhere<Where, Row, Item, Query, Params>(
  { list, each }: ListQueries<Where, Row>,
  whereOf: (context: Context, call: ListCall<Query, Params>) => Where | Promise<Where>,
  item: z.ZodObject,
  itemOf: (row: Row, context: Context) => Item,
) {
  return {
    handler: async (
      context: Context,
      call: ListCall<Query, Params>,
    ): Promise<{ data: Item[]; pagination: Pagination }> => {
      const page = toPage(call.query);
      const where = await whereOf(context, call);
      const { rows, total } = await list(context.postgres.db, call.caller.brandId, where, page);
      return { data: rows.map((row) => itemOf(row, context)), pagination: toPagination(page, total) };
    },
    csv: {
      item,
      rows: async (context: Context, call: ListCall<Query, Params>): Promise<AsyncIterable<Item>> => {
        const rows = each(context.postgres.exports, call.caller.brandId, await whereOf(context, call));
        return mapRows(rows, (row) => itemOf(row, context));
      },
    },
  };
}
