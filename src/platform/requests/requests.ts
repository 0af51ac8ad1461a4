import { z } from 'zod';
import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import { command, integer, queryInTime } from '../../kit/engines/clickhouse/query.ts';
import { tsvTime } from '../../kit/engines/clickhouse/tsv.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import type { Position, RequestFilter } from './requests.api.ts';

const Row = z.object({
  at_ms: integer,
  key_id: z.string(),
  request_id: z.string(),
  operation: z.string(),
  status: z.number().int(),
  code: z.string(),
  credits: integer,
  micros: integer,
  results: integer.nullable(),
  search: z.enum(['', 'page', 'preview', 'look_up', 'walk']),
  filters: z.array(z.string()),
  fingerprint: z.string(),
});
export type RequestRow = z.output<typeof Row>;

const time = (name: string) => `{${name}:DateTime64(3, 'UTC')}`;

export interface RequestWindow extends Omit<RequestFilter, 'from' | 'to' | 'after' | 'limit'> {
  from: Date;
  to: Date | undefined;
  after: Position | undefined;
}

/** Marks a class of statuses, such as 4xx. */
const STATUS_CLASS = /xx$/i;

function buildConditions({ request_id, key, operation, status, to, after }: RequestWindow): string {
  const conditions = [
    'brand_id = {brand:String}',
    `at >= ${time('from')}`,
    to && `at <= ${time('to')}`,
    request_id !== undefined && 'request_id = {request_id:String}',
    key !== undefined && 'key_id = {key:String}',
    operation !== undefined && 'operation = {operation:String}',
    status !== undefined &&
      (STATUS_CLASS.test(status) ? 'intDiv(status, 100) = {status:UInt16}' : 'status = {status:UInt16}'),
    after &&
      `at <= ${time('after')} AND (at, request_id, micros) < (${time('after')}, {after_id:String}, {after_micros:UInt64})`,
  ];
  return conditions.filter(Boolean).join(' AND ');
}

/** Lists the brand's calls, newest first. */
export async function listRequests(
  clickhouse: ClickHouse,
  brandId: string,
  window: RequestWindow,
  limit: number,
): Promise<RequestRow[]> {
  const { from, to, after, status = '', request_id = '', key = '', operation = '' } = window;
  return await queryInTime(
    clickhouse,
    Row,
    `SELECT toUnixTimestamp64Milli(at) AS at_ms, key_id, request_id, operation, status, code, credits, micros, results,
       search, filters, fingerprint
     FROM requests_v1 WHERE ${buildConditions(window)}
     ORDER BY at DESC, request_id DESC, micros DESC LIMIT {limit:UInt32}`,
    {
      brand: brandId,
      from: tsvTime(from),
      to: tsvTime(to ?? from),
      request_id,
      key,
      operation,
      limit,
      status: Number(status.replace(STATUS_CLASS, '')),
      after: tsvTime(new Date(after?.atMs ?? 0)),
      after_id: after?.requestId ?? '',
      after_micros: after?.micros ?? 0,
    },
  );
}

/** Deletes the brand's calls up to a time, and the hours that had begun by then. */
export async function deleteCalls(clickhouse: ClickHouse, brandId: string, until: Date): Promise<void> {
  for (const [table, column] of [
    ['requests_v1', 'at'],
    ['requests_hourly_v1', 'hour'],
  ]) {
    await command(
      clickhouse,
      `DELETE FROM ${table} WHERE brand_id = {brand:String} AND ${column} <= ${time('until')}`,
      {
        brand: brandId,
        until: tsvTime(until),
      },
    );
  }
}

/** Single calls are kept for two weeks, their sums by hour for more than a year. */
export const CALLS_KEPT_MS = 14 * DAY_MS;
export const CALL_SUMS_KEPT_MS = 400 * DAY_MS;
