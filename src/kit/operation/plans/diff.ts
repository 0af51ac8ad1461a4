import { snakeCase, toWire } from '../../values/wire.ts';
import { type AuditEntry, shownRow } from '../work.ts';
import type { PlannedChange } from './schema.ts';

type Fields = Record<string, unknown>;

/** The fields of a change that differ, and those of `context`. Created and removed rows are shown completely. */
export function changedFields(
  old: Fields | null,
  now: Fields | null,
  context: readonly string[] = [],
): { old: Fields | null; new: Fields | null } {
  if (!old || !now) return { old, new: now };
  const changed = Object.keys({ ...old, ...now }).filter(
    (name) => context.includes(name) || JSON.stringify(old[name]) !== JSON.stringify(now[name]),
  );
  const pick = (values: Fields) => Object.fromEntries(changed.map((name) => [name, values[name] ?? null]));
  return { old: pick(old), new: pick(now) };
}

/** A row for display: sealed fields and other bytes show only "changed". */
const toWireFields = (row: object | null, old: object | null): Fields | null =>
  row && { ...toWire(shownRow(row, old)) };

export function plannedChange({ resourceId, old, new: row, generated = [], context = [] }: AuditEntry): PlannedChange {
  const fields = changedFields(toWireFields(old, old), toWireFields(row, old), context.map(snakeCase));
  const names = generated.map(snakeCase).filter((name) => fields.new !== null && name in fields.new);
  return { resource_id: resourceId, ...fields, generated: names };
}
