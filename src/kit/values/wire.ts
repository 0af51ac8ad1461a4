/** `createdAt` → `created_at`. */
type SnakeCase<Name extends string> = Name extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}${SnakeCase<Rest>}`
  : '';

type WireValue<Value> = Value extends Date ? string : Value;

/** A row with snake_case names and ISO 8601 dates. */
export type Wire<Row> = { [Name in keyof Row & string as SnakeCase<Name>]: WireValue<Row[Name]> };

/** Maps camelCase columns to the API's snake_case fields and dates to ISO 8601. Nothing else does. */
export function toWire<Row extends object>(row: Row): Wire<Row>;
export function toWire(row: object): object {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [snakeCase(name), value instanceof Date ? value.toISOString() : value]),
  );
}

/** Maps a stream of rows to items. */
export async function* mapRows<Row, Item>(rows: AsyncIterable<Row>, itemOf: (row: Row) => Item): AsyncGenerator<Item> {
  for await (const row of rows) yield itemOf(row);
}

const PART = 1_000;

/** Like `eachAs`, but maps rows in batches, for example to load metrics for all of them at once. */
export async function* mapInBatches<Row, Item>(
  rows: AsyncIterable<Row>,
  itemsOf: (rows: readonly Row[]) => Promise<Item[]>,
): AsyncGenerator<Item> {
  let part: Row[] = [];
  for await (const row of rows) {
    part.push(row);
    if (part.length < PART) continue;
    yield* await itemsOf(part);
    part = [];
  }
  yield* await itemsOf(part);
}

export const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
