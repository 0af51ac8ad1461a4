/**
 * A text in one piece of its own. V8 keeps joined text as its parts, walked again each time it is joined to more, and text
 * cut from another with the whole of that, which may be all that a visitor sent.
 */
export const whole = (text: string): string => Buffer.from(text).toString();
