/** A count that takes longer is remembered. */
export const SLOW_MS = 250;
/** A count is used for this many times as long as it took, so that counting takes at most a tenth of one connection. */
const TIMES_AS_LONG = 10;
const LONGEST_MS = 60_000;
const MOST = 1_000;

interface SlowCount<Value> {
  startedAt: number;
  value: Promise<Value>;
  /** Undefined while it counts. */
  tookMs?: number;
}

function isUsable({ startedAt, tookMs }: SlowCount<unknown>, now: number): boolean {
  if (tookMs === undefined) return now - startedAt > SLOW_MS;
  return tookMs > SLOW_MS && now - startedAt - tookMs < Math.min(tookMs * TIMES_AS_LONG, LONGEST_MS);
}

/**
 * Remembers what took long to count, by key. While it is being counted, later callers wait for the same count, once it is
 * known to be slow.
 */
export function openSlowCounts<Value>(): (key: string, count: () => Promise<Value>) => Promise<Value> {
  const counts = new Map<string, SlowCount<Value>>();
  return async (key, count) => {
    const cachedCount = counts.get(key);
    const startedAt = performance.now();
    if (cachedCount && isUsable(cachedCount, startedAt)) return await cachedCount.value;
    const current: SlowCount<Value> = { startedAt, value: count() };
    counts.delete(key);
    counts.set(key, current);
    const [oldest] = counts.keys();
    if (counts.size > MOST && oldest !== undefined) counts.delete(oldest);
    try {
      return await current.value;
    } finally {
      current.tookMs = performance.now() - startedAt;
      if (current.tookMs <= SLOW_MS && counts.get(key) === current) counts.delete(key);
    }
  };
}
