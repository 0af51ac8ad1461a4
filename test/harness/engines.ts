import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { z } from 'zod';
import { finishReconciliation, insertReconciliation } from '../../src/analytics/figures/rollups.ts';
import { readConfig } from '../../src/config.ts';
import { migrateClickHouse } from '../../src/kit/engines/clickhouse/migrate.ts';
import { openClickHouse } from '../../src/kit/engines/clickhouse/open.ts';
import { migratePostgres } from '../../src/kit/engines/postgres/migrate.ts';
import { openPostgres } from '../../src/kit/engines/postgres/open.ts';
import { isPidAlive } from '../../src/local/engines/alive.ts';
import { elasticsearch } from '../../src/local/engines/elasticsearch.ts';
import type { Engine } from '../../src/local/engines/engine.ts';
import { engineFolder } from '../../src/local/engines/folder.ts';
import { postgres } from '../../src/local/engines/postgres.ts';
import { startEmbedded } from '../../src/local/engines/start.ts';
import { valkey } from '../../src/local/engines/valkey.ts';
import { describeEnginesCpu } from '../run/cpu.ts';
import { startContainers } from './kit/containers.ts';
import { openOffers } from './kit/offers.ts';
import { ENGINE_PATIENCE } from './kit/own-engines.ts';
import { REDIS_DATABASES } from './kit/redis-databases.ts';
import { ensureTemplate } from './kit/template.ts';

export interface TestEngines {
  postgres: string;
  redis: string;
  elasticsearch: string;
  clickhouse: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    engines: TestEngines;
    /** An empty database with every migration. */
    template: string;
    offersAt: string;
    /** How often a file ran before in this run: once, where it failed. */
    attempt: number;
  }
}

export interface StartedEngines {
  urls: TestEngines;
  stop(): Promise<void>;
}

const TestUrls = z.object({ postgres: z.url(), redis: z.url(), elasticsearch: z.url(), clickhouse: z.url() });

/** `embedded`, `containers`, or a JSON file with the URLs of four engines that are up, whose data tests may fill. */
async function startChosen(): Promise<StartedEngines> {
  const chosen = process.env.TEST_ENGINES || 'embedded';
  if (chosen === 'embedded') return await startOnThisMachine();
  if (chosen === 'containers') return await startContainers();
  if (!chosen.endsWith('.json')) {
    throw new Error(`TEST_ENGINES must be embedded, containers or a .json file; it is ${JSON.stringify(chosen)}.`);
  }
  return { urls: TestUrls.parse(JSON.parse(readFileSync(chosen, 'utf8'))), stop: async () => {} };
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

/** The shared engines do not wait for the disk: tests only kill engines of their own. */
const UNSYNCED_POSTGRES: Engine = {
  ...postgres,
  program: (seat) => {
    const program = postgres.program(seat);
    return { ...program, args: [...program.args, '-c', 'fsync=off', '-c', 'full_page_writes=off'] };
  },
};

const UNSYNCED_REDIS: Engine = {
  ...valkey,
  program: (seat) => {
    const program = valkey.program(seat);
    return { ...program, args: [...program.args, '--appendfsync', 'no', '--databases', String(REDIS_DATABASES)] };
  },
};

/** The tests are the busy threads, and none of them is to wait for searches of others. */
const EQUAL_ELASTICSEARCH: Engine = { ...elasticsearch, givesWay: false };

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
    patience: ENGINE_PATIENCE,
    engines: { postgres: UNSYNCED_POSTGRES, redis: UNSYNCED_REDIS, elasticsearch: EQUAL_ELASTICSEARCH },
    report: (line) => process.stderr.write(`${line}\n`),
  });
  return {
    urls: TestUrls.parse(engines.urls),
    stop: async () => {
      process.stderr.write(`${describeEnginesCpu()}\n`);
      await engines.stop();
      removeData(path.join(base, dataName));
    },
  };
}

/** What each app of a test would otherwise do at its start. A worker of one test would repair what another breaks on purpose. */
async function migrate(urls: TestEngines): Promise<void> {
  const clickhouse = openClickHouse(urls.clickhouse);
  await migrateClickHouse(clickhouse);
  await insertReconciliation(clickhouse, { claim: '', batch: 0 });
  await finishReconciliation(clickhouse);
  await clickhouse.close();
  const { db, close } = openPostgres(urls.postgres, { max: 1 });
  await migratePostgres(db);
  await close();
}

/** Starts engines once for the whole run, which tests find with `inject`; a browser and the web app once they are wanted. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const engines = await startChosen();
  // Of what an Elasticsearch of a test's own costs, half is optimizing code that runs a few times. Workers inherit this.
  process.env.ES_JAVA_OPTS ??= '-XX:TieredStopAtLevel=1';
  await migrate(engines.urls);
  const offers = await openOffers();
  project.provide('attempt', 0);
  project.provide('engines', engines.urls);
  project.provide('template', await ensureTemplate(engines.urls.postgres));
  project.provide('offersAt', offers.url);
  return async () => {
    await offers.close();
    await engines.stop();
  };
}
