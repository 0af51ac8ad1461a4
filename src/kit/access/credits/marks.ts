import { hash } from 'node:crypto';
import { canonicalJson, type Json } from '../../values/canonical.ts';
import { DAY_MS } from '../../values/duration.ts';
import type { Request } from '../keys/identify.ts';

/** Says that a call under one or two ids of its caller's was paid, and which version it read. */
export interface Mark {
  /** Digests of the key and the caller's id, and how long each is kept. */
  ids: readonly { id: string; keptMs: number }[];
  /** A digest of the call: another one under the same id is not it. */
  digest: string;
  version: string;
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

/** Each id counts by itself. A search under the same `Idempotency-Key` is the same call or refused; another one with the same request id is its own. */
export function makeMark(
  keyId: string,
  { idempotencyKey, requestId, isOwnId }: Pick<Request, 'idempotencyKey' | 'requestId' | 'isOwnId'>,
  { call, version }: Repeatable,
): Mark {
  const digest = shorten(canonicalJson(call), 16);
  const byKey = { id: shorten(`${keyId} key ${idempotencyKey}`, 16), keptMs: DAY_MS };
  const byRequest = { id: shorten(`${keyId} request ${requestId} ${digest}`, 16), keptMs: REQUEST_ID_MS };
  const ids = [...(idempotencyKey === undefined ? [] : [byKey]), ...(isOwnId === true ? [byRequest] : [])];
  return { ids, digest, version };
}
