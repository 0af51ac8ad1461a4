import { z } from 'zod';
import type { ClickHouse } from '../../../kit/engines/clickhouse/open.ts';
import { integer, queryInTime } from '../../../kit/engines/clickhouse/query.ts';
import { tsvTime } from '../../../kit/engines/clickhouse/tsv.ts';
import type { UsageWindow } from '../usage.ts';

const Row = z.object({ start_s: integer, name: z.string(), calls: integer, credits: integer });

const START = { hour: 'hour', day: "toStartOfDay(hour, 'UTC')" } as const;
const NAME = { key: 'key_id', operation: 'toString(operation)', status: 'toString(status)' } as const;

export type CallSeries = { granularity: keyof typeof START; by: keyof typeof NAME };

/** Sums of the brand's calls, oldest first. */
export async function listCallSums(
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
