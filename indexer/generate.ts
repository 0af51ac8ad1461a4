import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import { generateCreators } from '../src/directory/imports/indexing/sample.ts';
import { filled, wholeNumber } from '../src/process/commands/arguments.ts';
import { around } from '../src/process/commands/around.ts';
import { assertWritable } from '../src/process/commands/files.ts';
import { say } from './terminal.ts';

const CHUNK_CHARACTERS = 1 << 18;

const numbered = wholeNumber(0, 999_999_999);

function* ndjson(count: number, seed: number): Generator<string> {
  let chunk = '';
  for (const creator of generateCreators(count, seed)) {
    chunk += `${JSON.stringify(creator)}\n`;
    if (chunk.length < CHUNK_CHARACTERS) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}

async function generate({ count, seed, out }: { count: number; seed: number; out?: string }): Promise<void> {
  if (out !== undefined) await assertWritable(out);
  const target = out === undefined ? around().out : createWriteStream(out);
  try {
    await pipeline(Readable.from(ndjson(count, seed)), target);
  } catch (error) {
    // The reader closed the pipe, as `head` does.
    if (error instanceof Error && 'code' in error && error.code === 'EPIPE') return;
    throw error;
  }
  if (out !== undefined) say(`${count} creators written to ${out}`);
}

export function generateCommand(program: Command): void {
  program
    .command('generate')
    .description('sample creators as NDJSON; the same seed gives the same ones')
    .requiredOption('--count <number>', 'how many', numbered)
    .option('--seed <number>', 'which ones', numbered, 1)
    .option('--out <file>', 'default: standard output', filled)
    .addHelpText('after', '\nExamples:\n  npm run indexer -- generate --count 1000000 --seed 7 --out creators.ndjson')
    .action(generate);
}
