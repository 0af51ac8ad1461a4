import { createHash } from 'node:crypto';

/** Work for a core, and how long it takes one that has nothing else to do. */
const WORK = Buffer.alloc(32 * 1024 * 1024);
const USUAL_MS = 25;
/** Enough on such a machine for anything that a test waits for, and the most that it waits on any. */
const SHORTEST_MS = 180_000;
const LONGEST_MS = 900_000;

/** How many times longer this machine needs now, with everything else that it does. */
function measureSlowness(): number {
  const from = performance.now();
  createHash('sha256').update(WORK).digest();
  return (performance.now() - from) / USUAL_MS;
}

process.env.TEST_DEADLINE_MS ??= String(
  Math.round(Math.min(Math.max(SHORTEST_MS * measureSlowness(), SHORTEST_MS), LONGEST_MS)),
);

/** How long a test of this run waits for a condition: measured once, at the start of the run, for all its processes. */
export const deadlineMs = Number(process.env.TEST_DEADLINE_MS);
/** The same for one thing on a page, so that a test that waits for what never comes costs the run a minute or two. */
export const pageDeadlineMs = deadlineMs / 3;
/** The same for what takes minutes on any machine: a build, a first start, hundreds of rounds. */
export const longDeadlineMs = 5 * deadlineMs;
