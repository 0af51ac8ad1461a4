import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { CSV_OPTIONS, readRows } from '../../src/platform/imports/reading/rows.ts';
import { randomRuns, testSeed } from '../harness/kit/random-runs.ts';
import { makeRandom, pick, type Random } from './imports-draw.ts';

const TEXTS = randomRuns(500, 4_000);
const PIECES = [
  'a',
  'bc',
  '"',
  '"',
  '""',
  ',',
  ',',
  ';',
  '\n',
  '\r\n',
  '\r',
  ' ',
  'é',
  '"x,y"',
  '"one\ntwo"',
  '12" ',
  '"q""r"',
  '\t',
];

const drawText = (random: Random) =>
  Array.from({ length: Math.floor(random() * 40) }, () => pick(random, PIECES)).join('');

const Rows = z.array(z.array(z.string()));

/** Rows of a whole text by csv-parse; undefined if it refuses the text. */
function parseWhole(text: string, delimiter: string): string[][] | undefined {
  try {
    const rows = Rows.parse(parse(text, { ...CSV_OPTIONS, delimiter }));
    return rows.filter((cells) => cells.some((cell) => cell.trim() !== ''));
  } catch {
    return undefined;
  }
}

async function readInChunks(
  text: string,
  delimiter: string,
  size: number,
): Promise<{ lines: number[]; rows: string[][] } | undefined> {
  const bytes = Buffer.from(text);
  const open = async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
  const found: { lines: number[]; rows: string[][] } = { lines: [], rows: [] };
  try {
    for await (const batch of readRows(open, delimiter, false))
      for (const { line, cells } of batch) {
        found.lines.push(line);
        found.rows.push(cells);
      }
    return found;
  } catch {
    return undefined;
  }
}

test(`rows are those that csv-parse reads, in chunks of any size (TEST_SEED=${testSeed})`, async () => {
  const random = makeRandom(testSeed);
  for (let i = 0; i < TEXTS; i += 1) {
    const text = drawText(random);
    const delimiter = pick(random, [',', ';', '\t', '|']);
    const found = await readInChunks(text, delimiter, 1 + Math.floor(random() * 20));
    expect(found?.rows, JSON.stringify({ text, delimiter })).toEqual(parseWhole(text, delimiter));
  }
});

test('a row is named by the line on which it starts', async () => {
  const text = 'a,b\r\n\r\n"x\r\ny\nz",2\r\n3,4\r5,6\n\n7,"8"';
  for (const size of [1, 3, 7, 100]) expect((await readInChunks(text, ',', size))?.lines).toEqual([1, 3, 6, 7, 9]);
});
