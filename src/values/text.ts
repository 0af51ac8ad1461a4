/**
 * A text in one piece of its own. V8 keeps joined text as its parts, walked again each time it is joined to more, and text
 * cut from another with the whole of that, which may be all that a visitor sent.
 */
export const whole = (text: string): string => Buffer.from(text).toString();

/**
 * Control characters, line separators, and formatting that nobody sees, such as a zero-width space or U+202E, which turns the
 * text after it around. The two joiners stay: Persian, Hindi and emoji are written with them.
 */
const UNSEEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export const withoutUnseen = (text: string): string => text.replace(UNSEEN, '');

export const hasUnseen = (text: string): boolean => text.search(UNSEEN) >= 0;
