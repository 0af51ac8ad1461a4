import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Db } from '../../engines/postgres/open.ts';
import type { Clock } from '../../values/clock.ts';
import { ignoreFailure } from '../../values/errors.ts';
import { hashKey, isWellFormedKey } from './key-form.ts';
import { type Caller, findCaller, updateLastUsed } from './queries.ts';

/** A key is read again in the background after this long, and is not believed past MAX_AGE_MS without Postgres. */
const REFRESH_AFTER_MS = 30_000;
const MAX_AGE_MS = 60_000;
/** Bounds look-ups of one unknown key; a key made meanwhile works after this long at the latest. */
const UNKNOWN_AGE_MS = 1_000;
const LAST_USED_EVERY_MS = 5_000;

interface Entry {
  caller: Caller | undefined;
  readAtMs: number;
}

export interface Keys {
  /** The key's caller, or undefined for a key that does not exist. 503 when Postgres is needed and down. */
  find(key: string): Promise<Caller | undefined>;
  /**
   * Reads the key again unless it was read within `maxAgeMs`. With Postgres down a caller read within a minute
   * stands, unless `must` says that it is known to be outdated.
   */
  verify(key: string, maxAgeMs: number, must?: boolean): Promise<Caller | undefined>;
  /** True while some cached key could still be served without Postgres. */
  hasUsable(): boolean;
  close(): Promise<void>;
}

/** Callers by key, cached: no request of a known key waits for Postgres. The digest is the cache key; keys are not kept. */
export function openKeys(db: Db, clock: Clock): Keys {
  const cache = new LRUCache<string, Entry>({ max: 100_000 });
  const reads = new Map<string, Promise<Caller | undefined>>();
  let used = new Map<string, Date>();

  const age = (entry: Entry) => clock.now().getTime() - entry.readAtMs;

  function read(key: string, digest: string): Promise<Caller | undefined> {
    const running = reads.get(digest);
    if (running) return running;
    const reading = findCaller(db, hashKey(key))
      .then((caller) => {
        cache.set(digest, { caller, readAtMs: clock.now().getTime() });
        return caller;
      })
      .finally(() => reads.delete(digest));
    reads.set(digest, reading);
    return reading;
  }

  function noteUse(caller: Caller | undefined): Caller | undefined {
    if (caller) used.set(caller.keyId, clock.now());
    return caller;
  }

  async function flushLastUsed(): Promise<void> {
    const batch = used;
    used = new Map();
    await updateLastUsed(db, batch).catch(ignoreFailure('last_used_at is a hint; the next use writes it again'));
  }
  const timer = setInterval(flushLastUsed, LAST_USED_EVERY_MS);
  timer.unref();

  return {
    find: async (key) => {
      if (!isWellFormedKey(key)) return undefined;
      const digest = hash('sha256', key, 'base64');
      const entry = cache.get(digest);
      if (!entry) return noteUse(await read(key, digest));
      const ageMs = age(entry);
      if (!entry.caller) return ageMs < UNKNOWN_AGE_MS ? undefined : noteUse(await read(key, digest));
      if (ageMs >= MAX_AGE_MS) return noteUse(await read(key, digest));
      if (ageMs >= REFRESH_AFTER_MS) {
        read(key, digest).catch(ignoreFailure('the cached caller stands for up to a minute; then the read is awaited'));
      }
      return noteUse(entry.caller);
    },
    verify: async (key, maxAgeMs, must = false) => {
      const digest = hash('sha256', key, 'base64');
      const entry = cache.get(digest);
      if (entry && !must && age(entry) < maxAgeMs) return entry.caller;
      try {
        return await read(key, digest);
      } catch (error) {
        if (!must && entry?.caller && age(entry) < MAX_AGE_MS) return entry.caller;
        throw error;
      }
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
