import { repair } from './encoding.ts';

const FORMULA = /^="((?:[^"]|"")*)"$/;
const GUARD = /^'(?=[=+\-@])/;
const LONG_ZEROS = /^[1-9]\d*0$/;

/** Characters that nobody sees and that make two of one id. Those that join letters and emoji stay. */
const UNSEEN = /[\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/;
const UNSEEN_ALL = new RegExp(UNSEEN, 'g');

/** A cell as its tool meant it: without unseen characters and blanks around it, guards against formulas, and once wrongly decoded text. */
export function cleanCell(cell: string, isPlain = false): string {
  if (cell === '') return '';
  let text = cell.trim();
  const first = text.charCodeAt(0);
  if (first === 0x3d) text = FORMULA.exec(text)?.[1]?.replaceAll('""', '"') ?? text;
  else if (first === 0x27) text = text.replace(GUARD, '');
  if (isPlain) return text;
  if (UNSEEN.test(text)) text = text.replace(UNSEEN_ALL, '').trim();
  return repair(text)?.trim() ?? text;
}

/** `5.84E+12`: digits that a spreadsheet has dropped. */
export const isScientific = (text: string): boolean => /^\d(?:[.,]\d+)?E\+?\d{1,3}$/i.test(text);

/** More than the 15 digits that a spreadsheet keeps, the others zeros. */
export const isRounded = (text: string): boolean =>
  text.length > 15 && LONG_ZEROS.test(text) && /^0+$/.test(text.slice(15));
