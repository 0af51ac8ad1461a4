import { isPlaceholder } from './cells.ts';
import type { Kind } from './kinds.ts';
import type { Row } from './rows.ts';
import { findFields } from './words.ts';

const ROWS_BELOW = 20;
const LEAST_TYPED = 2;
const LEAST_NAMED = 2;

/** A hint such as `(text)` or `[ISO]` names no field. */
const isHint = (cell: string): boolean => /^[([{<].*[)\]}>]$/.test(cell);

/** The row names fields, and others than the header does: another table begins. */
function namesOthers(of: Kind, headers: readonly string[], cells: readonly string[]): boolean {
  const named = cells.flatMap((cell, at) => {
    const fields = isHint(cell.trim()) ? [] : findFields(of, cell.trim());
    return fields.length === 0 ? [] : [{ fields, ofHeader: findFields(of, headers[at] ?? '') }];
  });
  const isOther = ({ fields, ofHeader }: (typeof named)[number]) =>
    ofHeader.length > 0 && !fields.some((field) => ofHeader.includes(field));
  return named.length >= LEAST_NAMED && named.some(isOther);
}

/**
 * The line below the header, if it describes the columns as some tools do: words alone, also where each line further down
 * has a number, a time or an address. Null for any other line.
 */
export function findDescriptionLine(
  of: Kind,
  headers: readonly string[],
  [first, ...below]: readonly Row[],
  isTyped: (cell: string) => boolean,
): number | null {
  const others = below.slice(0, ROWS_BELOW);
  if (!first || others.length === 0) return null;
  const isWords = (cell: string) => /\p{L}/u.test(cell) && !isPlaceholder(cell);
  const filled = first.cells.map((cell) => cell.trim()).filter((cell) => cell !== '');
  if (filled.some(isTyped) || namesOthers(of, headers, first.cells)) return null;
  const typed = first.cells.filter((cell, at) => {
    const values = others.map(({ cells }) => (cells[at] ?? '').trim()).filter((value) => value !== '');
    return isWords(cell.trim()) && values.length > 0 && values.every(isTyped);
  });
  return typed.length >= LEAST_TYPED ? first.line : null;
}
