import { Command } from 'commander';
import { buildApp } from './app.ts';
import { wholeNumber } from './commands/arguments.ts';
import { readConfig } from './config.ts';
import { ensureDemo } from './demo.ts';
import { migrateClickHouse } from './engines/clickhouse/migrate.ts';
import { announceRunning, resolveEngines } from './engines/embedded/running.ts';
import { migratePostgres } from './engines/postgres/migrate.ts';
import { ApiError } from './errors.ts';
import { choosePort, listen, withLinksOn } from './listen.ts';
import { assertNode } from './node-version.ts';
import { configuredUrls, openContext } from './open-context.ts';
import { ensureSample, heapMbFor, noteSize, sampleSize } from './sample.ts';
import { step, welcome } from './terminal.ts';
import { startWorker } from './worker.ts';

const SAMPLE_CREATORS = 20_000;
const STOP_AFTER_MS = 20_000;
const ENGINES = ['postgres', 'redis', 'elasticsearch', 'clickhouse'] as const;

const options = new Command('rollcall')
  .description(
    'The Rollcall API. Engines without a URL in the environment are embedded, with sample data and a demo brand.',
  )
  .option(
    '--creators <number>',
    `creators of the sample directory (default ${SAMPLE_CREATORS})`,
    wholeNumber(1, 99_999_999),
  )
  .option(
    '--port <number>',
    'port to listen on, 0 for any (default 8080, or the next free one)',
    wholeNumber(0, 65_535),
  )
  .showHelpAfterError()
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .parse()
  .opts<{ creators?: number; port?: number }>();

const report = (line: string) => process.stderr.write(`${line}\n`);

function tell(error: unknown): void {
  report(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}

/** How to end what runs, in the order of its start. */
const ends: (() => Promise<unknown>)[] = [];

/** Ends everything, the newest first; what cannot be ended does not keep the rest from it. */
async function stop(): Promise<void> {
  setTimeout(() => process.exit(1), STOP_AFTER_MS).unref();
  for (const end of ends.splice(0).reverse()) await end().catch(tell);
}

async function main(): Promise<void> {
  assertNode();
  const config = readConfig();
  const port = await choosePort(config, options.port);
  const creators = options.creators ?? (await sampleSize(config)) ?? SAMPLE_CREATORS;
  const elasticsearchHeapMb = await heapMbFor(config, creators);
  const engines = await resolveEngines(config, ENGINES, { reuseRunning: false, elasticsearchHeapMb, report });
  ends.push(() => engines.stop());
  const urls = configuredUrls(engines);
  if (engines.embedded) ends.push(await announceRunning(config.directory, urls));
  const { context, close } = openContext(withLinksOn(config, port), urls);
  ends.push(close);

  await step('Migrating', async () => {
    await migratePostgres(context.postgres.db);
    // Without it the API serves all but figures; the worker migrates it when it is back.
    await migrateClickHouse(context.clickhouse).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      report(error.message);
    });
  });
  if (!config.urls.elasticsearch) await ensureSample(context, creators, options.creators !== undefined);
  await noteSize(config, context.elastic);
  ends.push(() => noteSize(config, context.elastic));
  const { fastify } = await buildApp(context);
  // Nobody else runs a worker beside embedded engines.
  if (engines.embedded) ends.push(startWorker(context, urls.redis).stop);
  ends.push(() => fastify.close());
  const url = await listen(fastify, config, port);
  const demo = config.urls.postgres ? undefined : await ensureDemo(context, url);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());
  welcome(url, demo);
}

main().catch(async (error: unknown) => {
  tell(error);
  await stop();
  process.exit(1);
});
