import { describe, expect, test } from 'vitest';
import { randomRuns, testSeed } from '../harness/kit/random-runs.ts';
import { type Case, DAMAGES, FORMATS, makeCase } from './imports-cases.ts';
import { type CaseResult, checkCase } from './imports-check.ts';
import { LOCALES, makeRandom, pick } from './imports-draw.ts';

/** `RANDOM_RUNS=3840` reads as many files as there are formats, countries and damages. */
const WANTED = randomRuns(25, 150);

/** Every combination in turn, from a random one on; each with other orders and people. */
function drawCases(): Case[] {
  const combinations = FORMATS.flatMap((format) =>
    LOCALES.flatMap((locale) => DAMAGES.map((damage) => ({ format, locale, damage }))),
  );
  const random = makeRandom(testSeed);
  const isAll = WANTED >= combinations.length;
  return Array.from({ length: WANTED }, (_, i) => {
    const drawn = isAll ? combinations[i % combinations.length] : undefined;
    const { format, locale, damage } = drawn ?? pick(random, combinations);
    return makeCase(testSeed + i, format, locale, damage);
  });
}

/** Rounded ids without numbers beside them cannot be mended: such a file is refused. */
const isRefusedRightly = ({ damage, format }: Case, { refused }: CaseResult) =>
  refused === 'damaged_ids' && damage === 'ids' && format.key === 'etsy';

/** Questions about a file as its tool writes it: the first two once for a source, the last where a format has no currency. */
const NEEDED = new Set(['tax_in_prices', 'partial_refunds', 'currency_missing']);

describe(`files of ${FORMATS.length} formats from ${LOCALES.length} countries, damaged in ${DAMAGES.length - 1} ways`, () => {
  test(`no sum is wrong without a question, and answers make it right (TEST_SEED=${testSeed})`, async () => {
    const cases = drawCases();
    const wrong: CaseResult[] = [];
    let questioned = 0;
    let pristine = 0;
    for (const made of cases) {
      const result = await checkCase(made);
      const isRight = result.silent === null && result.answered === null && result.refused === null;
      if (!isRight && !isRefusedRightly(made, result)) wrong.push(result);
      expect(new Set(result.codes).size, result.name).toBeLessThanOrEqual(3);
      if (!made.format.isKnown || !made.isPristine) continue;
      pristine += 1;
      if (result.codes.some((code) => !NEEDED.has(code))) questioned += 1;
    }
    expect(wrong).toEqual([]);
    expect(questioned).toBeLessThanOrEqual(Math.max(1, pristine / 10));
  });
});
