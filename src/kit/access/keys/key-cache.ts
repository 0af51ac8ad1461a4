import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Db } from '../../engines/postgres/open.ts';
import type { Clock } from '../../values/clock.ts';
import { type ApiError, ignoreFailure, unavailable } from '../../values/errors.ts';
import { within } from '../../values/within.ts';
import { type Caller, findCaller, updateLastUsed } from './callers.ts';
import { hashKey, isWellFormedKey } from './key-form.ts';

/** A key is read again in the background after this long. Without Postgres it is trusted until MAX_AGE_MS. */
const REFRESH_AFTER_MS = 30_000;
const MAX_AGE_MS = 60_000;
/** Limits lookups of one unknown key. A key created in the meantime works after this long at the latest. */
const UNKNOWN_AGE_MS = 1_000;
/** Charges are settled for recently used keys, so this is also how long usage may lag. */
const LAST_USED_EVERY_MS = 1_000;
/** The longest that a caller waits for a key to be read, whatever PostgreSQL does. */
const READ_WITHIN_MS = 2_000;
const KNOWN_KEYS = 100_000;
/** A separate cache, so that invented keys do not evict real ones. */
const UNKNOWN_KEYS = 10_000;

interface Entry {
  caller: Caller | undefined;
  readAtMs: number;
}

export interface Keys {
  /**
   * The key's caller; undefined if the key does not exist. Throws SERVICE_UNAVAILABLE if Postgres is needed and down.
   * `refuse` may return an error to throw before an unknown key is looked up.
   */
  find(key: string, refuse?: () => ApiError | undefined): Promise<Caller | undefined>;
  /**
   * Reads the key again unless it was read within `maxAgeMs`. With Postgres down, a caller read within the last minute
   * is still valid, unless `must` says that it is outdated.
   */
  verify(key: string, maxAgeMs: number, must?: boolean): Promise<Caller | undefined>;
  /** The caller of a key that was read lately; undefined if Postgres might say otherwise. */
  peek(key: string): Caller | undefined;
  /** True if any cached key can still be used without Postgres. */
  hasUsable(): boolean;
  close(): Promise<void>;
}

/**
 * Caches callers by key, so that requests with a known key never wait for Postgres. The cache key is the digest; keys
 * are not kept.
 */
export function openKeys(db: Db, clock: Clock): Keys {
  const cache = new LRUCache<string, Entry>({ max: KNOWN_KEYS });
  const unknown = new LRUCache<string, Entry>({ max: UNKNOWN_KEYS });
  const readEntry = (digest: string) => cache.get(digest) ?? unknown.get(digest);
  const reads = new Map<string, Promise<Caller | undefined>>();
  let lastUses = new Map<string, Date>();

  const age = (entry: Entry) => clock.now().getTime() - entry.readAtMs;

  function read(key: string, digest: string): Promise<Caller | undefined> {
    const running = reads.get(digest);
    if (running) return running;
    const reading = within(READ_WITHIN_MS, findCaller(db, hashKey(key)), () =>
      unavailable('PostgreSQL', new Error(`A key was not read within ${READ_WITHIN_MS} ms.`)),
    )
      .then((caller) => {
        const [into, outOf] = caller ? [cache, unknown] : [unknown, cache];
        into.set(digest, { caller, readAtMs: clock.now().getTime() });
        outOf.delete(digest);
        return caller;
      })
      .finally(() => reads.delete(digest));
    reads.set(digest, reading);
    return reading;
  }

  function noteUse(caller: Caller | undefined): Caller | undefined {
    if (caller) lastUses.set(caller.keyId, clock.now());
    return caller;
  }

  async function flushLastUsed(): Promise<void> {
    const batch = lastUses;
    lastUses = new Map();
    await updateLastUsed(db, batch).catch(ignoreFailure('last_used_at is a hint; the next use writes it again'));
  }
  const timer = setInterval(flushLastUsed, LAST_USED_EVERY_MS);
  timer.unref();

  return {
    find: async (key, refuse = () => undefined) => {
      if (!isWellFormedKey(key)) return undefined;
      const digest = hash('sha256', key, 'base64');
      const entry = readEntry(digest);
      const ageMs = entry ? age(entry) : Number.POSITIVE_INFINITY;
      if (!entry?.caller) {
        if (ageMs < UNKNOWN_AGE_MS) return undefined;
        const refusal = refuse();
        if (refusal) throw refusal;
        return noteUse(await read(key, digest));
      }
      if (ageMs >= MAX_AGE_MS) return noteUse(await read(key, digest));
      if (ageMs >= REFRESH_AFTER_MS) {
        read(key, digest).catch(
          ignoreFailure('the cached caller is valid for up to a minute; then the read is awaited'),
        );
      }
      return noteUse(entry.caller);
    },
    verify: async (key, maxAgeMs, must = false) => {
      const digest = hash('sha256', key, 'base64');
      const entry = readEntry(digest);
      if (entry && !must && age(entry) < maxAgeMs) return entry.caller;
      try {
        return await read(key, digest);
      } catch (error) {
        if (!must && entry?.caller && age(entry) < MAX_AGE_MS) return entry.caller;
        throw error;
      }
    },
    peek: (key) => {
      const entry = cache.get(hash('sha256', key, 'base64'));
      return entry && age(entry) < REFRESH_AFTER_MS ? noteUse(entry.caller) : undefined;
    },
    hasUsable: () => {
      for (const entry of cache.values()) if (entry.caller && age(entry) < MAX_AGE_MS) return true;
      return false;
    },
    close: async () => {
      clearInterval(timer);
      await flushLastUsed();
    },
  };
}
