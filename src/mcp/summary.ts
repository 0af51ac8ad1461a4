import { isRecord } from '../values/wire.ts';

const NAMES = ['name', 'title', 'full_name', 'username', 'creator_email', 'value', 'status'];
const SHOWN = 20;

function lineOf(item: unknown): string {
  if (!isRecord(item)) return String(item);
  const id = item.id ?? item.pk ?? item.plan_id;
  const name = NAMES.map((field) => item[field]).find((value) => typeof value === 'string' && value !== '');
  return [id, name].filter((part) => part !== undefined && part !== null).join(' ');
}

/** An answer in one line, with the ids that a next call needs; whole it stands in `structuredContent`. */
export function summaryOf(answer: unknown): string {
  if (!isRecord(answer)) return 'Done.';
  const { data, pagination } = answer;
  if (typeof answer.plan_id === 'string') return `Planned, nothing is changed: ${answer.plan_id}. A person applies it.`;
  if (Array.isArray(data)) {
    const total = isRecord(pagination) ? pagination.total : data.length;
    const lines = data.slice(0, SHOWN).map(lineOf).filter(Boolean);
    const more = data.length > SHOWN ? ', …' : '';
    return `${data.length} of ${String(total)}${lines.length > 0 ? `: ${lines.join(', ')}${more}` : ''}`;
  }
  return lineOf(data ?? answer) || 'Done.';
}
