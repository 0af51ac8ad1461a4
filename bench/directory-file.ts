import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { generateCreators } from '../src/directory/imports/indexing/sample.ts';
import type { CreatorRow } from '../src/directory/search/document.ts';

const SEED = 20_260_101;
const ROWS_AT_ONCE = 1_000;

/** The creators of the bench: always the same for a given count. */
export const creatorsOf = (count: number): Generator<CreatorRow> => generateCreators(count, SEED);

/** Writes one line per creator, with only a few of them in memory. */
export async function writeCreators(file: string, count: number, lineOf: (row: CreatorRow) => string): Promise<void> {
  function* chunks(): Generator<string> {
    let lines: string[] = [];
    for (const row of creatorsOf(count)) {
      lines.push(lineOf(row));
      if (lines.length < ROWS_AT_ONCE) continue;
      yield lines.join('');
      lines = [];
    }
    yield lines.join('');
  }
  await pipeline(Readable.from(chunks()), createWriteStream(file));
}

/** Every n-th creator, as the basis for queries. */
export function sampleCreators(count: number, size: number): CreatorRow[] {
  const step = Math.max(1, Math.floor(count / size));
  const rows: CreatorRow[] = [];
  let at = 0;
  for (const row of creatorsOf(count)) {
    if (at % step === 0) rows.push(row);
    at += 1;
  }
  return rows;
}
