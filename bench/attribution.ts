import path from 'node:path';
import { inspect } from 'node:util';
import { InvalidArgumentError } from 'commander';
import { readConfig } from '../src/config.ts';
import type { Config } from '../src/kit/values/config.ts';
import type { EngineName } from '../src/local/engines/engine.ts';
import { type EmbeddedEngines, startEmbedded } from '../src/local/engines/start.ts';
import type { EngineUrls } from '../src/process/engine-urls.ts';
import { openContext } from '../src/process/open-context.ts';
import { environmentOf, NOWHERE, SECRET, startServer } from './children.ts';
import { benchCommand } from './command.ts';
import { measureCustomers } from './customers.ts';
import { measureDrain } from './drain.ts';
import { type FiguresScale, measureFigures } from './figures.ts';
import { measureIngest } from './ingest.ts';
import { withOwnData } from './own-data.ts';
import { type ClickSession, measureRedirects, prepareClicks } from './redirects.ts';
import { openResults, progress, type Results } from './report.ts';

const EVENTS = 10_000_000;
const QUICK_EVENTS = 1_000_000;
const MOST_EVENTS = 1_000_000_000;
/** Of one brand. */
const ORDERS = 10_000_000;
const QUICK_ORDERS = 200_000;

function eventCount(value: string): number {
  const count = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (count >= QUICK_EVENTS && count <= MOST_EVENTS) return count;
  throw new InvalidArgumentError(`must be a whole number from ${QUICK_EVENTS} to ${MOST_EVENTS}.`);
}

function orderCount(value: string): number {
  const count = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (count >= 10_000 && count <= MOST_EVENTS) return count;
  throw new InvalidArgumentError(`must be a whole number from 10000 to ${MOST_EVENTS}.`);
}

const options = benchCommand(
  'bench attribution',
  'Measures clicks, orders and figures against a bare durable redirect, a bare INSERT, the raw events and PostgreSQL, on engines ' +
    'and data that are removed at the end. Prints a table and, as the last line, JSON. Exits with 1 if a ' +
    'floor is missed.',
)
  .option('--events <number>', `events in ClickHouse (default ${EVENTS}); 50000000 has higher floors`, eventCount)
  .option('--orders <number>', `orders of one brand in PostgreSQL (default ${ORDERS})`, orderCount)
  .option('--only <part>', 'streams, ingest, orders or figures')
  .option('--quick', `${QUICK_EVENTS} events; only the floors of redirects, drain and exactness`)
  .parse()
  .opts<{ events?: number; orders?: number; only?: string; quick?: true }>();

const scale: FiguresScale = {
  events: options.events ?? (options.quick ? QUICK_EVENTS : EVENTS),
  isQuick: options.quick === true,
};
const effort = options.quick ? { rounds: 3, clickMs: 3_000 } : { rounds: 8, clickMs: 3_000 };

/** Engines with separate data, in the run's folder. */
async function withEngines(
  { directory, java }: Config,
  dataName: string,
  only: readonly EngineName[],
  measure: (urls: EmbeddedEngines['urls']) => Promise<void>,
): Promise<void> {
  const engines = await startEmbedded({ directory, dataName, only, elasticsearchHeapMb: 0, java, report: progress });
  try {
    await measure(engines.urls);
  } finally {
    await engines.stop();
  }
}

async function measureStreams(results: Results, config: Config, urls: EngineUrls): Promise<void> {
  const env = environmentOf(config, urls);
  const api = await startServer(() => ['src/server.ts'], env);
  const { context, close } = openContext(config, urls);
  try {
    await context.redis.ready();
    const session: ClickSession = { env, context, api, ...effort };
    if (options.only !== 'ingest') {
      await prepareClicks(session);
      await results.part('redirects', (add) => measureRedirects(session, add));
      await results.part('drain', (add) => measureDrain(session, add));
    }
    await results.part('ingest', (add) => measureIngest(session, add));
  } finally {
    await api.stop();
    await close();
  }
}

/**
 * The stream of clicks is measured first and its engines are stopped, so that figures have the whole machine and an
 * empty ClickHouse.
 */
async function measureAll(results: Results, config: Config, dataName: string): Promise<void> {
  const part = async (name: string, measure: () => Promise<void>) => {
    const isOnly = options.only === name || (options.only === 'ingest' && name === 'streams');
    if (options.only === undefined || isOnly) await results.part(name, measure);
  };
  await part('streams', () =>
    withEngines(
      config,
      path.join(dataName, 'streams'),
      ['postgres', 'redis', 'clickhouse'],
      ({ postgres = '', redis = '', clickhouse = '' }) =>
        measureStreams(results, config, { postgres, redis, elasticsearch: NOWHERE, clickhouse }),
    ),
  );
  await part('orders', () =>
    withEngines(
      config,
      path.join(dataName, 'orders'),
      ['postgres', 'redis', 'clickhouse'],
      ({ postgres = '', redis = '', clickhouse = '' }) =>
        measureOrders(results, config, { postgres, redis, elasticsearch: NOWHERE, clickhouse }),
    ),
  );
  await part('figures', () =>
    withEngines(config, path.join(dataName, 'figures'), ['clickhouse'], ({ clickhouse = '' }) =>
      measureFigures(results, config, clickhouse, dataName, scale),
    ),
  );
}

/** Figures that are counted from PostgreSQL's orders. */
async function measureOrders(results: Results, config: Config, urls: EngineUrls): Promise<void> {
  const { context, close } = openContext(config, urls);
  try {
    await context.redis.ready();
    const count = options.orders ?? (scale.isQuick ? QUICK_ORDERS : ORDERS);
    await results.part('customers', () => measureCustomers(context, urls.postgres, count, results));
  } finally {
    await close();
  }
}

async function main(): Promise<void> {
  const config: Config = { ...readConfig(), logLevel: 'silent', secret: Buffer.from(SECRET, 'hex') };
  const from = performance.now();
  const results = openResults();
  await withOwnData(config, (dataName) => measureAll(results, config, dataName));
  progress(`Measured in ${Math.round((performance.now() - from) / 1000)} s`);
  process.exitCode = results.report() ? 0 : 1;
}

main().catch((error: unknown) => {
  process.stderr.write(`${inspect(error)}\n`);
  // Connections of a failed measurement would keep the process alive.
  process.exit(1);
});
