import { randomFillSync } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const PAIRS = [...ALPHABET].flatMap((first) => [...ALPHABET].map((second) => first + second));
/** The largest multiple of the number of pairs within 16 bits; draws beyond it would be biased. */
const FAIR = 2 ** 16 - (2 ** 16 % PAIRS.length);

/** Randomness is drawn in bulk: one draw per id took 2.4% of a search's CPU. */
const pool = new Uint16Array(2_048);
let drawnBits = pool.length;

function random16(): number {
  if (drawnBits === pool.length) {
    randomFillSync(pool);
    drawnBits = 0;
  }
  const bits = pool[drawnBits] ?? 0;
  pool[drawnBits] = 0;
  drawnBits += 1;
  return bits;
}

/** Random base62 text, two characters per draw. Biased draws are repeated, so that all texts are equally likely. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    const bits = random16();
    if (bits < FAIR) text += PAIRS[bits % PAIRS.length];
  }
  return text.length === length ? text : text.slice(0, length);
}

/** A number as base62 text of a fixed width, so that texts sort like the numbers. */
export function base62(value: number, width: number): string {
  let rest = value;
  let text = '';
  while (text.length < width) {
    text = `${ALPHABET[rest % 62]}${text}`;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** The inverse of `base62`. */
export function readBase62(text: string): number {
  let value = 0;
  for (const character of text) value = value * 62 + ALPHABET.indexOf(character);
  return value;
}

/** Cached, because many ids are made in the same millisecond. */
let lastMs = Number.NaN;
let lastTime = '';

/** A time in milliseconds as 8 characters, so that texts sort by time. */
export function timeText(nowMs: number): string {
  if (nowMs !== lastMs) {
    lastMs = nowMs;
    lastTime = base62(nowMs, 8);
  }
  return lastTime;
}

const FORM = /^[a-z_]+_([0-9A-Za-z]{8})[0-9A-Za-z]{12}$/;

/** True if an id was made in that millisecond. */
export const isMadeAt = (id: string, at: Date): boolean => FORM.exec(id)?.[1] === timeText(at.getTime());

/** An opaque id with the noun's prefix, such as `brd_…`: time-ordered to the millisecond, then 71 random bits. */
export function newId(prefix: string, nowMs: number): string {
  return `${prefix}_${timeText(nowMs)}${randomBase62(12)}`;
}
