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

export const withoutUnseen = (text: string): string => text.replace(UNSEEN, '');

export const hasUnseen = (text: string): boolean => text.search(UNSEEN) >= 0;
