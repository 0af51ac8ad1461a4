import { setTimeout as pause } from 'node:timers/promises';
import { toEnd } from '../../analytics/figures/sums.ts';
import type { Context } from '../../kit/operation/context.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import { awaitNumbers } from '../../kit/outbox/outbox.ts';
import type { LedgerFilter } from './ledger.shapes.ts';
import type { LedgerSelection } from './ledger.ts';

/** Outlasts the current millisecond even if the timer fires early. */
const PAUSE_MS = 3;

/** Resolves once no more entries can be recorded before the filter's time, which is at most now. */
export async function awaitFilter(
  { postgres, clock }: Pick<Context, 'postgres' | 'clock'>,
  brandId: string,
  { as_of, creator_email, currency, time_zone }: LedgerFilter,
): Promise<LedgerSelection> {
  const now = clock.now();
  const timeZone = time_zone ?? (await getTimeZone(postgres.db, brandId));
  const end = as_of === undefined ? now.getTime() + 1 : toEnd(as_of, timeZone).getTime();
  const until = new Date(Math.min(end, now.getTime() + 1));
  if (until > now) await pause(PAUSE_MS);
  await awaitNumbers(postgres.db, brandId);
  return { until, creator_email, currency };
}
