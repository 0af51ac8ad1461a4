import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AdaptiveLimit, LEAST_UNDER_WAY, openAdaptiveLimit } from '../../../src/kit/access/adaptive-limit.ts';

interface Engine {
  /** Of a search that is alone. */
  aloneMs: number;
  perSecond: number;
}

const Engines: fc.Arbitrary<Engine> = fc.record({
  aloneMs: fc.integer({ min: 1, max: 200 }),
  perSecond: fc.integer({ min: 40, max: 4_000 }),
});

/** By Little's law: an engine answers no more than it can, however much is under way. */
const latencyOf = ({ aloneMs, perSecond }: Engine, underWay: number) =>
  Math.max(aloneMs, (underWay / perSecond) * 1_000);

/** Keeps as much under way as the limit allows and `wanted` asks for, and returns the searches answered in a second. */
function run(
  limit: AdaptiveLimit,
  engine: Engine,
  wanted: number,
  { fromMs, seconds }: { fromMs: number; seconds: number },
) {
  let nowMs = fromMs;
  let answered = 0;
  while (nowMs < fromMs + seconds * 1_000) {
    const underWay = Math.min(wanted, limit.current());
    if (wanted > underWay) limit.noteWaiting();
    const latencyMs = latencyOf(engine, underWay);
    nowMs += latencyMs / underWay;
    answered += 1;
    limit.sample(latencyMs, underWay, nowMs);
  }
  return answered / seconds;
}

describe('the limit of searches under way', () => {
  it('stays within its bounds whatever latencies it is given', () => {
    const Sample = fc.record({
      latencyMs: fc.double({ min: 0.01, max: 60_000, noNaN: true }),
      underWay: fc.integer({ min: 1, max: 300 }),
      pauseMs: fc.integer({ min: 0, max: 2_000 }),
      isWaiting: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(Sample, { maxLength: 500 }), (samples) => {
        const limit = openAdaptiveLimit();
        let nowMs = 0;
        for (const { latencyMs, underWay, pauseMs, isWaiting } of samples) {
          nowMs += pauseMs;
          if (isWaiting) limit.noteWaiting();
          limit.sample(latencyMs, underWay, nowMs);
          expect(limit.current()).toBeGreaterThanOrEqual(LEAST_UNDER_WAY);
          expect(limit.current()).toBeLessThanOrEqual(256);
          expect(Number.isInteger(limit.current())).toBe(true);
        }
      }),
    );
  });

  it('answers nine tenths of what any engine can under five times the load, each at most four times as late as eight searches are', () => {
    fc.assert(
      fc.property(Engines, (engine) => {
        const limit = openAdaptiveLimit();
        // More than 256 at a time this process never has under way.
        const most = Math.min(engine.perSecond, (256 / engine.aloneMs) * 1_000);
        const wanted = Math.ceil((engine.perSecond * engine.aloneMs) / 1_000) * 5 + 500;
        run(limit, engine, wanted, { fromMs: 0, seconds: 20 });
        expect(run(limit, engine, wanted, { fromMs: 20_000, seconds: 20 })).toBeGreaterThan(0.9 * most);
        const eightMs = latencyOf(engine, LEAST_UNDER_WAY);
        expect(latencyOf(engine, limit.current())).toBeLessThan(4 * eightMs + 40);
      }),
      { numRuns: 50 },
    );
  });

  it('grows again within seconds when an engine that had become slow is fast again', () => {
    fc.assert(
      fc.property(Engines, fc.integer({ min: 3, max: 20 }), (engine, factor) => {
        const slow = { aloneMs: engine.aloneMs * factor, perSecond: engine.perSecond / factor };
        const limit = openAdaptiveLimit();
        run(limit, engine, 1_000, { fromMs: 0, seconds: 20 });
        run(limit, slow, 1_000, { fromMs: 20_000, seconds: 30 });
        run(limit, engine, 1_000, { fromMs: 50_000, seconds: 20 });
        const most = Math.min(engine.perSecond, (256 / engine.aloneMs) * 1_000);
        expect(run(limit, engine, 1_000, { fromMs: 70_000, seconds: 10 })).toBeGreaterThan(0.9 * most);
      }),
      { numRuns: 50 },
    );
  });

  it('does not shrink while nobody waits and latency stays as it is', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 64 }), (latencyMs, underWay) => {
        const limit = openAdaptiveLimit();
        const before = limit.current();
        for (let nowMs = 0; nowMs < 60_000; nowMs += 10) limit.sample(latencyMs, underWay, nowMs);
        expect(limit.current()).toBeGreaterThanOrEqual(before);
      }),
      { numRuns: 50 },
    );
  });
});
