import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Redis } from '../../kit/engines/redis/open.ts';
import { CLICK_CLAIM, CLICKS_PAUSED } from './sums.ts';

const PAUSE_LUA = readFileSync(new URL('./pause.lua', import.meta.url), 'utf8');
const PAUSE_MS = 30_000;
const RENEW_EVERY_MS = 5_000;
const LOOK_EVERY_MS = 50;

/** Waits until the batch that was begun before the pause is inserted. */
async function waitUntilInserted(redis: Redis): Promise<void> {
  const readClaim = () => redis.use((client) => client.get(CLICK_CLAIM));
  const firstClaim = await readClaim();
  const end = performance.now() + PAUSE_MS;
  while (firstClaim !== null && (await readClaim()) === firstClaim) {
    if (performance.now() > end) throw new Error('A batch of clicks is not acknowledged; is a worker running?');
    await pause(LOOK_EVERY_MS);
  }
}

/** Runs `work` while no click of these brands is inserted into ClickHouse; their clicks wait in Redis. */
export async function withoutClicks(
  redis: Redis,
  brandIds: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  const script = redis.script(PAUSE_LUA);
  const keepPaused = async (how: 'begin' | 'renew') =>
    (await script([CLICKS_PAUSED], [how, PAUSE_MS, ...brandIds])) === 1;
  let isPaused = await keepPaused('begin');
  const assertPaused = async () => {
    isPaused &&= await keepPaused('renew');
    if (!isPaused) throw new Error('Clicks were inserted during the rebuild; run it again.');
  };
  const renewal = setInterval(() => {
    assertPaused().catch(() => {
      isPaused = false;
    });
  }, RENEW_EVERY_MS);
  try {
    await waitUntilInserted(redis);
    await work();
    await assertPaused();
  } finally {
    clearInterval(renewal);
    await redis.use((client) => client.zrem(CLICKS_PAUSED, ...brandIds));
  }
}
