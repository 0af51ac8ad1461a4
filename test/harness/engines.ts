import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { z } from 'zod';
import { readConfig } from '../../src/config.ts';
import { migrateClickHouse } from '../../src/engines/clickhouse/migrate.ts';
import { openClickHouse } from '../../src/engines/clickhouse/open.ts';
import { isPidAlive } from '../../src/engines/embedded/alive.ts';
import { engineFolder } from '../../src/engines/embedded/folder.ts';
import { startEmbedded } from '../../src/engines/embedded/start.ts';
import { finishMending, insertMending } from '../../src/resources/figures/rollups/queries.ts';
import { startContainers } from './containers.ts';

export interface TestEngines {
  postgres: string;
  redis: string;
  elasticsearch: string;
  clickhouse: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    engines: TestEngines;
  }
}

export interface StartedEngines {
  urls: TestEngines;
  stop(): Promise<void>;
}

const TestUrls = z.object({ postgres: z.url(), redis: z.url(), elasticsearch: z.url(), clickhouse: z.url() });

function usesContainers(): boolean {
  const chosen = process.env.TEST_ENGINES || 'embedded';
  if (chosen === 'embedded' || chosen === 'containers') return chosen === 'containers';
  throw new Error(`TEST_ENGINES must be embedded or containers; it is ${JSON.stringify(chosen)}.`);
}

function removeData(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/** Data of test runs that were killed. */
function sweepDeadRuns(base: string): void {
  for (const name of readdirSync(base)) {
    const pid = /^test-(\d+)(?:-|$)/.exec(name)?.[1];
    if (pid && !isPidAlive(Number(pid))) removeData(path.join(base, name));
  }
}

async function startOnThisMachine(): Promise<StartedEngines> {
  const config = readConfig();
  const base = engineFolder(config.directory);
  sweepDeadRuns(base);
  const dataName = `test-${process.pid}`;
  const engines = await startEmbedded({
    directory: config.directory,
    dataName,
    elasticsearchHeapMb: 512,
    java: config.java,
    report: (line) => process.stderr.write(`${line}\n`),
  });
  return {
    urls: TestUrls.parse(engines.urls),
    stop: async () => {
      await engines.stop();
      removeData(path.join(base, dataName));
    },
  };
}

/** A worker of one test would mend what another breaks on purpose. */
async function markMended(url: string): Promise<void> {
  const clickhouse = openClickHouse(url);
  await migrateClickHouse(clickhouse);
  await insertMending(clickhouse, { claim: '', batch: 0 });
  await finishMending(clickhouse);
  await clickhouse.close();
}

/** Starts the engines once for the whole run; tests find them with `inject('engines')`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const engines = usesContainers() ? await startContainers() : await startOnThisMachine();
  await markMended(engines.urls.clickhouse);
  project.provide('engines', engines.urls);
  return engines.stop;
}
