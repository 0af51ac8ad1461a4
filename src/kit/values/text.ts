/**
 * A flat copy of a string. V8 keeps concatenated strings as trees and slices as references to the whole source, which
 * may be all that a visitor sent.
 */
export const whole = (text: string): string => Buffer.from(text).toString();

/**
 * Control characters, line separators and invisible formatting, such as a zero-width space or U+202E, which reverses
 * the text after it. The two joiners are kept: Persian, Hindi and emoji need them.
 */
const UNSEEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The marks among them that a copied text brings along, without its control characters. */
const MARKS = /(?![\u200c\u200d])\p{Cf}/gu;
export const withoutMarks = (text: string): string => text.replace(MARKS, '');

export const withoutUnseen = (text: string): string => text.replace(UNSEEN, '');

export const hasUnseen = (text: string): boolean => text.search(UNSEEN) >= 0;

const SUSPECT = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|=\?/u;
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
/** RFC 2047: a mail program shows `=?utf-8?q?=0D=0ABcc:?=` as what it decodes to, also if a person typed it as a name. */
const ENCODED_WORD = /=(?=\?[^\s?]+\?[bq]\?[^?]*\?=)/gi;
const breakEncodedWords = (text: string): string => text.replace(ENCODED_WORD, '= ');

/**
 * A text that people typed, safe as the Subject or From of a mail, as a file name and as a cell of a table: it shows what
 * was meant and nothing else. Breaks become spaces; a cell of several `lines` keeps its line feeds and tabs.
 */
export function toPlainText(text: string, { lines = false }: { lines?: boolean } = {}): string {
  if (!SUSPECT.test(text)) return lines ? text : text.trim();
  const whole = text.toWellFormed();
  // An encoded word is broken last: what is not seen can stand within one until it is removed.
  if (!lines) return breakEncodedWords(withoutUnseen(whole.replace(BREAKS, ' '))).trim();
  const parts = whole.replace(/\r\n?|[\p{Zl}\p{Zp}]/gu, '\n').split(/([\n\t])/);
  return breakEncodedWords(parts.map((part) => (part === '\n' || part === '\t' ? part : withoutUnseen(part))).join(''));
}
