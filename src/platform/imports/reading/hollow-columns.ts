import type { Assigned, Assignment } from './columns.ts';
import type { Glance } from './glance.ts';
import type { FieldType } from './kinds.ts';

/** Takes the fields out whose only columns are empty as far as they were seen: another column may be what they name. */
export function takeHollow(assignment: Assignment, glance: (position: number) => Glance): Assigned[] {
  const hollow = [...assignment.values()].filter(
    ({ by, positions }) => by === 'word' && positions.every((position) => glance(position).filled === 0),
  );
  for (const { field } of hollow) assignment.delete(field);
  return hollow;
}

/** Puts them back: alone, or beside the column that was found, which is asked about unless one stays empty. */
export function putHollow(
  assignment: Assignment,
  hollow: readonly Assigned[],
  strictTypes: ReadonlySet<FieldType>,
): void {
  for (const each of hollow) {
    const other = assignment.get(each.field);
    const positions = [...(other?.positions ?? []), ...each.positions];
    const confidence = other && strictTypes.has(each.type) ? 'asked' : each.confidence;
    assignment.set(each.field, other ? { ...other, positions, confidence } : each);
  }
}
