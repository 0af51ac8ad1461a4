import { unavailable } from '../../values/errors.ts';

/** Longer than most exports take. Whoever waits longer has one before them that will not end soon. */
const WAIT_MS = 10_000;
const RETRY_AFTER_SECONDS = 10;

export interface Turns {
  /** Resolves when it is the brand's turn, with what ends the turn; 503 when that takes too long. */
  take(brandId: string): Promise<() => void>;
}

interface Waiting {
  brandId: string;
  begin(): void;
}

/**
 * Turns at something of which there are `max`: first come, first served, but a brand has one at a time. However many of
 * its turns do not end, other brands have theirs.
 */
export function openTurns(max: number): Turns {
  const waiting = new Set<Waiting>();
  const running = new Set<string>();

  function begin(): void {
    for (const one of waiting) {
      if (running.size >= max) return;
      if (running.has(one.brandId)) continue;
      waiting.delete(one);
      running.add(one.brandId);
      one.begin();
    }
  }
  function end(brandId: string): void {
    running.delete(brandId);
    begin();
  }
  async function take(brandId: string): Promise<() => void> {
    const turn = Promise.withResolvers<void>();
    const one: Waiting = { brandId, begin: turn.resolve };
    const late = setTimeout(() => {
      waiting.delete(one);
      turn.reject(unavailable('Room for another export', new Error('Others did not end.'), RETRY_AFTER_SECONDS));
    }, WAIT_MS).unref();
    waiting.add(one);
    begin();
    await turn.promise;
    clearTimeout(late);
    return () => end(brandId);
  }
  return { take };
}
