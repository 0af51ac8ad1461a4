import { readFileSync } from 'node:fs';
import type { Redis } from '../../kit/engines/redis/open.ts';
import { REPEAT_WINDOW_MS, SEEN, STREAM } from './waiting-clicks.ts';

const RECORD_LUA = readFileSync(new URL('./record.lua', import.meta.url), 'utf8');

/** Limits how long one group blocks Redis. */
const MAX_GROUP = 1_000;

export interface NewClick {
  /** Whole, with a line break; one that may count says `counted`, and Redis notes which of them are repeats. */
  row: string;
  /** All that its visitor may be known as at this link; none when it does not count anyway. */
  visitors: readonly string[];
  /** Called once, within about a second: true when the click is durable, false when that is not known. */
  onSettled: (isRecorded: boolean) => void;
}

export interface Recorder {
  record(click: NewClick): void;
}

/**
 * One group in flight: whatever is clicked in the meantime is the next group, appended by one script as one entry. Waiting for
 * the disk costs a group what it would cost a click. Once the clicks that wait for ClickHouse take `maxBytes`, no more
 * are recorded.
 */
export function openRecorder(redis: Redis, maxBytes: number, onLost: (clicks: number) => void): Recorder {
  const recordClicks = redis.script(RECORD_LUA);
  let waiting: NewClick[] = [];
  let isBusy = false;

  function settle(clicks: readonly NewClick[], isRecorded: boolean): void {
    for (const click of clicks) click.onSettled(isRecorded);
  }

  function takeGroup(): NewClick[] {
    if (waiting.length > MAX_GROUP) return waiting.splice(0, MAX_GROUP);
    const group = waiting;
    waiting = [];
    return group;
  }

  function send(): void {
    if (waiting.length === 0) {
      isBusy = false;
      return;
    }
    const group = takeGroup();
    // Joined in one go: text that grows by pieces is walked again, piece by piece, when it is sent.
    const rows: string[] = [];
    const visitorCounts: number[] = [];
    const allVisitors: string[] = [];
    for (const { row, visitors } of group) {
      rows.push(row);
      visitorCounts.push(visitors.length);
      for (const visitor of visitors) allVisitors.push(visitor);
    }
    // A JSON array: none of them has a character that JSON would write otherwise.
    const visitorList = allVisitors.length === 0 ? '[]' : `["${allVisitors.join('","')}"]`;
    recordClicks(
      [STREAM, ...SEEN],
      [REPEAT_WINDOW_MS, rows.join(''), visitorCounts.join(''), visitorList, maxBytes],
    ).then(
      () => {
        // The next group first: Redis works on it while this one's visitors are answered.
        send();
        settle(group, true);
      },
      () => {
        // The waiting clicks have waited for Redis as long already; the next click tries again.
        const lostClicks = [...group, ...waiting];
        waiting = [];
        isBusy = false;
        onLost(lostClicks.length);
        settle(lostClicks, false);
      },
    );
  }

  return {
    record: (click) => {
      waiting.push(click);
      if (isBusy) return;
      isBusy = true;
      // All that was read from sockets in this turn of the loop goes along.
      setImmediate(send);
    },
  };
}
