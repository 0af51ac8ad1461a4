import { ClickHouseError } from '@clickhouse/client';
import { z } from 'zod';
import { ApiError, unavailable } from '../../values/errors.ts';
import { span } from '../../values/tracing.ts';
import { within } from '../../values/within.ts';
import type { ClickHouse } from './open.ts';

/** A 64-bit integer, which ClickHouse quotes. Past 2^53 it is an error, never a rounded number. */
export const integer = z
  .union([z.string().regex(/^-?\d+$/), z.number()])
  .transform(Number)
  .pipe(z.number().int());

const BUSY_QUORUM = '286';

/**
 * ClickHouse's codes that mean "not now": timeouts, too busy, out of memory or disk, read-only or unreachable replicas,
 * and a table that a migration has yet to create.
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
  BUSY_QUORUM,
  '289',
  '319',
  '999',
]);

const ATTRIBUTES = { 'db.system.name': 'clickhouse' };

/**
 * Asks ClickHouse, as a span. Throws SERVICE_UNAVAILABLE when it cannot answer. A statement that it rejects is a bug of ours.
 */
export async function reaching<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await span('clickhouse', { kind: 'client', attributes: ATTRIBUTES }, work);
  } catch (error) {
    if (error instanceof z.ZodError) throw error;
    if (error instanceof ClickHouseError && !NOT_NOW.has(error.code)) throw error;
    throw unavailable('ClickHouse', error);
  }
}

/** True if a statement that failed may still have run. */
export const isUncertain = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.code === 'SERVICE_UNAVAILABLE' &&
  !(error.cause instanceof Error && 'code' in error.cause && error.cause.code === 'ECONNREFUSED');

/** True if a cluster refused an insert because an earlier one into the table does not have its quorum yet. */
export const isBusyQuorum = (error: unknown): boolean =>
  error instanceof ApiError && error.cause instanceof ClickHouseError && error.cause.code === BUSY_QUORUM;

/**
 * Our ids as an array in the statement's text, which is sent as the body: parameters are sent in the URL, which the
 * embedded server limits to 16 KB. ClickHouse splits one string, because as many literals take at least twice as long
 * (measured).
 */
export const idArray = (ids: readonly string[]): string => `splitByChar(',', '${joined(ids)}')`;

/** Ids as literals, for statements that ClickHouse stores. */
export const idTuple = (ids: readonly string[]): string => `('${joined(ids).replaceAll(',', "','")}')`;

/** True if a text may be an id of ours. No row has another one. */
export const isIdLike = (text: string): boolean => /^[\w-]*$/.test(text);

function joined(ids: readonly string[]): string {
  if (ids.every(isIdLike)) return ids.join(',');
  throw new Error(`Invalid ids: ${JSON.stringify(ids.find((id) => !isIdLike(id)))}.`);
}

/** The same ids as a set for `IN`. */
export const idSet = (ids: readonly string[]) => `(SELECT arrayJoin(${idArray(ids)}))`;

/** The statement length in bytes that every server accepts by default. A longer statement sets `max_query_size`. */
const READ_BY_DEFAULT = 262_144;

type Parameter = string | number | readonly string[];

/** A replica that lacks the latest insert with a quorum refuses instead of returning less. */
export const READ_BACK = 'select_sequential_consistency = 1';

async function readRows(
  client: ClickHouse['client'],
  sql: string,
  params: Record<string, Parameter>,
  { signal, settings }: { signal?: AbortSignal; settings?: string } = {},
): Promise<unknown[]> {
  const text = `${sql} SETTINGS output_format_json_quote_64bit_integers = 1${settings ? `, ${settings}` : ''}`;
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
 * Reads rows of `shape`. Parameters appear in the statement as `{name:Type}`. Settings are inline, because the embedded
 * engine applies a request's settings to the whole session.
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

/** Like `query`, for reads that must see every earlier insert, because they decide what happens next. */
export async function readBack<T extends z.ZodType>(
  { client }: ClickHouse,
  shape: T,
  sql: string,
  params: Record<string, Parameter> = {},
): Promise<z.output<T>[]> {
  const rows = await reaching(() => readRows(client, sql, params, { settings: READ_BACK }));
  return z.array(shape).parse(rows);
}

/** Bounds how long a caller waits when ClickHouse hangs. */
const WAIT_MS = 5_000;

async function inTime<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController();
  try {
    return await within(WAIT_MS, work(late.signal));
  } catch (error) {
    // The client only heeds it once it has a connection, which it may have to wait for.
    late.abort();
    throw error;
  }
}

/** Like `query`, but ClickHouse has only five seconds, because a caller is waiting. */
export async function queryInTime<T extends z.ZodType>(
  { client }: ClickHouse,
  shape: T,
  sql: string,
  params: Record<string, Parameter> = {},
): Promise<z.output<T>[]> {
  const rows = await reaching(() => inTime((signal) => readRows(client, sql, params, { signal })));
  return z.array(shape).parse(rows);
}

/** The settings of files: numbers as numbers, times as the API writes them, and what every reader of Parquet unpacks. */
const OF_FILES = [
  'output_format_json_quote_64bit_integers = 0',
  "date_time_output_format = 'iso'",
  "output_format_parquet_compression_method = 'snappy'",
].join(', ');

/** The bytes of a result in one of ClickHouse's formats, at the reader's pace. A file of rows has no other bound. */
export async function stream(
  { client }: ClickHouse,
  sql: string,
  params: Record<string, Parameter>,
  format: string,
): Promise<AsyncIterable<Buffer>> {
  const query = `${sql} SETTINGS ${OF_FILES} FORMAT ${format}`;
  const answer = await reaching(() => client.exec({ query, query_params: params }));
  return answer.stream;
}

/** Runs a statement without a result. */
export async function command(
  { client }: ClickHouse,
  sql: string,
  params: Record<string, Parameter> = {},
): Promise<void> {
  await reaching(() => client.command({ query: sql, query_params: params }));
}
