import { expect, it } from 'vitest';
import { DEFAULT_FRAUD_RULES } from '../../src/affiliates/rules/fraud-rules.ts';
import { experiment } from '../harness/affiliates/leaking-codes.ts';

const THRESHOLD = DEFAULT_FRAUD_RULES.code_leak.score;
const CODES_OF_BRAND = 500;

it.each([7, 11, 13])('the score separates 500 codes of each pattern from honest ones, seed %i', (seed) => {
  const { honest, patterns, area } = experiment(seed, { ofPattern: CODES_OF_BRAND, honest: 5_000 });
  expect(area).toBeGreaterThanOrEqual(0.95);
  for (const one of patterns) expect(one.area, one.name).toBeGreaterThanOrEqual(0.95);
  const flagged = honest.filter((score) => score >= THRESHOLD).length;
  expect((flagged * CODES_OF_BRAND) / honest.length, 'honest codes flagged a brand and month').toBeLessThanOrEqual(1);
});
