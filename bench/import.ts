import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { type BatchSize, bulkLoop } from './bulk-loop.ts';
import { exitOf, startNode } from './children.ts';
import { writeCreators } from './directory-file.ts';
import { alternate, median, medianRatio } from './load.ts';
import { type Add, progress, round } from './report.ts';
import type { Scale } from './session.ts';

const Imported = z.object({
  documents: z.number(),
  totalMs: z.number(),
  phasesMs: z.object({ bulk: z.number(), merge: z.number(), verify: z.number(), swap: z.number() }),
});
interface Imported extends z.infer<typeof Imported> {
  /** The process's peak memory. */
  peakMb: number;
}

const MEMORY_EVERY_MS = 50;
const MAX_MEMORY_MB = 512;
const SIZES: readonly BatchSize[] = [1_000, 2_500, 5_000, 10_000].flatMap((documents) => [
  { documents, inFlight: 4 },
  { documents, inFlight: 8 },
]);
/** Enough creators to compare batch sizes. */
const TRIAL_CREATORS = 100_000;

function peakMbOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

async function importOnce(file: string, env: Record<string, string>, creators: number): Promise<Imported> {
  const child = startNode(['--max-old-space-size=256', 'bench/run-import.ts', file], env);
  let peakMb = 0;
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, peakMbOf(child.pid ?? 0));
  }, MEMORY_EVERY_MS);
  const printed = async (stream: Readable | null) => (stream ? await text(stream) : '');
  const [out, complaints, code] = await Promise.all([printed(child.stdout), printed(child.stderr), exitOf(child)]);
  clearInterval(watch);
  if (code !== 0) throw new Error(`The import ended with ${code}:\n${complaints}`);
  const imported = Imported.parse(JSON.parse(out));
  if (imported.documents !== creators) throw new Error(`${imported.documents} of ${creators} creators were imported.`);
  return { ...imported, peakMb };
}

async function bestSize(url: string, isFull: boolean): Promise<BatchSize> {
  const sizes = isFull ? SIZES : SIZES.filter(({ documents, inFlight }) => documents === 5_000 && inFlight === 4);
  let best = { size: { documents: 5_000, inFlight: 4 }, perSecond: 0 };
  await bulkLoop(url, TRIAL_CREATORS, best.size);
  if (sizes.length === 1) return best.size;
  for (const size of sizes) {
    const perSecond = await bulkLoop(url, TRIAL_CREATORS, size);
    progress(`  ${size.documents} documents a body, ${size.inFlight} in flight: ${round(perSecond)}/s`);
    if (perSecond > best.perSecond) best = { size, perSecond };
  }
  return best.size;
}

/** Measures the indexer against a bare loop over prepared bodies. Leaves the directory imported and live. */
export async function measureImport(
  scale: Scale,
  folder: string,
  url: string,
  env: Record<string, string>,
  add: Add,
): Promise<void> {
  const { creators, isFull } = scale;
  const file = path.join(folder, 'creators.ndjson');
  progress(`Generating ${creators.toLocaleString('en')} creators`);
  await writeCreators(file, creators, (row) => `${JSON.stringify(row)}\n`);
  progress('Bare bulk loops of several sizes');
  const size = await bestSize(url, isFull);
  progress('Import and bulk loop');
  const imports: Imported[] = [];
  const [bulk = [], bare = []] = await alternate(isFull ? scale.slowRounds : 1, [
    async () => {
      const imported = await importOnce(file, env, creators);
      imports.push(imported);
      return (creators * 1000) / imported.phasesMs.bulk;
    },
    () => bulkLoop(url, creators, size),
  ]);
  const whole = imports.map(({ totalMs }) => (creators * 1000) / totalMs);
  const phase = (name: keyof Imported['phasesMs']) => round(median(imports.map((one) => one.phasesMs[name])) / 1000);
  const loop = `${round(median(bare))}/s (${size.documents} documents a body, ${size.inFlight} in flight)`;
  const floor = (value: number) => (isFull ? value : null);
  add(
    {
      name: 'import_bulk_to_bulk_loop',
      value: medianRatio(bulk, bare),
      floor: floor(0.8),
      bound: 'at least',
      measured: `${round(median(bulk))} rows/s to ${loop}`,
      warm: "the file, in the system's page cache",
    },
    {
      name: 'import_whole_to_bulk_loop',
      value: medianRatio(whole, bare),
      floor: floor(0.4),
      bound: 'at least',
      measured:
        `${round(median(whole))} rows/s; bulk ${phase('bulk')} s, merge to one segment ${phase('merge')} s, ` +
        `verify ${phase('verify')} s, swap ${phase('swap')} s`,
      warm: "the file, in the system's page cache",
    },
    {
      name: 'import_memory_mb',
      value: Math.max(...imports.map(({ peakMb }) => peakMb)),
      floor: floor(MAX_MEMORY_MB),
      bound: 'at most',
      measured: `peak resident memory of the import, file of ${round(statSync(file).size / 2 ** 20)} MB`,
      warm: '-',
    },
  );
}
