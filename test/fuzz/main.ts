import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { readConfig } from '../../src/config.ts';
import type { KeyKind } from '../../src/kit/access/keys/callers.ts';
import { migrateClickHouse } from '../../src/kit/engines/clickhouse/migrate.ts';
import { migratePostgres } from '../../src/kit/engines/postgres/migrate.ts';
import type { Context } from '../../src/kit/operation/context.ts';
import { engineFolder } from '../../src/local/engines/folder.ts';
import { resolveEngines } from '../../src/local/engines/running.ts';
import { buildApps } from '../../src/process/apps.ts';
import { configuredUrls } from '../../src/process/engine-urls.ts';
import { openContext } from '../../src/process/open-context.ts';
import { readFlags } from '../check/flags.ts';
import { makeBrand, type TestBrand } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';
import { installSchemathesis } from './tool.ts';

const KEYS = 500;
const CREDITS = 1_000_000_000;
const CREATORS = 500;
const ENGINES = ['postgres', 'redis', 'elasticsearch', 'clickhouse'] as const;

const USAGE = `npm run fuzz                                   a quarter of an hour, the same tests each time
npm run fuzz -- --seed 7 --max-examples 500    other tests, more of them
npm run fuzz -- --one-in 4 --turn 2            every boundary value for a quarter of the paths, as CI does in turns

Schemathesis against a server on engines of its own, with keys of each kind: it reads /openapi.json and looks for
answers that break what the document says. Exits 1 when it finds one.`;

const options = readFlags(USAGE, {
  seed: { type: 'string', default: '1' },
  'max-examples': { type: 'string', default: '10' },
  'one-in': { type: 'string', default: '1' },
  turn: { type: 'string', default: '0' },
});

interface Run {
  what: string;
  kind: KeyKind;
  flags: readonly string[];
}

const Paths = z.object({ paths: z.record(z.string(), z.unknown()) });

/** Runs of what Schemathesis does with each operation by itself. It uses one core, so two share the paths. */
function shareOut(what: string, phases: string, paths: readonly string[]): readonly Run[] {
  const halves = [paths.filter((_, i) => i % 2 === 0), paths.filter((_, i) => i % 2 === 1)];
  return halves
    .filter((half) => half.length > 0)
    .map((half, i) => ({
      what: `brand keys, ${what}, half ${i + 1}`,
      kind: 'brand',
      flags: ['--phases', phases, ...half.flatMap((one) => ['--include-path', one])],
    }));
}

/**
 * The runs that are made at once, one group after another. All are of one brand: reading its events waits for the next
 * one, so it needs some. Three quarters of the time goes into the boundary values of every parameter.
 */
async function planRuns(url: string): Promise<readonly (readonly Run[])[]> {
  const answer = await fetch(`${url}/openapi.json`);
  const paths = Object.keys(Paths.parse(await answer.json()).paths).sort();
  const [every, turn] = [Number(options['one-in']), Number(options.turn)];
  const isCovered = (i: number) => i % every === turn % every;
  return [
    shareOut(
      'every boundary value',
      'examples,coverage,fuzzing',
      paths.filter((_, i) => isCovered(i)),
    ),
    shareOut(
      'random values',
      'examples,fuzzing',
      paths.filter((_, i) => !isCovered(i)),
    ),
    [
      { what: 'brand keys, one call after another', kind: 'brand', flags: ['--phases', 'stateful'] },
      // A data key is refused everywhere else, which a test holds for each operation.
      { what: 'data keys', kind: 'data', flags: ['--include-path-regex', '^/v1/creators/(search|\\{pk\\})$'] },
    ],
  ];
}

const report = (line: string) => void process.stderr.write(`${line}\n`);

/** Full rows and rows of which little is known, in several places. */
function sample() {
  const cities = ['Brooklyn', 'Los Angeles', 'São Paulo', null];
  const countries = ['US', 'United States', 'Brazil', null];
  return Array.from({ length: CREATORS }, (_, i) =>
    creator(i + 1, {
      full_name: i % 3 ? `Zoë “${i}” 🌱` : null,
      follower_count: i % 7 ? (i * i) % 100_000 : null,
      engagement_rate: i % 5 ? i / 16 : null,
      city: cities[i % cities.length] ?? null,
      country: countries[i % countries.length] ?? null,
      gender: i % 2 ? 'male' : null,
    }),
  );
}

/** One run of Schemathesis, which is reported when it ends. True when it found nothing. */
async function fuzz(program: string, url: string, brand: TestBrand, { what, kind, flags }: Run): Promise<boolean> {
  // One after the other: a pool answers 503 to hundreds at once.
  const keys: string[] = [];
  while (keys.length < KEYS) keys.push(await brand.key(kind));
  const folder = await mkdtemp(path.join(tmpdir(), 'rollcall-fuzz-'));
  await writeFile(path.join(folder, 'keys.txt'), keys.join('\n'));
  for (const file of ['schemathesis.toml', 'hooks.py']) await copyFile(`test/fuzz/${file}`, path.join(folder, file));
  const limits = ['--seed', options.seed, '--max-examples', options['max-examples']];
  report(`Schemathesis with ${what} ...`);
  const child = spawn(program, ['--no-color', 'run', `${url}/openapi.json`, ...limits, ...flags], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = await Promise.all([text(child.stdout), once(child, 'close')]);
  process.stdout.write(`\nSchemathesis with ${what}:\n${said}`);
  await rm(folder, { recursive: true, force: true });
  return child.exitCode === 0;
}

async function fuzzApp(context: Context, program: string): Promise<string[]> {
  await migratePostgres(context.postgres.db);
  await migrateClickHouse(context.clickhouse);
  const index = await putDirectory(context.elastic, context.config.directoryAlias, sample());
  const apps = await buildApps(context);
  const url = await apps.api.listen({ host: '127.0.0.1', port: 0 });
  const failed: string[] = [];
  const brand = await makeBrand(context, { plan: 'enterprise', credits: CREDITS });
  const perform = async (run: Run) => {
    if (!(await fuzz(program, url, brand, run))) failed.push(run.what);
  };
  for (const runs of await planRuns(url)) await Promise.all(runs.map(perform));
  await apps.close();
  await context.elastic.client.indices.delete({ index });
  return failed;
}

async function main(): Promise<void> {
  const dataName = `fuzz-${process.pid}`;
  const environment = readConfig();
  const program = await installSchemathesis(environment.directory, report);
  const engines = await resolveEngines(environment, ENGINES, { dataName, reuseRunning: false, report });
  // Addresses are taken from what the hooks send, so that no caller without a key is limited either.
  const config = { ...environment, directoryAlias: dataName, trustedProxies: ['127.0.0.1'] };
  const { context, close } = openContext(config, configuredUrls(engines));
  try {
    const failed = await fuzzApp(context, program);
    report(failed.length === 0 ? 'Nothing found.' : `Found faults with ${failed.join('; ')}.`);
    if (failed.length > 0) process.exitCode = 1;
  } finally {
    await close();
    await engines.stop();
    if (engines.embedded)
      await rm(path.join(engineFolder(config.directory), dataName), { recursive: true, force: true });
  }
}

await main();
