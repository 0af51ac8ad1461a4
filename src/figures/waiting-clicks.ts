import type { Redis } from '../engines/redis/open.ts';
import { CLICK_STREAM } from './schema.ts';

/** More than a click is on its way into the stream, and room for hosts whose clocks differ. */
const ON_ITS_WAY_MS = 3_000;
/** When it was clicked, as each row of a group says. */
const CLICKED_AT = /\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\b/g;

const recordedAt = ([id]: [id: string, fields: string[]]) => Number(id.split('-', 1)[0]);

/**
 * No click that waits for ClickHouse is older than this. Figures select by when it was clicked, so the oldest group, by when
 * it was recorded, is read. Of those behind it one may hold older clicks, of a process that recorded them later: what waits
 * may be a lot, so how much older they may be is estimated.
 */
export async function oldestWaitingClick(redis: Redis): Promise<number> {
  const [first, second] = await redis.use((client) => client.xrange(CLICK_STREAM, '-', '+', 'COUNT', 2));
  if (!first) return Number.POSITIVE_INFINITY;
  const [oldest] = (first[1][1]?.match(CLICKED_AT) ?? []).sort();
  const clickedAt = oldest ? Date.parse(`${oldest.replace(' ', 'T')}Z`) : recordedAt(first) - ON_ITS_WAY_MS;
  return second ? Math.min(clickedAt, recordedAt(second) - ON_ITS_WAY_MS) : clickedAt;
}
