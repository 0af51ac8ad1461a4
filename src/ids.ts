import { randomFillSync } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Drawn a page at a time: one draw an id was 2.4 % of a search's CPU. */
const pool = new Uint8Array(4_096);
let drawn = pool.length;

function randomByte(): number {
  if (drawn === pool.length) {
    randomFillSync(pool);
    drawn = 0;
  }
  const byte = pool[drawn] ?? 0;
  pool[drawn] = 0;
  drawn += 1;
  return byte;
}

/** Random base62 text: bytes of 248 and more are drawn again, so that every character is equally likely. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    const byte = randomByte();
    if (byte < 248) text += ALPHABET[byte % 62];
  }
  return text;
}

/** A number as base62 text of a fixed width, so that text order is number order. */
export function base62(value: number, width: number): string {
  let rest = value;
  let text = '';
  while (text.length < width) {
    text = `${ALPHABET[rest % 62]}${text}`;
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** The number that `base62` wrote. */
export function readBase62(text: string): number {
  let value = 0;
  for (const character of text) value = value * 62 + ALPHABET.indexOf(character);
  return value;
}

/** Ids of one millisecond come by the dozen. */
let lastMs = Number.NaN;
let lastTime = '';

function timeOf(nowMs: number): string {
  if (nowMs !== lastMs) {
    lastMs = nowMs;
    lastTime = base62(nowMs, 8);
  }
  return lastTime;
}

/** An opaque id with the noun's prefix, such as `brd_…`: time-ordered to the millisecond, then 71 random bits. */
export function newId(prefix: string, nowMs: number): string {
  return `${prefix}_${timeOf(nowMs)}${randomBase62(12)}`;
}
