import { z } from 'zod';
import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import { integer, queryInTime } from '../../kit/engines/clickhouse/query.ts';
import { tsvTime } from '../../kit/engines/clickhouse/tsv.ts';
import type { Context } from '../../kit/operation/context.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { validationError } from '../../kit/values/errors.ts';
import { listKeyNames } from '../keys/keys.ts';
import { CALL_SUMS_KEPT_MS } from '../requests/requests.ts';
import type { UsageFilter, UsageList } from './usage.api.ts';
import type { UsageWindow } from './usage.ts';

const Row = z.object({ start_s: integer, name: z.string(), calls: integer, credits: integer });

const START = { hour: 'hour', day: "toStartOfDay(hour, 'UTC')" } as const;
const NAME = { key: 'key_id', operation: 'toString(operation)', status: 'toString(status)' } as const;

export type CallSeries = { granularity: keyof typeof START; by: keyof typeof NAME };

/** Lists sums of the brand's calls, oldest first. */
async function listCallSums(
  clickhouse: ClickHouse,
  brandId: string,
  { from, until, keyId }: UsageWindow,
  { granularity, by }: CallSeries,
) {
  return await queryInTime(
    clickhouse,
    Row,
    `SELECT toInt64(toUnixTimestamp(${START[granularity]})) AS start_s, ${NAME[by]} AS name, sum(calls) AS calls,
       sum(credits) AS credits
     FROM requests_hourly_v1
     WHERE brand_id = {brand:String} AND hour >= {from:DateTime64(3, 'UTC')} AND hour < {until:DateTime64(3, 'UTC')}
       ${keyId === undefined ? '' : 'AND key_id = {key:String}'}
     GROUP BY start_s, name ORDER BY start_s, name`,
    { brand: brandId, from: tsvTime(from), until: tsvTime(until), key: keyId ?? '' },
  );
}

type Series = NonNullable<z.input<typeof UsageList>['series']>;

const MAX_DAYS = { hour: 31, day: CALL_SUMS_KEPT_MS / DAY_MS };

function assertWindowLength({ from, until }: UsageWindow, granularity: keyof typeof MAX_DAYS): void {
  const days = (until.getTime() - from.getTime()) / DAY_MS;
  const most = MAX_DAYS[granularity];
  if (days <= most) return;
  const message = `is ${days} days before the end of the window; by ${granularity} it has at most ${most} days.`;
  throw validationError([{ field: 'from', code: 'contradiction', message }]);
}

/** Calls by period, and by key, operation or status. */
export async function readSeries(
  { clickhouse, postgres }: Context,
  brandId: string,
  window: UsageWindow,
  { granularity = 'day', by = 'key' }: Pick<UsageFilter, 'granularity' | 'by'>,
): Promise<Series> {
  assertWindowLength(window, granularity);
  const sums = await listCallSums(clickhouse, brandId, window, { granularity, by });
  const ids = by === 'key' ? [...new Set(sums.map(({ name }) => name))] : [];
  const names = await listKeyNames(postgres.db, brandId, ids);
  return sums.map(({ start_s, name, calls, credits }) => ({
    start: new Date(start_s * 1_000).toISOString(),
    ...(by === 'key' ? { key_id: name, key_name: names.get(name) ?? null } : {}),
    ...(by === 'operation' ? { operation: name || null } : {}),
    ...(by === 'status' ? { status: Number(name) } : {}),
    calls,
    credits,
  }));
}
