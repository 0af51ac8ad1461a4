import { analyse } from 'chardet';

export type Stream = () => AsyncIterable<Uint8Array>;

const SAMPLE_BYTES = 64 * 1024;
/** The encodings of people's files by chardet's names for them and those of `TextDecoder`. */
const KNOWN: Readonly<Record<string, string>> = {
  'windows-1250': 'windows-1250',
  'windows-1251': 'windows-1251',
  'windows-1252': 'windows-1252',
  'windows-1253': 'windows-1253',
  'windows-1254': 'windows-1254',
  'windows-1255': 'windows-1255',
  'windows-1256': 'windows-1256',
  'ISO-8859-1': 'windows-1252',
  'ISO-8859-2': 'windows-1250',
  'ISO-8859-5': 'windows-1251',
  'ISO-8859-6': 'windows-1256',
  'ISO-8859-7': 'windows-1253',
  'ISO-8859-8': 'windows-1255',
  'ISO-8859-9': 'windows-1254',
  Shift_JIS: 'shift_jis',
  'EUC-JP': 'euc-jp',
  'EUC-KR': 'euc-kr',
  Big5: 'big5',
  GB18030: 'gb18030',
};

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
  return isUtf8 ? 'utf-8' : guessEncoding(Buffer.concat(sample));
}

/** Encodings of one byte a letter whose words are written without ASCII, with the letters that they add. */
const OWN_LETTERS: readonly (readonly [string, RegExp, RegExp])[] = [
  ['windows-1255', /[א-ת]/gu, /[א-ת]/gu],
  ['windows-1251', /\p{Script=Cyrillic}/gu, /\p{Ll}/gu],
  ['windows-1253', /\p{Script=Greek}/gu, /\p{Ll}/gu],
  ['windows-1256', /\p{Script=Arabic}/gu, /\p{Script=Arabic}/gu],
];

/** Words of Cyrillic, Greek, Hebrew and Arabic have no ASCII between their letters, as those of Latin languages do. */
function findScript(sample: Buffer, ranked: readonly string[]): string | undefined {
  let [foreign, beside] = [0, 0];
  sample.forEach((byte, at) => {
    if (byte < 0x80) return;
    foreign += 1;
    if ((sample[at - 1] ?? 0) >= 0x80 || (sample[at + 1] ?? 0) >= 0x80) beside += 1;
  });
  if (foreign === 0 || beside / foreign < 0.85) return undefined;
  const possible = OWN_LETTERS.flatMap(([encoding, letters, common]) => {
    const text = new TextDecoder(encoding).decode(sample).replace(/[\0-\x7f]/g, '');
    const own = text.match(letters)?.length ?? 0;
    const isUsual = (text.match(common)?.length ?? 0) >= own / 2;
    return own >= 0.95 * text.length && isUsual ? [encoding] : [];
  });
  return ranked.find((encoding) => possible.includes(encoding)) ?? possible[0];
}

function guessEncoding(sample: Buffer): string {
  const guesses = analyse(sample);
  const ranked = guesses.flatMap(({ name }) => KNOWN[name] ?? []);
  const isWide = (guesses[0]?.confidence ?? 0) >= 50;
  const script = isWide ? undefined : findScript(sample, ranked);
  if (script !== undefined) return script;
  for (const { name } of guesses) {
    const known = KNOWN[name];
    if (known !== undefined) return known;
  }
  return 'windows-1252';
}

/** The stream as UTF-8, without a byte order mark. */
export function decode(open: Stream, encoding: string): Stream {
  if (encoding === 'utf-8') return open;
  return async function* decoded() {
    const decoder = new TextDecoder(encoding);
    for await (const chunk of open()) {
      const text = decoder.decode(chunk, { stream: true });
      if (text !== '') yield Buffer.from(text);
    }
    const rest = decoder.decode();
    if (rest !== '') yield Buffer.from(rest);
  };
}

export function isEncoding(name: string): boolean {
  try {
    return new TextDecoder(name).encoding !== '';
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
