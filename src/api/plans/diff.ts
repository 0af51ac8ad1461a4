import type { PlannedChange } from '../../engines/postgres/agent-tables.ts';
import { toWire } from '../../values/wire.ts';
import type { AuditEntry } from '../work.ts';

type Fields = Record<string, unknown>;

/** Of a change only the fields that differ; what was made or removed is shown whole. */
export function changedFields(old: Fields | null, now: Fields | null): { old: Fields | null; new: Fields | null } {
  if (!old || !now) return { old, new: now };
  const changed = Object.keys({ ...old, ...now }).filter(
    (name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]),
  );
  const pick = (values: Fields) => Object.fromEntries(changed.map((name) => [name, values[name] ?? null]));
  return { old: pick(old), new: pick(now) };
}

const wireOf = (row: object | null): Fields | null => row && { ...toWire(row) };

export const plannedChange = ({ resourceId, ...entry }: AuditEntry): PlannedChange => ({
  resource_id: resourceId,
  ...changedFields(wireOf(entry.old), wireOf(entry.new)),
});
