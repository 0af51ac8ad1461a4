import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { runIndexer } from '../../../indexer/run.ts';
import type { DirectoryEngines } from '../../../src/directory/imports/indexing/writer.ts';
import { deleteIndex, listIndices } from '../../../src/kit/engines/elastic/indices.ts';
import { type Elastic, openElastic } from '../../../src/kit/engines/elastic/open.ts';
import { openPostgres, type Postgres } from '../../../src/kit/engines/postgres/open.ts';
import { systemClock } from '../../../src/kit/values/clock.ts';
import { openSecrets } from '../../../src/kit/values/secrets.ts';
import { type Engines, engineUrls, SECRET, unique } from '../app.ts';
import { makeDatabase } from '../database.ts';
import { CHILD_ENV } from '../process/child.ts';
import { runHere } from '../process/command.ts';

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
}

export interface RunningCommand {
  child: ChildProcess;
  /** What it has said so far. */
  said(): string;
  finished: Promise<Finished>;
}

/** Goes live whatever was live before: most tests import files that have nothing in common. */
export const FORCED = { bounds: { mode: 'force' } } as const;

const forcing = (args: string[]) => (args[0] === 'import' ? [...args, '--force'] : args);

/** A directory of its own: database, alias and folder, and the ops command on them. */
export interface TestDirectory {
  engines: DirectoryEngines;
  elastic: Elastic;
  postgres: Postgres;
  folder: string;
  env: NodeJS.ProcessEnv;
  file(name: string, content: string | Buffer): Promise<string>;
  /** The command as a process, for signals, input and exit codes. */
  start(...args: string[]): RunningCommand;
  /** The command as a function of this process, which saves the start of another. */
  run(...args: string[]): Promise<Finished>;
  close(): Promise<void>;
}

function startCommand(args: string[], cwd: string, env: NodeJS.ProcessEnv, input?: Buffer): RunningCommand {
  const main = path.resolve('indexer/main.ts');
  const child = spawn(process.execPath, [main, ...args], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  child.stdin.end(input);
  const finished = once(child, 'close').then(() => ({ code: child.exitCode, signal: child.signalCode, out, err }));
  return { child, said: () => err, finished };
}

/** One at a time, because its folder becomes that of this process. */
async function runInFolder(args: string[], folder: string, env: NodeJS.ProcessEnv): Promise<Finished> {
  const before = process.cwd();
  process.chdir(folder);
  const { status, out, said } = await runHere(() => runIndexer(args), env).finally(() => process.chdir(before));
  return { code: status, signal: null, out, err: said };
}

/** With `isForced`, the command's imports go live whatever was live before. */
export async function makeDirectory(
  own: Partial<Engines> = {},
  { isForced = true }: { isForced?: boolean } = {},
): Promise<TestDirectory> {
  const database = await makeDatabase('indexer');
  const urls = { ...engineUrls(), postgres: database.url, ...own };
  const postgres = openPostgres(urls.postgres, { max: 4 });
  const elastic = openElastic(urls.elasticsearch, { timeoutMs: 30_000 });
  const alias = unique('directory');
  const folder = await mkdtemp(path.join(tmpdir(), 'rollcall-indexer-'));
  const env = {
    ...CHILD_ENV,
    DATABASE_URL: urls.postgres,
    ELASTICSEARCH_URL: urls.elasticsearch,
    REDIS_URL: urls.redis,
    DIRECTORY_ALIAS: alias,
    ROLLCALL_SECRET: SECRET,
  };
  const secrets = openSecrets(Buffer.from(SECRET, 'hex'));
  const given = (args: string[]) => (isForced ? forcing(args) : args);
  return {
    engines: { elastic, db: postgres.db, clock: systemClock, alias, secrets: () => secrets },
    elastic,
    postgres,
    folder,
    env,
    file: async (name, content) => {
      const file = path.join(folder, name);
      await writeFile(file, content);
      return file;
    },
    start: (...args) => startCommand(given(args), folder, env),
    run: (...args) => runInFolder(given(args), folder, env),
    close: async () => {
      for (const { name } of await listIndices(elastic, `${alias}-`)) await deleteIndex(elastic, name);
      await rm(folder, { recursive: true });
      await Promise.all([elastic.close(), postgres.close()]);
      await database.drop();
    },
  };
}

export function runWithInput(directory: TestDirectory, input: Buffer, ...args: string[]): Promise<Finished> {
  return startCommand(forcing(args), directory.folder, directory.env, input).finished;
}

const Found = z.object({ hits: z.object({ total: z.object({ value: z.number() }) }) });

/**
 * Searches the live directory until stopped: every number of creators that was seen. Three searches follow each other
 * so closely that one of them meets a swap; without a pause they would take a core from the import.
 */
export function watchSearches({ elastic, engines }: TestDirectory): { seen: Set<number>; stop(): Promise<void> } {
  const seen = new Set<number>();
  let isDone = false;
  async function search(): Promise<void> {
    while (!isDone) {
      const answer = await elastic.post(`/${engines.alias}/_search`, '{"size":1,"track_total_hits":true}');
      seen.add(Found.parse(JSON.parse(answer.toString())).hits.total.value);
      await pause(5);
    }
  }
  const searches = Promise.all([search(), search(), search()]);
  return {
    seen,
    stop: async () => {
      isDone = true;
      await searches;
    },
  };
}
