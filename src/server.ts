import { Command, InvalidArgumentError } from 'commander';
import { buildApp } from './app.ts';
import { readConfig } from './config.ts';
import { ensureDemo } from './demo.ts';
import { migrateClickHouse } from './engines/clickhouse/migrate.ts';
import { announceRunning, resolveEngines } from './engines/embedded/running.ts';
import { migratePostgres } from './engines/postgres/migrate.ts';
import { ApiError } from './errors.ts';
import { choosePort, listen, withLinksOn } from './listen.ts';
import { assertNode } from './node-version.ts';
import { configuredUrls, openContext } from './open-context.ts';
import { ensureSample, heapMbFor, sampleSize } from './sample.ts';
import { step, welcome } from './terminal.ts';
import { startWorker } from './worker.ts';

const SAMPLE_CREATORS = 20_000;
const STOP_AFTER_MS = 20_000;

function wholeNumber(value: string): number {
  if (!/^\d{1,8}$/.test(value)) throw new InvalidArgumentError('must be a whole number.');
  return Number(value);
}

const options = new Command('rollcall')
  .description(
    'The Rollcall API. Engines without a URL in the environment are embedded, with sample data and a demo brand.',
  )
  .option('--creators <number>', `creators of the sample directory (default ${SAMPLE_CREATORS})`, wholeNumber)
  .option('--port <number>', 'port to listen on (default 8080, or the next free one)', wholeNumber)
  .showHelpAfterError()
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .parse()
  .opts<{ creators?: number; port?: number }>();

const ENGINES = ['postgres', 'redis', 'elasticsearch', 'clickhouse'] as const;

async function main(): Promise<void> {
  assertNode();
  const config = readConfig();
  const creators = options.creators ?? (await sampleSize(config)) ?? SAMPLE_CREATORS;
  const report = (line: string) => process.stderr.write(`${line}\n`);
  const engines = await resolveEngines(config, ENGINES, {
    reuseRunning: false,
    elasticsearchHeapMb: heapMbFor(creators),
    report,
  });
  const urls = configuredUrls(engines);
  const withdraw = engines.embedded ? await announceRunning(config.directory, urls) : undefined;
  const port = await choosePort(config, options.port);
  const { context, close } = openContext(withLinksOn(config, port), urls);

  await step('Migrating', async () => {
    await migratePostgres(context.postgres.db);
    // Without it the API serves all but figures; the worker migrates it when it is back.
    await migrateClickHouse(context.clickhouse).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      report(error.message);
    });
  });
  if (!config.urls.elasticsearch)
    await ensureSample(context, options.creators ?? creators, options.creators !== undefined);
  const { fastify } = await buildApp(context);
  const url = await listen(fastify, config, port);
  // Nobody else runs a worker beside embedded engines.
  const worker = engines.embedded ? startWorker(context, urls.redis) : undefined;

  async function stop(): Promise<void> {
    setTimeout(() => process.exit(1), STOP_AFTER_MS).unref();
    await fastify.close();
    await worker?.stop();
    await close();
    await withdraw?.();
    await engines.stop();
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());
  welcome(url, config.urls.postgres ? undefined : await ensureDemo(context, url));
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
