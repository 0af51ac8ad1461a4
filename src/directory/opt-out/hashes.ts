import { foldAccents } from '../../kit/values/fold.ts';
import { keyedHash } from '../../kit/values/secrets.ts';

export const KINDS = ['pk', 'username', 'email'] as const;
export type Kind = (typeof KINDS)[number];

/** A name of one creator, or of several with the same email address. */
export type Name = { kind: 'pk'; value: number } | { kind: 'username' | 'email'; value: string };

/** The fields of a row that may name its creator. */
export interface NameFields {
  pk: number;
  username: string;
  extracted_email?: string | null | undefined;
}

export const TAG_BITS = 24;
const SEEDS: Record<Kind, number> = { pk: 1, username: 2, email: 3 };
/** Two characters a word. Of a longer text only the beginning is hashed. */
const words = new Uint32Array(256);

/** HalfSipHash-2-4 of the first `count` words: a keyed hash that costs a twentieth of an HMAC. */
function sipHash(first: number, second: number, count: number): number {
  let v0 = first;
  let v1 = second;
  let v2 = 0x6c796765 ^ first;
  let v3 = 0x74656462 ^ second;
  const last = count + 2;
  for (let i = 0; i < last; i += 1) {
    const word = i < count ? (words[i] ?? 0) : i === count ? count << 24 : 0;
    if (i === count + 1) v2 ^= 0xff;
    v3 ^= word;
    for (let round = i === count + 1 ? 4 : 2; round > 0; round -= 1) {
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v0 = (v0 << 16) | (v0 >>> 16);
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
    }
    v0 ^= word;
  }
  return v1 ^ v3;
}

export interface Hashes {
  /** The hash that is stored. */
  hashName(name: Name): Buffer;
  /** `TAG_BITS` of a cheaper hash: names with different tags are different. */
  tagName(name: Name): number;
  tagPk(pk: number): number;
  tagText(kind: 'username' | 'email', foldedText: string): number;
}

/** The form in which a name is compared: as the index folds the field. */
const foldName = ({ kind, value }: Name): string => (kind === 'pk' ? String(value) : foldAccents(value));

export function openHashes(key: Buffer): Hashes {
  const sip = keyedHash(key, 'tag');
  const [first, second] = [sip.readInt32LE(0), sip.readInt32LE(4)];
  const tagWords = (kind: Kind, count: number) => sipHash(first ^ SEEDS[kind], second, count) >>> (32 - TAG_BITS);

  function tagPk(pk: number): number {
    words[0] = pk;
    words[1] = Math.floor(pk / 2 ** 32);
    return tagWords('pk', 2);
  }

  function tagText(kind: 'username' | 'email', foldedText: string): number {
    const length = Math.min(foldedText.length, words.length * 2);
    for (let i = 0; i < length; i += 2) {
      words[i >> 1] = foldedText.charCodeAt(i) | ((i + 1 < length ? foldedText.charCodeAt(i + 1) : 0) << 16);
    }
    return tagWords(kind, (length + 1) >> 1);
  }

  return {
    hashName: (name) => keyedHash(key, `${name.kind}:${foldName(name)}`),
    tagName: (name) => (name.kind === 'pk' ? tagPk(name.value) : tagText(name.kind, foldName(name))),
    tagPk,
    tagText,
  };
}
