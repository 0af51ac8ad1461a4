import { repair } from './encoding.ts';

const FORMULA = /^="((?:[^"]|"")*)"$/;
const GUARD = /^'(?=[=+\-@\d])/;
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

/** `#NAME?`, `1.2E+06` and `10-Jun`: what a spreadsheet makes of `@ana`, `12E5` and `JUN10`. */
export const isChangedCode = (text: string): boolean =>
  isScientific(text) || /^#(?:[A-Z/0]+[!?]|N\/A|NV|#+)$|^\d{1,2}-[A-Z][a-z]{2}$|^[A-Z][a-z]{2}-\d{2}$/.test(text);

/** `1001.0` and `1,001`: an id that was written as a number. */
export const isNumberedId = (text: string): boolean => /^\d+\.0$|^\d{1,3}(?:[,'\u00a0\u202f]\d{3})+$/.test(text);

/** `1.001`: an id that was written as a number where a comma separates decimals. */
export const isPointedId = (text: string): boolean => /^\d{1,3}(?:\.\d{3})+$/.test(text);

/** Digits and the marks of a number, with nothing that only an id has. */
export const isNumericId = (text: string): boolean => /^\d[\d.,'\u00a0\u202f]*$/.test(text);

const PLACEHOLDER =
  /^(?:nan|n\/?a|\\n|null|nil|none|[-–—]+|\?+|tb[acd]|keine[rs]?|aucune?|ningun[oa]?|nessun[oa]?|geen|brak|nenhuma?|no code|0{4}([-/.])00\1?00(?:[T ]00:00(?::00)?(?:\.0+)?)?(?:Z|[+-]00:?00)?|00([-/.])00\2?0{4}(?: 00:00(?::00)?)?)$/i;

/** `n/a`, `-`, `TBD` or a day of zeros in place of a code, a handle, an id, an address or a time. */
export const isPlaceholder = (text: string): boolean => PLACEHOLDER.test(text);

const NO_VALUE = /^(?:#(?:n\/a|nv|na|ref!|bezug!|name\?|value!|wert!|div\/0!|num!|zahl!|null!)|\\n)$/i;

/** `#N/A`, `#REF!` or `\N`: no id and nobody's name, whatever stood there. */
export const isNoValue = (text: string): boolean => /^[#\\]/.test(text) && NO_VALUE.test(text);

/** `Oct-26` and `10-Jun`: what a spreadsheet makes of the id `10-26`. */
export const isDatedId = (text: string): boolean => /^(?:\d{1,2}-[A-Z][a-z]{2}|[A-Z][a-z]{2}-\d{2})$/.test(text);

/** More than the 15 digits that a spreadsheet keeps, the others zeros. */
export const isRounded = (text: string): boolean =>
  text.length > 15 && LONG_ZEROS.test(text) && /^0+$/.test(text.slice(15));
