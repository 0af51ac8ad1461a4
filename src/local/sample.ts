import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Elastic } from '../kit/engines/elastic/open.ts';
import type { Context } from '../kit/operation/context.ts';
import type { Config } from '../kit/values/config.ts';
import { ignoreFailure } from '../kit/values/errors.ts';
import { formatNumber } from '../kit/values/format.ts';
import { openProgress } from './terminal.ts';

const SEED = 1;
const LARGE_DIRECTORY = 200_000;

/** The number of creators in the last sample, and in the directory when it was last counted. */
const Kept = z.object({ creators: z.number().int().optional(), live: z.number().int().optional() });
type Kept = z.infer<typeof Kept>;

const fileIn = ({ directory }: Pick<Config, 'directory'>) => path.join(directory, 'sample.json');

/** An unreadable file counts as missing: every start counts the directory again. */
async function readKept(config: Pick<Config, 'directory'>): Promise<Kept> {
  try {
    return Kept.parse(JSON.parse(await readFile(fileIn(config), 'utf8')));
  } catch {
    return {};
  }
}

/** Atomic: a process that is killed while writing leaves the old file. */
async function keep(config: Pick<Config, 'directory'>, change: Kept): Promise<void> {
  const file = fileIn(config);
  const draft = `${file}.${process.pid}`;
  await mkdir(config.directory, { recursive: true });
  await writeFile(draft, JSON.stringify({ ...(await readKept(config)), ...change }));
  await rename(draft, file);
}

/** The number of creators in the sample directory at the last start. */
export async function sampleSize(config: Pick<Config, 'directory'>): Promise<number | undefined> {
  return (await readKept(config)).creators;
}

/** Elasticsearch's heap for the data that it already holds and for what it is about to receive. */
export async function heapMbFor(config: Pick<Config, 'directory'>, creators: number): Promise<number> {
  const { live = 0 } = await readKept(config);
  return Math.max(creators, live) > LARGE_DIRECTORY ? 1_024 : 512;
}

/**
 * Records the size of the embedded directory for the heap of the next start, because Elasticsearch cannot be queried
 * before it runs.
 */
export async function noteSize(
  config: Pick<Config, 'directory' | 'directoryAlias' | 'urls'>,
  elastic: Elastic,
): Promise<void> {
  if (config.urls.elasticsearch) return;
  const note = async () => {
    const { countDocuments, indexBehind } = await import('../kit/engines/elastic/indices.ts');
    const index = await indexBehind(elastic, config.directoryAlias);
    if (index !== undefined) await keep(config, { live: await countDocuments(elastic, index) });
  };
  await note().catch(ignoreFailure('it is recorded again at the next start'));
}

/** Imports the sample directory, unless there is one and no other size was requested. */
export async function ensureSample(context: Context, creators: number, isRequested: boolean): Promise<void> {
  const { config, directory } = context;
  const { index } = await directory.live();
  if (index !== undefined && (!isRequested || (await sampleSize(config)) === creators)) return;
  const { importDirectory } = await import('../directory/imports/indexing/import.ts');
  const { sampleSource } = await import('../directory/imports/indexing/sample.ts');
  const { toDirectoryEngines: enginesOf } = await import('../directory/imports/indexing/writer.ts');
  const source = sampleSource(creators, SEED);
  const progress = openProgress(`Importing a sample directory of ${formatNumber(creators)} creators`);
  await importDirectory(enginesOf(context), {
    source,
    // A sample of another size replaces the earlier one, whatever they have in common.
    bounds: { mode: 'force' },
    onProgress: ({ phase, rows }) => progress.update(rows / creators, phase),
  });
  progress.done();
  await keep(config, { creators });
}
