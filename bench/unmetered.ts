import type { Redis } from '../src/engines/redis/open.ts';

/** The positions of the price and the period's start among meter.lua's arguments. */
const PRICE = 4;
const PERIOD_START = 6;

/** A Redis that answers at once, in this process, like meter.lua for a key with ample credits and calls. */
export function answerInProcess(redis: Redis): Redis {
  return {
    ...redis,
    script: () => async (_keys, args) => {
      const price = args[PRICE] ?? 0;
      return [1, Date.now() + 60_000, 'ok', 1_000_000_000, 1_000_000_000, price, String(args[PERIOD_START] ?? 0)];
    },
  };
}
