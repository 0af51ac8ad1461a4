import type { z } from 'zod';
import type { Caller } from '../access/keys/queries.ts';
import type { Db, Exports } from '../engines/postgres/open.ts';
import { eachAs } from '../values/wire.ts';
import type { Context } from './context.ts';
import { type Page, type Pagination, pageOf, paginationOf } from './page.ts';

/** A noun's two questions: one page of its list, and every row of it. */
interface Questions<Where, Row> {
  list: (db: Db, brandId: string, where: Where, page: Page) => Promise<{ rows: Row[]; total: number }>;
  each: (exports: Exports, brandId: string, where: Where) => AsyncIterable<Row>;
}

interface ListCall<Where> {
  caller: Caller;
  query: Where & Parameters<typeof pageOf>[0];
}

/** How a list of the brand's own is answered: a page of items with its pagination, and all of them as CSV. */
export function answersOf<Where, Row, Item>(
  { list, each }: Questions<Where, Row>,
  item: z.ZodObject,
  itemOf: (row: Row) => Item,
) {
  return {
    handler: async (
      { postgres }: Context,
      { caller, query }: ListCall<Where>,
    ): Promise<{ data: Item[]; pagination: Pagination }> => {
      const page = pageOf(query);
      const { rows, total } = await list(postgres.db, caller.brandId, query, page);
      return { data: rows.map((row) => itemOf(row)), pagination: paginationOf(page, total) };
    },
    csv: {
      item,
      rows: ({ postgres }: Context, { caller, query }: ListCall<Where>): AsyncIterable<Item> =>
        eachAs(each(postgres.exports, caller.brandId, query), itemOf),
    },
  };
}
