import { z } from 'zod';
import type { Redis } from '../../kit/engines/redis/open.ts';
import { CLICK_STREAM, CLICKS_HELD } from './schema.ts';

/** Longer than a click takes to reach the stream, with a margin for hosts whose clocks differ. */
const ON_ITS_WAY_MS = 3_000;
/** The time of the click, in each row of a group. */
const CLICKED_AT = /\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\b/g;

/** The time of the earliest click of a group. */
function firstClickOf(group: string | undefined): number | undefined {
  const [oldest] = (group?.match(CLICKED_AT) ?? []).sort();
  return oldest === undefined ? undefined : Date.parse(`${oldest.replace(' ', 'T')}Z`);
}

/** The two oldest groups, and the oldest group of paused brands, read at once. */
const WAITING_LUA =
  "return { redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 2), redis.call('LINDEX', KEYS[2], 0) or '' }";
const Group = z.tuple([z.string(), z.array(z.string())]);
const Waiting = z.tuple([z.array(Group), z.string()]);

const recordedAt = ([id]: [id: string, fields: string[]]) => Number(id.split('-', 1)[0]);

/**
 * The earliest time at which any click that waits for ClickHouse can have happened. Figures select by the time of the
 * click, but groups are ordered by the time they were recorded, so only the oldest group is read. A later group may
 * hold older clicks, from a process that recorded them late. There may be too many groups to read, so a margin is
 * subtracted.
 */
export async function oldestWaitingClick(redis: Redis): Promise<number> {
  const [[first, second], held] = Waiting.parse(
    await redis.use((client) => client.eval(WAITING_LUA, 2, CLICK_STREAM, CLICKS_HELD)),
  );
  const heldAt = (firstClickOf(held) ?? Number.POSITIVE_INFINITY) - ON_ITS_WAY_MS;
  if (!first) return heldAt;
  const clickedAt = firstClickOf(first[1][1]) ?? recordedAt(first) - ON_ITS_WAY_MS;
  return Math.min(heldAt, clickedAt, second ? recordedAt(second) - ON_ITS_WAY_MS : Number.POSITIVE_INFINITY);
}
