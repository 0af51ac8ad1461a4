import type { ClickHouse } from '../../kit/engines/clickhouse/open.ts';
import { findReconciliation } from './rollups/queries.ts';

/** Shorter than the time between two reconciliations. */
const RECONCILED_KNOWN_MS = 1_000;
/** When each ClickHouse was last found reconciled. */
const reconciledAt = new WeakMap<ClickHouse, number>();

/**
 * A ClickHouse that was just started may have lost data, until the reconciliation has checked it; see ledger/jobs.ts.
 */
export async function isReconciled(clickhouse: ClickHouse): Promise<boolean> {
  if (clickhouse.cluster !== undefined) return true;
  const requestedAt = performance.now();
  const isDone = (await findReconciliation(clickhouse))?.step === 'done';
  if (isDone) reconciledAt.set(clickhouse, requestedAt);
  else reconciledAt.delete(clickhouse);
  return isDone;
}

/**
 * A recent result is good enough before figures are read, because ClickHouse is checked again afterwards. If it was
 * reconciled both times, it was not restarted in between.
 */
export async function wasReconciled(clickhouse: ClickHouse): Promise<boolean> {
  const known = reconciledAt.get(clickhouse);
  return (known !== undefined && performance.now() - known < RECONCILED_KNOWN_MS) || (await isReconciled(clickhouse));
}
