import { inspect } from 'node:util';
import { readConfig } from '../src/config.ts';
import type { Context } from '../src/kit/operation/context.ts';
import type { Config } from '../src/kit/values/config.ts';
import { ENGINE_NAMES, type EngineName } from '../src/local/engines/engine.ts';
import { startEmbedded } from '../src/local/engines/start.ts';
import type { EngineUrls } from '../src/process/engine-urls.ts';
import { openContext } from '../src/process/open-context.ts';
import { NOWHERE, SECRET } from './children.ts';
import { withOwnData } from './own-data.ts';
import { openResults, progress, type Results } from './report.ts';

interface Engines {
  /** Those to start; all by default. */
  only?: readonly EngineName[];
  elasticsearchHeapMb?: number;
  /** Whether the engines in the environment are used, if it names any. */
  mayBeGiven?: boolean;
}

type Measure = (results: Results, context: Context, urls: EngineUrls) => Promise<void>;

async function measureOn(
  config: Config,
  dataName: string,
  measure: Measure,
  { only = ENGINE_NAMES, elasticsearchHeapMb = 512, mayBeGiven = false }: Engines,
): Promise<boolean> {
  const { directory, java, urls } = config;
  const engines =
    mayBeGiven && urls.postgres !== undefined
      ? { urls, stop: async () => undefined }
      : await startEmbedded({ directory, dataName, only, elasticsearchHeapMb, java, report: progress });
  try {
    const { postgres = '', redis = '', clickhouse = '', elasticsearch = NOWHERE } = engines.urls;
    const used = { postgres, redis, elasticsearch, clickhouse };
    const { context, close } = openContext(config, used);
    await context.redis.ready();
    const results = openResults();
    await results.part('all', () => measure(results, context, used));
    await close();
    return results.report();
  } finally {
    await engines.stop();
  }
}

/** Runs one measurement on engines of its own, reports it, and exits with 1 if a bound is missed. */
export function measureOnOwnEngines(measure: Measure, engines: Engines = {}): void {
  // The secret of the bench's processes, which read what this one mints; a clone that never started has none.
  const config = { ...readConfig(), secret: Buffer.from(SECRET, 'hex'), logLevel: 'silent' } as const;
  withOwnData(config, (dataName) => measureOn(config, dataName, measure, engines))
    .then((isMet) => {
      process.exitCode = isMet ? 0 : 1;
    })
    .catch((error: unknown) => {
      process.stderr.write(`${inspect(error)}\n`);
      // Connections of a failed measurement would keep the process alive.
      process.exit(1);
    });
}
