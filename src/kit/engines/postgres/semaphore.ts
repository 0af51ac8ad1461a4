import { unavailable } from '../../values/errors.ts';

/** Longer than most exports take. A longer wait means that a running export will not end soon. */
const WAIT_MS = 10_000;
const RETRY_AFTER_SECONDS = 10;

/** What a caller waits for who finds every slot taken. */
export const CAPACITY = 'Capacity for another export';

export interface Semaphore {
  /**
   * Resolves when the brand may begin, with a function that releases its slot. Throws SERVICE_UNAVAILABLE when that
   * takes too long.
   */
  take(brandId: string): Promise<() => void>;
}

interface Waiting {
  brandId: string;
  begin(): void;
}

/**
 * Limits concurrent exports to `max`, first come, first served, and to one per brand, so that slow exports of one brand
 * do not block other brands.
 */
export function openSemaphore(max: number): Semaphore {
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
    const start = Promise.withResolvers<void>();
    const one: Waiting = { brandId, begin: start.resolve };
    const late = setTimeout(() => {
      waiting.delete(one);
      start.reject(unavailable(CAPACITY, new Error('The running exports did not end.'), RETRY_AFTER_SECONDS));
    }, WAIT_MS).unref();
    waiting.add(one);
    begin();
    await start.promise;
    clearTimeout(late);
    return () => end(brandId);
  }
  return { take };
}
