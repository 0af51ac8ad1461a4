import { expect, inject, it } from 'vitest';
import { openRedis } from '../../src/kit/engines/redis/open.ts';
import { unique } from '../harness/app.ts';
import { startProxy } from '../harness/kit/proxy.ts';

const TIMEOUT_MS = 1_000;

/** As a process that compiles, or that its host gives no time. */
function stall(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

it('a Redis response that arrives while the process is stalled beyond its timeout is read', async () => {
  const redis = openRedis(inject('engines').redis, { timeoutMs: TIMEOUT_MS });
  try {
    await redis.ready();
    const key = unique('stalled');
    const remove = redis.script('return redis.call("DEL", KEYS[1])');
    // The server caches the script, so its text is not sent again after the stall.
    await remove([key], []);
    const alone = redis.client.incr(key);
    const many = Promise.all(Array.from({ length: 50 }, () => redis.use((client) => client.incr(key))));
    const first = redis.client.multi().incr(key).exec();
    const last = remove([key], []);
    stall(3 * TIMEOUT_MS);
    expect([await alone, await many, await first, await last]).toEqual([
      ...[1, Array.from({ length: 50 }, (_, i) => i + 2), [[null, 52]], 1],
    ]);
  } finally {
    await redis.close();
  }
});

it('a hanging Redis times out, even for a process that stalled while sending the command', async () => {
  const proxy = await startProxy(inject('engines').redis);
  const redis = openRedis(proxy.url, { timeoutMs: TIMEOUT_MS });
  try {
    await redis.ready();
    proxy.freeze();
    const answeredAfter = async () => {
      const from = performance.now();
      const answered = redis.client.get('x').catch((error: unknown) => error);
      stall(2 * TIMEOUT_MS);
      const failure = await answered;
      expect(String(failure)).toContain('timed out');
      return performance.now() - from;
    };
    for (const waited of [await answeredAfter(), await answeredAfter()]) {
      expect(waited).toBeGreaterThanOrEqual(TIMEOUT_MS - 1);
      expect(waited).toBeLessThan(20 * TIMEOUT_MS);
    }
  } finally {
    redis.client.disconnect();
    await proxy.close();
  }
});
