import { describe, expect, it } from 'vitest';
import { scoreLeak } from '../../src/affiliates/leaks/leak-score.ts';
import { DEFAULT_FRAUD_RULES } from '../../src/affiliates/rules/fraud-rules.ts';
import { drawEvidence, experiment, PATTERNS, randomOf } from '../harness/affiliates/leaking-codes.ts';

const THRESHOLD = DEFAULT_FRAUD_RULES.code_leak.score;

describe('the score of a code', () => {
  it('tells codes that leaked in any of twenty ways from 500 honest ones, of which it flags one a month at most', () => {
    const { honest, patterns, area } = experiment(7, { ofPattern: 25, honest: 500 });
    expect(patterns).toHaveLength(20);
    expect(area).toBeGreaterThanOrEqual(0.95);
    for (const one of patterns) expect(one.area, one.name).toBeGreaterThanOrEqual(0.9);
    expect(honest.filter((score) => score >= THRESHOLD).length).toBeLessThanOrEqual(1);
  });

  it('is the sum of its reasons, at most 100, and 0 for a code that was hardly used', () => {
    const random = randomOf(3);
    for (const pattern of PATTERNS) {
      const { score, reasons } = scoreLeak(drawEvidence(random, pattern), { clickless: 0.4, firsts: 0.6 });
      const points = reasons.reduce((sum, one) => sum + one.points, 0);
      expect(score).toBe(Math.min(100, points));
      for (const { detail } of reasons) expect(detail).toMatch(/\d.*\.$/);
    }
    const few = { day: '2026-03-01', orders: 4, clickless: 4, known: 4, firsts: 0 };
    const evidence = { days: 30, now: [few], daysBefore: 56, before: [], couponVisits: 50 };
    expect(scoreLeak(evidence, { clickless: 0.1, firsts: 0.9 })).toMatchObject({ score: 0, reasons: [], orders: 4 });
  });
});
