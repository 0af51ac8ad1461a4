import { repair } from './encoding.ts';

const FORMULA = /^="((?:[^"]|"")*)"$/;
const GUARD = /^'(?=[=+\-@])/;
const LONG_ZEROS = /^[1-9]\d*0$/;

/** A cell as its tool meant it: without blanks around it, guards against formulas, and once wrongly decoded text. */
export function cleanCell(cell: string, isPlain = false): string {
  if (cell === '') return '';
  let text = cell.trim();
  const first = text.charCodeAt(0);
  if (first === 0x3d) text = FORMULA.exec(text)?.[1]?.replaceAll('""', '"') ?? text;
  else if (first === 0x27) text = text.replace(GUARD, '');
  return isPlain ? text : (repair(text)?.trim() ?? text);
}

/** `5.84E+12`: digits that a spreadsheet has dropped. */
export const isScientific = (text: string): boolean => /^\d(?:[.,]\d+)?E\+?\d{1,3}$/i.test(text);

/** More than the 15 digits that a spreadsheet keeps, the others zeros. */
export const isRounded = (text: string): boolean =>
  text.length > 15 && LONG_ZEROS.test(text) && /^0+$/.test(text.slice(15));
