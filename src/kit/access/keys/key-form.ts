import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { base62, randomBase62 } from '../../values/ids.ts';

/** `svk_` is an API key, `svs_` a person's session in the web app. */
export type KeyPrefix = 'svk_' | 'svs_';
const RANDOM_LENGTH = 34;
const CHECKSUM_LENGTH = 6;
const PREFIX_LENGTH = 4;
const FORM = /^sv[ks]_[0-9A-Za-z]{40}$/;

const checksum = (prefix: string, random: string) => base62(crc32(`${prefix}${random}`), CHECKSUM_LENGTH);

/** A new API key: `svk_`, 34 random base62 characters (202 bits) and a checksum of 6; 44 characters in all. */
export function newApiKey(prefix: KeyPrefix = 'svk_'): string {
  const random = randomBase62(RANDOM_LENGTH);
  return `${prefix}${random}${checksum(prefix, random)}`;
}

/** True if the key's format and checksum are valid. Finds typos without a lookup. */
export function isWellFormedKey(key: string): boolean {
  if (!FORM.test(key)) return false;
  const prefix = key.slice(0, PREFIX_LENGTH);
  const random = key.slice(PREFIX_LENGTH, PREFIX_LENGTH + RANDOM_LENGTH);
  return key.slice(-CHECKSUM_LENGTH) === checksum(prefix, random);
}

/** The stored form of a key. A key has 202 random bits, so a plain digest cannot be reversed by guessing. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
