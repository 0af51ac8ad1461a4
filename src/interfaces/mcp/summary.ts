import { isRecord } from '../../kit/values/wire.ts';

const NAMES = ['name', 'title', 'full_name', 'username', 'creator_email', 'value', 'status'];
const SHOWN = 20;

function toLine(item: unknown, isUntrusted: (field: string) => boolean): string {
  if (!isRecord(item)) return String(item);
  const id = item.id ?? item.pk ?? item.plan_id;
  const name = NAMES.filter((field) => !isUntrusted(field))
    .map((field) => item[field])
    .find((value) => typeof value === 'string' && value !== '');
  return [id, name].filter((part) => part !== undefined && part !== null).join(' ');
}

/**
 * A response in one line for `?summary=1`, with the ids that the next call needs; `structuredContent` has all of it.
 * Untrusted text is omitted, because a line has no fields to mark it by.
 */
export function summarize(answer: unknown, untrusted: readonly string[]): string {
  if (!isRecord(answer)) return 'Done.';
  const { data, pagination } = answer;
  if (typeof answer.plan_id === 'string') return `Planned, nothing is changed: ${answer.plan_id}. A person applies it.`;
  if (Array.isArray(data)) {
    const total = isRecord(pagination) ? pagination.total : data.length;
    const lines = data
      .slice(0, SHOWN)
      .map((item) => toLine(item, (field) => untrusted.includes(`data[].${field}`)))
      .filter(Boolean);
    const more = data.length > SHOWN ? ', …' : '';
    return `${data.length} of ${String(total)}${lines.length > 0 ? `: ${lines.join(', ')}${more}` : ''}`;
  }
  return toLine(data ?? answer, (field) => untrusted.includes(`data.${field}`)) || 'Done.';
}
