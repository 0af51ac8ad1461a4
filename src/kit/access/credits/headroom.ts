import type { Caller } from '../keys/queries.ts';
import { getRateLimit, type Metered } from './meter.ts';

/** Work starts before its debit only if this many calls of the window, and credits for as many searches, are left. */
const CALLS_LEFT = 20;
const PRICES_LEFT = 100;

interface Standing {
  calls: number;
  windowEndMs: number;
  remaining: number;
}

/** Remembers how far each caller was from its limits at its last call. This is an estimate; the debit decides. */
export interface Headroom {
  note(caller: Caller, metered: Metered): void;
  forget(caller: Caller): void;
  /** True if a call at this price will almost certainly be admitted. */
  isAmple(caller: Caller, price: number, nowMs: number): boolean;
}

export function openHeadroom(): Headroom {
  const standings = new WeakMap<Caller, Standing>();
  return {
    note: (caller, { calls, windowEndMs, credits }) => {
      if (credits) standings.set(caller, { calls, windowEndMs, remaining: credits.remaining });
    },
    forget: (caller) => void standings.delete(caller),
    isAmple: (caller, price, nowMs) => {
      const standing = standings.get(caller);
      if (!standing || standing.remaining < PRICES_LEFT * price) return false;
      return standing.calls <= getRateLimit(caller) - CALLS_LEFT || standing.windowEndMs <= nowMs;
    },
  };
}
