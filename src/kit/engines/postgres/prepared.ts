/**
 * Limit per process, so that statements whose text varies (by number of rows, by filters) do not fill the server's
 * memory.
 */
const MAX_STATEMENTS = 300;
const MAX_LENGTH = 8_000;

let names = new Map<string, string>();
let generation = 0;

function statementName(text: string): string | undefined {
  const cached = names.get(text);
  if (cached !== undefined || names.size >= MAX_STATEMENTS || text.length > MAX_LENGTH) return cached;
  const name = `rollcall_${generation}_${names.size}`;
  names.set(text, name);
  return name;
}

/**
 * Gives a statement with values the name of its prepared statement; passes anything else through. Statements of
 * transactions are prepared: an order is ten small statements whose planning takes longer than their execution (a quarter
 * of the total time of orders, API and PostgreSQL together). Lists run outside transactions and are planned each time,
 * for their brand and filter.
 */
export function named([text, values, ...more]: readonly unknown[]): readonly unknown[] {
  if (typeof text !== 'string' || !Array.isArray(values) || values.length === 0) return [text, values, ...more];
  const name = statementName(text);
  return name === undefined ? [text, values, ...more] : [{ name, text, values }, ...more];
}

/** Prepares everything again under new names, because a table's columns have changed. */
export function forgetPrepared(): void {
  names = new Map();
  generation += 1;
}
