import { ClickHouseError } from '@clickhouse/client';
import { z } from 'zod';
import { unavailable } from '../../values/errors.ts';
import type { ClickHouse } from './open.ts';

/** A 64-bit integer, which comes quoted; past 2^53 it is an error, never a rounded number. */
export const integer = z
  .union([z.string().regex(/^-?\d+$/), z.number()])
  .transform(Number)
  .pipe(z.number().int());

/**
 * ClickHouse's codes that mean "not now": timeouts, too busy, out of memory or disk, read-only or unreachable replicas,
 * and a table that a migration has yet to make.
 */
const NOT_NOW = new Set([
  '60',
  '81',
  '159',
  '160',
  '202',
  '203',
  '209',
  '210',
  '241',
  '242',
  '243',
  '252',
  '285',
  '319',
  '999',
]);

/** Turns a ClickHouse that cannot answer into SERVICE_UNAVAILABLE; a statement that it refuses is our own bug. */
export async function reaching<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof z.ZodError) throw error;
    if (error instanceof ClickHouseError && !NOT_NOW.has(error.code)) throw error;
    throw unavailable('ClickHouse', error);
  }
}

/**
 * Ids of ours as an array, in the statement's own text, which goes as the body: parameters go in the URL, which ends at
 * 16 KB at the embedded server. One text that the engine splits: as many
 * literals take it twice as long or more (measured).
 */
export function idArray(ids: readonly string[]): string {
  const text = ids.join(',');
  if (!/^[\w,-]*$/.test(text)) throw new Error(`Not ids: ${JSON.stringify(ids.find((id) => !/^[\w-]+$/.test(id)))}.`);
  return `splitByChar(',', '${text}')`;
}

/** The same as a set to be `IN`. */
export const idSet = (ids: readonly string[]) => `(SELECT arrayJoin(${idArray(ids)}))`;

/** Bytes of a statement that every server reads; one that is longer says its own length. */
const READ_BY_DEFAULT = 262_144;

type Parameter = string | number | readonly string[];

async function readRows(
  client: ClickHouse['client'],
  sql: string,
  params: Record<string, Parameter>,
  signal?: AbortSignal,
): Promise<unknown[]> {
  const text = `${sql} SETTINGS output_format_json_quote_64bit_integers = 1`;
  const answer = await client.query({
    query: text,
    query_params: params,
    format: 'JSONEachRow',
    ...(text.length < READ_BY_DEFAULT ? {} : { clickhouse_settings: { max_query_size: String(2 * text.length) } }),
    ...(signal ? { abort_signal: signal } : {}),
  });
  return await answer.json();
}

/**
 * Reads rows in `shape`. Parameters stand in the statement as `{name:Type}`. Settings stand inline, for the embedded
 * engine turns those of a request into a `SET` on a session.
 */
export async function query<T extends z.ZodType>(
  { client }: ClickHouse,
  shape: T,
  sql: string,
  params: Record<string, Parameter> = {},
): Promise<z.output<T>[]> {
  const rows = await reaching(() => readRows(client, sql, params));
  return z.array(shape).parse(rows);
}

/** Bounds how long somebody waits for figures when ClickHouse hangs. */
const WAIT_MS = 5_000;

async function inTime<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(WAIT_MS);
  return await new Promise((resolve, reject) => {
    // The client hears the signal only once it has a connection, for which it may wait behind other calls.
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work(signal).then(resolve, reject);
  });
}

/** As `query`, for a caller who waits for the answer: ClickHouse has five seconds for it. */
export async function queryInTime<T extends z.ZodType>(
  { client }: ClickHouse,
  shape: T,
  sql: string,
  params: Record<string, Parameter> = {},
): Promise<z.output<T>[]> {
  const rows = await reaching(() => inTime((signal) => readRows(client, sql, params, signal)));
  return z.array(shape).parse(rows);
}

/** Runs a statement that answers nothing. */
export async function command(
  { client }: ClickHouse,
  sql: string,
  params: Record<string, Parameter> = {},
): Promise<void> {
  await reaching(() => client.command({ query: sql, query_params: params }));
}
