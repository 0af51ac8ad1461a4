/** camelCase columns as the API's snake_case fields, dates as ISO 8601: the one place where that is done. */
export function toWire(row: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [snakeCase(name), wireValue(value)]));
}

/** Rows as they come, each as the item it is answered as. */
export async function* eachAs<Row, Item>(rows: AsyncIterable<Row>, itemOf: (row: Row) => Item): AsyncGenerator<Item> {
  for await (const row of rows) yield itemOf(row);
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function wireValue(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}
