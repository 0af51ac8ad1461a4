import { seededRandom } from '../../directory/imports/indexing/random.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kit/values/duration.ts';
import { toDay } from '../../kit/values/time-zone.ts';
import type { Past } from './past.ts';

/** The days that the sample covers. */
export const DAYS = 90;
/** Each of the last days is its own period; earlier ones are taken together. */
const RECENT = 15;
const TAKEN_TOGETHER = 3;
/** The day at whose start each period ends, oldest first. In the first one, before the days, the brand sets itself up. */
export const PERIODS = [
  0,
  ...Array.from({ length: (DAYS - RECENT) / TAKEN_TOGETHER }, (_, i) => TAKEN_TOGETHER * (i + 1)),
  ...Array.from({ length: RECENT }, (_, i) => DAYS - RECENT + i + 1),
];

/**
 * `people` and `money` do not touch each other's rows: within a period, both run at the same time, and `people` in
 * one transaction. While something happens `alone`, nothing else does.
 */
export type Line = 'people' | 'money' | 'alone';

/** Something that happens at a moment. */
interface Act {
  at: Date;
  line: Line;
  run: (past: Past) => Promise<unknown>;
}

/** A list of acts: added in any order, done in the order of time. */
export interface Schedule {
  /** The moment so many days before now, some hours later. */
  ago(days: number, hours?: number): Date;
  /** The day so many days before today, the same each time. */
  dayAgo(days: number): string;
  add(at: Date, run: Act['run'], line?: Line): void;
  /** Does everything, oldest first; each line has its own past. */
  perform(pasts: Readonly<Record<Line, Past>>): Promise<void>;
}

const SEED = 90;

/** The start of each day, oldest first; the last one ends now. */
export const toStart = (now: Date, day: number) => now.getTime() - (DAYS - day) * DAY_MS;

/** The brand and its keys are as old as this. */
export const toBeginning = (now: Date) => new Date(toStart(now, -2));

/** Acts that run at the same time, except that those of one line follow each other. */
function together(acts: readonly Act[], now: Date): Act[][] {
  const groups: Act[][] = [];
  let last: { period: number; isAlone: boolean } | undefined;
  for (const act of acts) {
    const isAlone = act.line === 'alone';
    const period = PERIODS.findIndex((day) => act.at.getTime() < toStart(now, day));
    if (last?.period === period && !last.isAlone && !isAlone) groups.at(-1)?.push(act);
    else groups.push([act]);
    last = { period, isAlone };
  }
  return groups;
}

export function openSchedule(now: Date): Schedule {
  const acts: Act[] = [];
  const random = seededRandom(SEED);
  return {
    // A few minutes apart, so that a list by time looks like one.
    ago: (days, hours = 0) =>
      new Date(
        now.getTime() - days * DAY_MS + hours * HOUR_MS + random.below(50) * MINUTE_MS + random.below(MINUTE_MS),
      ),
    dayAgo: (days) => toDay(new Date(now.getTime() - days * DAY_MS)),
    add: (at, run, line = 'people') => void acts.push({ at, run, line }),
    perform: async (pasts) => {
      const sortedActs = acts.toSorted((a, b) => a.at.getTime() - b.at.getTime());
      for (const group of together(sortedActs, now)) {
        const lines = Map.groupBy(group, ({ line }) => line);
        // All end before one fails: the other must not be left with its connection.
        const outcomes = await Promise.allSettled(
          [...lines].map(async ([line, following]) => {
            const past = pasts[line];
            const follow = async () => {
              for (const { at, run } of following) {
                past.moveTo(at);
                await run(past);
              }
            };
            await (line === 'people' ? past.together(follow) : follow());
          }),
        );
        for (const one of outcomes) if (one.status === 'rejected') throw one.reason;
      }
    },
  };
}

/** An id that an earlier act made. */
export function known(ids: ReadonlyMap<string, string>, name: string): string {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`The sample has no ${name}.`);
  return id;
}
