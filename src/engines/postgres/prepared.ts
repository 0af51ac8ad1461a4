import type pg from 'pg';

/** Of one process. What is put together anew each time (a row more, a filter more) must not fill the servers' memory. */
const MAX_STATEMENTS = 300;
const MAX_LENGTH = 8_000;

let names = new Map<string, string>();
let generation = 0;

function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= MAX_STATEMENTS || text.length > MAX_LENGTH) return known;
  const name = `rollcall_${generation}_${names.size}`;
  names.set(text, name);
  return name;
}

/** A statement with values, by the name under which its connection has it prepared; anything else stays as it is. */
function named([text, values, ...more]: readonly unknown[]): readonly unknown[] {
  if (typeof text !== 'string' || !Array.isArray(values) || values.length === 0) return [text, values, ...more];
  const name = nameOf(text);
  return name === undefined ? [text, values, ...more] : [{ name, text, values }, ...more];
}

/**
 * Has PostgreSQL keep the plans of what a connection runs within transactions: an order is ten small statements whose
 * planning takes longer than they do (a quarter of all the time that orders take, of the API and PostgreSQL together).
 * Lists, outside of transactions, are planned each time, for the brand and the filter that they are asked for.
 */
export function prepareInTransactions(client: pg.ClientBase): void {
  const query = client.query;
  const prepared = (...args: unknown[]) =>
    Reflect.apply(query, client, client.getTransactionStatus() === 'T' ? named(args) : args);
  Object.defineProperty(client, 'query', { value: prepared });
}

/** Prepares everything anew, under other names: a table's columns have changed under what was prepared. */
export function forgetPrepared(): void {
  names = new Map();
  generation += 1;
}
