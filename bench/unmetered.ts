import { METER } from '../src/kit/access/credits/meter.ts';
import type { Redis } from '../src/kit/engines/redis/open.ts';
import { DAY_MS } from '../src/kit/values/duration.ts';

/** The positions of the price and the period's start among meter.lua's arguments. */
const PRICE = 4;
const PERIOD_START = 6;

/** A Redis that answers at once, in this process, like meter.lua for a key with ample credits and calls. */
export function answerInProcess(redis: Redis): Redis {
  return {
    ...redis,
    script: (source) => {
      if (source !== METER) return redis.script(source);
      return async (_keys, args) => {
        const [price, period, day] = [
          args[PRICE] ?? 0,
          String(args[PERIOD_START] ?? 0),
          Math.floor(Date.now() / DAY_MS),
        ];
        return [1, Date.now() + 60_000, 'ok', 1_000_000_000, 1_000_000_000, price, period, '', 0, day, 0, ''];
      };
    },
  };
}
