import type { z } from 'zod';
import { listKeyNames } from '../../../kit/access/keys/queries.ts';
import type { Context } from '../../../kit/operation/context.ts';
import { DAY_MS } from '../../../kit/values/duration.ts';
import { validationError } from '../../../kit/values/errors.ts';
import { CALL_SUMS_KEPT_MS } from '../../requests/requests.ts';
import type { UsageWindow } from '../usage.ts';
import type { UsageFilter, UsageList } from '../schema.ts';
import { listCallSums } from './queries.ts';

type Series = NonNullable<z.input<typeof UsageList>['series']>;

const MOST_DAYS = { hour: 31, day: CALL_SUMS_KEPT_MS / DAY_MS };

function assertShort({ from, until }: UsageWindow, granularity: keyof typeof MOST_DAYS): void {
  const days = (until.getTime() - from.getTime()) / DAY_MS;
  const most = MOST_DAYS[granularity];
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
  assertShort(window, granularity);
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
