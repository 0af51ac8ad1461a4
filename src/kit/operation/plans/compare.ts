import { isMadeAt } from '../../values/ids.ts';
import { isRecord } from '../../values/wire.ts';
import type { PlannedChange } from './schema.ts';

/** The effects of a change on the brand's rows, and when it began. */
export interface Outcome {
  at: Date;
  changes: readonly PlannedChange[];
  events: readonly string[];
}

/** Maps the ids of rows created by the plan to those created when it is applied. */
function findTwins(planned: Outcome, done: Outcome): Map<string, string> {
  const twins = new Map<string, string>();
  for (const [i, { resource_id: shown, old }] of planned.changes.entries()) {
    const now = done.changes[i];
    if (old !== null || now === undefined || now.old !== null) continue;
    if (isMadeAt(shown, planned.at) && isMadeAt(now.resource_id, done.at)) twins.set(shown, now.resource_id);
  }
  return twins;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const sinceStart = (text: string, { at }: Outcome) =>
  TIME.test(text) ? new Date(text).getTime() - at.getTime() : undefined;

/**
 * True if a change does what its plan showed. Only three things may differ: ids of created rows, times relative to the
 * start of the change, and fields declared as generated.
 */
export function doesAsPlanned(planned: Outcome, done: Outcome): boolean {
  const twins = findTwins(planned, done);

  function isSameText(shown: string, now: string): boolean {
    const twin = twins.get(shown);
    if (twin !== undefined) return twin === now;
    if (shown === now) return true;
    const elapsed = sinceStart(shown, planned);
    return elapsed !== undefined && elapsed === sinceStart(now, done);
  }

  function isSame(shown: unknown, now: unknown, generated: readonly string[] = []): boolean {
    if (typeof shown === 'string' && typeof now === 'string') return isSameText(shown, now);
    if (Array.isArray(shown) && Array.isArray(now)) {
      return shown.length === now.length && shown.every((one, i) => isSame(one, now[i]));
    }
    if (!isRecord(shown) || !isRecord(now)) return shown === now;
    const names = Object.keys(shown);
    return (
      names.length === Object.keys(now).length &&
      names.every((name) => name in now && (generated.includes(name) || isSame(shown[name], now[name])))
    );
  }

  const isSameChange = (shown: PlannedChange, now: PlannedChange | undefined) =>
    now !== undefined &&
    isSameText(shown.resource_id, now.resource_id) &&
    isSame(shown.generated ?? [], now.generated) &&
    isSame(shown.old, now.old, now.generated) &&
    isSame(shown.new, now.new, now.generated);

  return (
    isSame(planned.events, done.events) &&
    planned.changes.length === done.changes.length &&
    planned.changes.every((shown, i) => isSameChange(shown, done.changes[i]))
  );
}
