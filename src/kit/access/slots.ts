import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Redis } from '../engines/redis/open.ts';
import { ApiError, ignoreFailure } from '../values/errors.ts';
import { randomBase62 } from '../values/ids.ts';

const SLOTS = readFileSync(new URL('./slots.lua', import.meta.url), 'utf8');
const Reply = z.number();

/** A slot of a process that was killed is free after this time. */
const KEPT_MS = 15_000;

export interface Slot {
  /** True if the holder still has the slot. Call it more often than every few seconds. */
  keep(): Promise<boolean>;
  leave(): Promise<void>;
}

export interface Slots {
  /** Takes a slot. The same name has one at a time: a newer holder replaces the older one. Throws RATE_LIMITED. */
  take(owner: string, name: string, message: string): Promise<Slot>;
}

/** `most` slots for each owner, over all processes. */
export function openSlots(redis: Redis, kind: string, most: number): Slots {
  const runScript = redis.script(SLOTS);
  return {
    take: async (owner, name, message) => {
      const token = randomBase62(20);
      const ask = async (what: string) =>
        Reply.parse(await runScript([`${kind}:{${owner}}`], [what, name, token, KEPT_MS, most]));
      const reply = await ask('take');
      if (reply !== 1) {
        const headers = { 'retry-after': String(Math.max(1, Math.ceil(-reply / 1000))) };
        throw new ApiError('RATE_LIMITED', message, { headers });
      }
      return {
        keep: async () => (await ask('keep')) === 1,
        leave: async () => {
          await ask('leave').catch(ignoreFailure('the slot expires by itself'));
        },
      };
    },
  };
}
