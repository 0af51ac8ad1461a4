import { hash } from 'node:crypto';
import { canonicalJson, type Json } from '../../values/canonical.ts';
import { DAY_MS } from '../../values/duration.ts';
import type { Request } from '../keys/identify.ts';

/** Says that a call under an id of its caller's was paid, and which version it read. */
export interface Mark {
  /** A digest of the key and the caller's id. */
  id: string;
  /** A digest of the call: another one under the same id is not it. */
  digest: string;
  version: string;
  keptMs: number;
}

/** A paid call that may be repeated for nothing. */
export interface Repeatable {
  /** Filters, page and order. */
  call: Json;
  /** The version of the directory that it reads. */
  version: string;
}

/** Proxies send a request id with everything, so that it means less. */
const REQUEST_ID_MS = 10 * 60_000;

const shorten = (text: string, characters: number): string => hash('sha256', text, 'base64url').slice(0, characters);

/** A search under the same `Idempotency-Key` is the same call or refused; another one with the same request id is its own. */
export function makeMark(
  keyId: string,
  { idempotencyKey, requestId }: Pick<Request, 'idempotencyKey' | 'requestId'>,
  { call, version }: Repeatable,
): Mark {
  const digest = shorten(canonicalJson(call), 16);
  return idempotencyKey === undefined
    ? { id: shorten(`${keyId} request ${requestId} ${digest}`, 16), digest, version, keptMs: REQUEST_ID_MS }
    : { id: shorten(`${keyId} key ${idempotencyKey}`, 16), digest, version, keptMs: DAY_MS };
}
