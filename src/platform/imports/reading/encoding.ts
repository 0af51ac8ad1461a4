import { openDecoder } from './code-pages.ts';
import { findEncoding } from './letters.ts';

export type Stream = () => AsyncIterable<Uint8Array>;

const SAMPLE_BYTES = 8 * 1024;
/** UTF-16 without a mark has a zero in every other byte of Latin text, as in separators and digits. */
function findWide(head: Uint8Array): string | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  const zeros = [0, 0];
  const length = Math.min(head.length, 4_096);
  for (let at = 0; at < length; at += 1) if (head[at] === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  if (odd > length / 8 && even < odd / 8) return 'utf-16le';
  return even > length / 8 && odd < even / 8 ? 'utf-16be' : undefined;
}

/** The text around bytes that are not ASCII, by which an encoding is told. */
function collectSample(chunk: Uint8Array, sample: Uint8Array[], length: number): number {
  let at = 0;
  let total = length;
  while (at < chunk.length && total < SAMPLE_BYTES) {
    while (at < chunk.length && (chunk[at] ?? 0) < 0x80) at += 1;
    if (at >= chunk.length) break;
    const part = chunk.slice(Math.max(0, at - 16), at + 48);
    sample.push(part);
    total += part.length;
    at += 48;
  }
  return total;
}

/** Most bytes that are not ASCII make letters of UTF-8, as they do in no other encoding by chance. */
function isMostlyUtf8(sample: Uint8Array): boolean {
  const text = Buffer.from(sample).toString('latin1');
  const whole = text.match(/[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/g) ?? [];
  const bytes = whole.reduce((sum, letter) => sum + letter.length, 0);
  const others = (text.match(/[\x80-\xff]/g) ?? []).length - bytes;
  return whole.length > others;
}

/** The encoding of a stream: UTF-8 only if all of it is. */
export async function detectEncoding(open: Stream): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const sample: Uint8Array[] = [];
  let length = 0;
  let isFirst = true;
  let isUtf8 = true;
  for await (const chunk of open()) {
    if (isFirst) {
      const wide = findWide(chunk);
      if (wide !== undefined) return wide;
      isFirst = false;
    }
    if (length < SAMPLE_BYTES) length = collectSample(chunk, sample, length);
    try {
      if (isUtf8) decoder.decode(chunk, { stream: true });
    } catch {
      isUtf8 = false;
    }
    if (!isUtf8 && length >= SAMPLE_BYTES) break;
  }
  try {
    if (isUtf8) decoder.decode();
  } catch {
    isUtf8 = false;
  }
  if (isUtf8) return 'utf-8';
  const letters = Buffer.concat(sample);
  // A few bytes of another encoding among UTF-8 are right in windows-1252, and each cell of the rest is repaired.
  return isMostlyUtf8(letters) ? 'windows-1252' : findEncoding(letters);
}

/** Without zero bytes, which no database takes in a text and nobody sees. */
const withoutZeros = (open: Stream): Stream =>
  async function* filled() {
    for await (const chunk of open()) yield chunk.includes(0) ? chunk.filter((byte) => byte !== 0) : chunk;
  };

/** The stream as UTF-8, without a byte order mark. */
export function decode(open: Stream, encoding: string): Stream {
  if (encoding === 'utf-8') return withoutZeros(open);
  return withoutZeros(async function* decoded() {
    const decoder = openDecoder(encoding);
    for await (const chunk of open()) {
      const text = decoder.decode(chunk, { stream: true });
      if (text !== '') yield Buffer.from(text);
    }
    const rest = decoder.decode();
    if (rest !== '') yield Buffer.from(rest);
  });
}

export function isEncoding(name: string): boolean {
  try {
    openDecoder(name);
    return true;
  } catch {
    return false;
  }
}

/** The bytes of windows-1252 by their characters. */
const LATIN = new Map<string, number>(
  Array.from(
    { length: 256 },
    (_, byte) => [new TextDecoder('windows-1252').decode(Uint8Array.of(byte)), byte] as const,
  ),
);
const STRICT = new TextDecoder('utf-8', { fatal: true });
const SUSPECT = /[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u0178\u0192-\u02dc\u2013-\u2122]/;

/** Text that was UTF-8 and once decoded as windows-1252, as it was; undefined for any other text. */
export function repair(text: string): string | undefined {
  if (!SUSPECT.test(text)) return undefined;
  const bytes: number[] = [];
  for (const character of text) {
    const byte = LATIN.get(character);
    if (byte === undefined) return undefined;
    bytes.push(byte);
  }
  try {
    return STRICT.decode(Uint8Array.from(bytes));
  } catch {
    return undefined;
  }
}
