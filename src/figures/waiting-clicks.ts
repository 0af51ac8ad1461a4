import type { Redis } from '../engines/redis/open.ts';
import { CLICK_STREAM } from './schema.ts';

/** Longer than a click takes to reach the stream, with a margin for hosts whose clocks differ. */
const ON_ITS_WAY_MS = 3_000;
/** The time of the click, in each row of a group. */
const CLICKED_AT = /\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\b/g;

const recordedAt = ([id]: [id: string, fields: string[]]) => Number(id.split('-', 1)[0]);

/**
 * The earliest time at which any click that waits for ClickHouse can have happened. Figures select by the time of the
 * click, but groups are ordered by the time they were recorded, so only the oldest group is read. A later group may
 * hold older clicks, from a process that recorded them late. There may be too many groups to read, so a margin is
 * subtracted.
 */
export async function oldestWaitingClick(redis: Redis): Promise<number> {
  const [first, second] = await redis.use((client) => client.xrange(CLICK_STREAM, '-', '+', 'COUNT', 2));
  if (!first) return Number.POSITIVE_INFINITY;
  const [oldest] = (first[1][1]?.match(CLICKED_AT) ?? []).sort();
  const clickedAt = oldest ? Date.parse(`${oldest.replace(' ', 'T')}Z`) : recordedAt(first) - ON_ITS_WAY_MS;
  return second ? Math.min(clickedAt, recordedAt(second) - ON_ITS_WAY_MS) : clickedAt;
}
