import type { ClickHouse } from '../engines/clickhouse/open.ts';
import { findReconciliation } from './rollups/queries.ts';

/** Shorter than a reconciliation takes: between two of its passes lies more. */
const RECONCILED_KNOWN_MS = 1_000;
/** When each ClickHouse was last asked, and was reconciled. */
const reconciledAt = new WeakMap<ClickHouse, number>();

/** A ClickHouse that was just started may lack what it had, until the reconciliation has compared it; see ledger/jobs.ts. */
export async function isReconciled(clickhouse: ClickHouse): Promise<boolean> {
  if (clickhouse.cluster !== undefined) return true;
  const requestedAt = performance.now();
  const isDone = (await findReconciliation(clickhouse))?.step === 'done';
  if (isDone) reconciledAt.set(clickhouse, requestedAt);
  else reconciledAt.delete(clickhouse);
  return isDone;
}

/**
 * Before figures are read: what was said a moment ago will do, for afterwards it is asked in any case. One that was reconciled
 * then and is now was not started in between.
 */
export async function wasReconciled(clickhouse: ClickHouse): Promise<boolean> {
  const known = reconciledAt.get(clickhouse);
  return (known !== undefined && performance.now() - known < RECONCILED_KNOWN_MS) || (await isReconciled(clickhouse));
}
