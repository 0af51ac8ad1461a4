import type { ByteRange } from '../../kit/engines/files/store.ts';

/** The part that a Range header requests. An unknown form, or several ranges, means the whole file (RFC 9110, 14.2). */
export type Part = ByteRange | 'whole' | 'unsatisfiable';

export function parseRange(range: string | undefined, sizeBytes: number): Part {
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range?.trim() ?? '') ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return 'whole';
  if (from === '') {
    const length = Math.min(Number(to), sizeBytes);
    return length === 0 ? 'unsatisfiable' : { start: sizeBytes - length, end: sizeBytes - 1 };
  }
  const start = Number(from);
  const end = to === '' ? sizeBytes - 1 : Math.min(Number(to), sizeBytes - 1);
  if (to !== '' && Number(to) < start) return 'whole';
  return start >= sizeBytes ? 'unsatisfiable' : { start, end };
}
