import { z } from 'zod';
import type { Caller } from '../access/keys/callers.ts';
import type { CurrencySums } from '../engines/postgres/listing.ts';
import type { Db, Exports } from '../engines/postgres/open.ts';
import { fromMinor } from '../values/decimals.ts';
import { type Page, type Pagination, toPage, toPagination } from '../values/page.ts';
import { mapRows } from '../values/wire.ts';
import type { Context } from './context.ts';

/** A noun's two list queries: one page, and every row. */
export interface ListQueries<Where, Row> {
  /** Counts the rows unless their number is known. */
  list: (db: Db, brandId: string, where: Where, page: Page, known?: number) => Promise<{ rows: Row[]; total: number }>;
  each: (exports: Exports, brandId: string, where: Where) => AsyncIterable<Row>;
}

/** Sums up the matching rows of a list with `totals=true`. */
export type SumUp<Where, Sum extends string = string> = (
  db: Db,
  brandId: string,
  where: Where,
) => Promise<CurrencySums<Sum>[]>;

const countFields = {
  currency: z.string().describe('ISO 4217 code of the currency.').meta({ example: 'USD' }),
  count: z.number().int().min(1).describe('Matching items in this currency.').meta({ example: 163 }),
};

/** `totals` of a list with these sums. */
export type Totals<Sum extends string> = z.ZodOptional<
  z.ZodArray<z.ZodObject<typeof countFields & { [name in Sum]: z.ZodNumber }>>
>;

/** The shape of `totals`, from the descriptions of the sums. Those in `counts` are numbers of things instead of amounts. */
export function totalsSchema(sums: Record<string, string>, counts: readonly string[] = []): z.ZodType {
  const fields = Object.entries(sums).map(([name, text]) => [
    name,
    counts.includes(name)
      ? z.number().int().describe(text).meta({ example: 22 })
      : z.number().describe(`${text} In major units of \`currency\`.`).meta({ example: 1250.5 }),
  ]);
  return z
    .array(z.object({ ...countFields, ...Object.fromEntries(fields) }))
    .optional()
    .describe('Counts and sums of all matching items, by currency; only with `totals=true`.');
}

const isToSumUp = (query: object) => 'totals' in query && query.totals === true;

/** The input of a list and its caller. */
export interface ListCall<Query, Params = object> {
  caller: Caller;
  params: Params;
  query: Query & Parameters<typeof toPage>[0];
}

const toTotals = ({ currency, count, sums }: CurrencySums<string>, counts: readonly string[]) => ({
  currency,
  count,
  ...Object.fromEntries(
    Object.entries(sums).map(([name, sum]) => [name, counts.includes(name) ? sum : fromMinor(sum, currency)]),
  ),
});

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
  sumUp?: SumUp<Where>,
  counts: readonly string[] = [],
) {
  return {
    handler: async (
      context: Context,
      call: ListCall<Query, Params>,
    ): Promise<{ data: Item[]; pagination: Pagination; totals?: object[] }> => {
      const page = toPage(call.query);
      const where = await whereOf(context, call);
      const { db } = context.postgres;
      const { brandId } = call.caller;
      const sums = sumUp && isToSumUp(call.query) ? await sumUp(db, brandId, where) : undefined;
      const knownTotal = sums?.reduce((sum, { count }) => sum + count, 0);
      const { rows, total } = await list(db, brandId, where, page, knownTotal);
      const pageAnswer = { data: rows.map((row) => itemOf(row, context)), pagination: toPagination(page, total) };
      return sums ? { ...pageAnswer, totals: sums.map((one) => toTotals(one, counts)) } : pageAnswer;
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
