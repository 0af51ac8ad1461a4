import type { ClickHouse } from '../engines/clickhouse/open.ts';
import { findMending } from './rollups/queries.ts';

/** Shorter than mending takes: between two of its passes lies more. */
const MENDED_KNOWN_MS = 1_000;
/** When each ClickHouse was last asked, and was mended. */
const mendedAt = new WeakMap<ClickHouse, number>();

/** A ClickHouse that was just started may lack what it had, until mending has compared it; see ledger/jobs.ts. */
export async function isMended(clickhouse: ClickHouse): Promise<boolean> {
  if (clickhouse.cluster !== undefined) return true;
  const askedAt = performance.now();
  const isDone = (await findMending(clickhouse))?.step === 'done';
  if (isDone) mendedAt.set(clickhouse, askedAt);
  else mendedAt.delete(clickhouse);
  return isDone;
}

/**
 * Before figures are read: what was said a moment ago will do, for afterwards it is asked in any case. One that was mended
 * then and is now was not started in between.
 */
export async function wasMended(clickhouse: ClickHouse): Promise<boolean> {
  const known = mendedAt.get(clickhouse);
  return (known !== undefined && performance.now() - known < MENDED_KNOWN_MS) || (await isMended(clickhouse));
}
