import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Config } from './config.ts';
import type { Context } from './context.ts';
import { importDirectory } from './resources/creators/directory/import/import.ts';
import { sampleSource } from './resources/creators/directory/import/sample.ts';
import { openProgress } from './terminal.ts';

const SEED = 1;
const LARGE_DIRECTORY = 200_000;
const Kept = z.object({ creators: z.number().int() });

const fileIn = (config: Config) => path.join(config.directory, 'sample.json');

/** How many creators the sample directory of the last start had. */
export async function sampleSize(config: Config): Promise<number | undefined> {
  const text = await readFile(fileIn(config), 'utf8').catch(() => '{}');
  return Kept.safeParse(JSON.parse(text)).data?.creators;
}

export const heapMbFor = (creators: number): number => (creators > LARGE_DIRECTORY ? 1_024 : 512);

/** Imports the sample directory, unless there is one already and no other size was asked for. */
export async function ensureSample(context: Context, creators: number, isAsked: boolean): Promise<void> {
  const { config, elastic, clock, directory, postgres } = context;
  const { index } = await directory.live();
  const kept = await sampleSize(config);
  if (index !== undefined && (!isAsked || kept === creators)) return;
  const source = sampleSource(creators, SEED);
  const progress = openProgress(`Importing ${source.files[0]}`);
  const engines = { elastic, db: postgres.db, clock, alias: config.directoryAlias };
  await importDirectory(engines, { source, onProgress: ({ phase, rows }) => progress.update(rows / creators, phase) });
  progress.done();
  await mkdir(config.directory, { recursive: true });
  await writeFile(fileIn(config), JSON.stringify({ creators }));
}
