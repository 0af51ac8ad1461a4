import { describe, expect, test } from 'vitest';
import { type Case, DAMAGES, FORMATS, LOCALES, makeCase } from './imports-cases.ts';
import { checkCase, type Verdict } from './imports-check.ts';
import { makeRandom, pick } from './imports-draw.ts';

/** `IMPORT_CASES=all` reads every format in every country with every damage; a number draws as many. */
const WANTED = process.env.IMPORT_CASES ?? '150';
const SEED = Number(process.env.IMPORT_SEED ?? Math.floor(Math.random() * 2 ** 31));

function drawCases(): Case[] {
  if (WANTED === 'all')
    return FORMATS.flatMap((format, i) =>
      LOCALES.flatMap((locale, j) =>
        DAMAGES.map((damage, k) => makeCase(SEED + i * 10_000 + j * 100 + k, format, locale, damage)),
      ),
    );
  const random = makeRandom(SEED);
  return Array.from({ length: Number(WANTED) }, (_, i) =>
    makeCase(SEED + i, pick(random, FORMATS), pick(random, LOCALES), pick(random, DAMAGES)),
  );
}

/** Rounded ids without numbers beside them cannot be mended: such a file is refused. */
const isRefusedRightly = ({ damage, format }: Case, { refused }: Verdict) =>
  refused === 'damaged_ids' && damage === 'ids' && format.key === 'etsy';

describe(`files of ${FORMATS.length} formats from ${LOCALES.length} countries, damaged in ${DAMAGES.length - 1} ways`, () => {
  test(`no sum is wrong without a question, and answers make it right (IMPORT_SEED=${SEED})`, async () => {
    const cases = drawCases();
    const wrong: Verdict[] = [];
    let asked = 0;
    let pristine = 0;
    for (const made of cases) {
      const verdict = await checkCase(made);
      const isRight = verdict.silent === null && verdict.answered === null && verdict.refused === null;
      if (!isRight && !isRefusedRightly(made, verdict)) wrong.push(verdict);
      expect(new Set(verdict.codes).size, verdict.name).toBeLessThanOrEqual(4);
      if (!made.format.isKnown || !made.isPristine) continue;
      pristine += 1;
      // Tax in prices and partial refunds are asked once for a source, whatever wrote the file.
      if (verdict.codes.some((code) => code !== 'tax_in_prices' && code !== 'partial_refunds')) asked += 1;
    }
    expect(wrong).toEqual([]);
    if (pristine > 0) expect(asked / pristine).toBeLessThanOrEqual(0.5);
  }, 1_200_000);
});
