import type { ClickHouse } from '../engines/clickhouse/open.ts';
import { findReconciliation } from './rollups/queries.ts';

/** Shorter than a reconciliation takes: its passes are further apart. */
const RECONCILED_KNOWN_MS = 1_000;
/** When each ClickHouse was last found reconciled. */
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
 * For use before figures are read: an answer of a moment ago is enough, because ClickHouse is checked again afterwards. One
 * that was reconciled both times was not restarted in between.
 */
export async function wasReconciled(clickhouse: ClickHouse): Promise<boolean> {
  const known = reconciledAt.get(clickhouse);
  return (known !== undefined && performance.now() - known < RECONCILED_KNOWN_MS) || (await isReconciled(clickhouse));
}
