import { repair } from './encoding.ts';

const FORMULA = /^="((?:[^"]|"")*)"$/;
const GUARD = /^'(?=[=+\-@])/;
const LONG_ZEROS = /^[1-9]\d*0$/;

/** Mended cells are counted, because the review shows their number. */
export interface Repairs {
  count: number;
}

/** A cell as its tool meant it: without blanks around it, guards against formulas, and once wrongly decoded text. */
export function cleanCell(cell: string, repairs?: Repairs): string {
  if (cell === '') return '';
  let text = cell.trim();
  const first = text.charCodeAt(0);
  if (first === 0x3d) text = FORMULA.exec(text)?.[1]?.replaceAll('""', '"') ?? text;
  else if (first === 0x27) text = text.replace(GUARD, '');
  const mended = repair(text);
  if (mended === undefined) return text;
  if (repairs) repairs.count += 1;
  return mended.trim();
}

/** `5.84E+12`: digits that a spreadsheet has dropped. */
export const isScientific = (text: string): boolean => /^\d(?:[.,]\d+)?E\+?\d{1,3}$/i.test(text);

/** More than the 15 digits that a spreadsheet keeps, the others zeros. */
export const isRounded = (text: string): boolean =>
  text.length > 15 && LONG_ZEROS.test(text) && /^0+$/.test(text.slice(15));
