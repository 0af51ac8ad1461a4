import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { openAdmission } from '../../src/directory/search/admission.ts';

/** So that one brand’s 96 of 128 places are free for 192 calls a second. */
const TAKES_MS = 500;
const FLOOD_MS = 3_500;
/** A burst may wait for longer, and was answered by then. */
const SETTLED_MS = 2_000;
/** Two thirds of a second, and what a busy machine adds. Without a bound on the time, the 256 that may wait take 1.3 s. */
const LONGEST_MS = 1_000;

it('a burst of 256 is answered, and under a lasting flood the rest is refused at once so that those answered waited less than a second', async () => {
  const admission = openAdmission(pino({ level: 'silent' }));
  const waits: { begunMs: number; waitedMs: number }[] = [];
  const refusedAfterMs: number[] = [];
  const from = performance.now();
  const call = async () => {
    const begunMs = performance.now();
    try {
      const leave = await admission.enter('brd_crowd');
      waits.push({ begunMs: begunMs - from, waitedMs: performance.now() - begunMs });
      await pause(TAKES_MS);
      leave();
    } catch {
      refusedAfterMs.push(performance.now() - begunMs);
    }
  };
  const calls = Array.from({ length: 256 }, call);
  while (performance.now() - from < FLOOD_MS) {
    await pause(10);
    if (refusedAfterMs.length === 0 && waits.length < 256) continue;
    for (let n = 0; n < 20; n += 1) calls.push(call());
  }
  expect(waits.length).toBeGreaterThan(256);
  await Promise.all(calls);
  const settled = waits.filter(({ begunMs }) => begunMs > SETTLED_MS);
  expect(settled.length).toBeGreaterThan(0);
  expect(Math.max(...settled.map(({ waitedMs }) => waitedMs))).toBeLessThan(LONGEST_MS);
  const median = refusedAfterMs.toSorted((a, b) => a - b)[refusedAfterMs.length >> 1] ?? Number.POSITIVE_INFINITY;
  expect(median).toBeLessThan(50);
});

it('in a full queue the first call of a brand takes the place of a call of the brand with the most, and its second none of a call that has waited', async () => {
  const admission = openAdmission(pino({ level: 'silent' }));
  const refused: Record<string, number> = { crowd: 0, second: 0, late: 0 };
  const enter = (brand: string) => {
    void admission.enter(brand).catch(() => {
      refused[brand] = (refused[brand] ?? 0) + 1;
    });
  };
  // Two brands have all places, and one of them all of the queue.
  for (let n = 0; n < 96; n += 1) enter('crowd');
  for (let n = 0; n < 32; n += 1) enter('second');
  for (let n = 0; n < 400; n += 1) enter('crowd');
  await pause(60);
  expect(refused).toMatchObject({ second: 0, late: 0 });
  const before = refused.crowd ?? 0;
  expect(before).toBeGreaterThan(0);
  enter('late');
  await pause(0);
  expect(refused).toEqual({ crowd: before + 1, second: 0, late: 0 });
  expect(admission.refuse('late')).toBeDefined();
  enter('late');
  await pause(0);
  expect(refused).toEqual({ crowd: before + 1, second: 0, late: 1 });
});
