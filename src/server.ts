import { readConfig } from './config.ts';
import { clientFolder, ensureClient } from './interfaces/web-app/build.ts';
import { keepRelease } from './interfaces/web-app/releases.ts';
import { announceRunning, resolveEngines } from './local/engines/running.ts';
import { ensureSample, heapMbFor, noteSize, sampleSize } from './local/sample.ts';
import { listening, report, step, welcome } from './local/terminal.ts';
import { readServerOptions, SAMPLE_CREATORS } from './process/commands/server.ts';
import { assertSharedStorage, configuredUrls } from './process/engine-urls.ts';
import { choosePorts, listen, onPorts } from './process/listen.ts';
import { openShutdown, reportRefusedStart } from './process/shutdown.ts';

const STOP_WITHIN_MS = 20_000;
/** The niceness of the web app's build: it gets a tenth of the CPU that each starting engine and the import get. */
const BESIDE = 10;
const ENGINES = ['postgres', 'redis', 'elasticsearch', 'clickhouse'] as const;

const options = readServerOptions();
const shutdown = openShutdown(STOP_WITHIN_MS);

/** All nouns, doors and engines take a second to load: not before the arguments are read, and while engines start. */
async function loadServer() {
  const [apps, checks, erasures, jobs, migrations, opening] = await Promise.all([
    import('./process/apps.ts'),
    import('./process/check-engines.ts'),
    import('./affiliates/data-requests/erase-again.ts'),
    import('./process/jobs.ts'),
    import('./process/migrate.ts'),
    import('./process/open-context.ts'),
  ]);
  return { ...apps, ...checks, ...erasures, ...jobs, ...migrations, ...opening };
}

/** Builds the web app; true if it is built. If that fails, the reason is reported, and /app says that it is not. */
async function buildWebApp(directory: string, folder: string): Promise<boolean> {
  try {
    await step('Building the web app', () => ensureClient(directory, folder, { niceness: BESIDE }));
    return true;
  } catch (error) {
    if (!shutdown.isEnding()) report(error instanceof Error ? error.message : String(error));
    return false;
  }
}

async function main(): Promise<void> {
  const configured = readConfig();
  assertSharedStorage(configured);
  const config = onPorts(configured, await choosePorts(configured, options.port));
  const creators = options.creators ?? (await sampleSize(config)) ?? SAMPLE_CREATORS;
  const elasticsearchHeapMb = await heapMbFor(config, creators);
  // The web app is built beside all that follows; searches are answered before it is there.
  const webApp = clientFolder(config.directory);
  const building = buildWebApp(config.directory, webApp);
  const [engines, server] = await Promise.all([
    resolveEngines(config, ENGINES, {
      reuseRunning: false,
      elasticsearchHeapMb,
      report,
      // Searches are 503 until Elasticsearch is up; everything else is already served.
      later: ['elasticsearch'],
      revives: true,
    }).then((started) => {
      shutdown.addBounded(() => started.stop());
      return started;
    }),
    loadServer(),
  ]);
  const urls = configuredUrls(engines);
  if (engines.embedded) shutdown.add(await announceRunning(config.directory, { urls }));
  await server.checkEngines(config, report);
  const { context, readClock, close } = server.openContext(config, urls);
  shutdown.add(close);

  if (!engines.embedded && config.apiUrl === undefined) {
    report('API_URL is not set: agents on other machines cannot connect by OAuth.');
  }
  await step('Migrating', () => server.migrate(context, report));
  await readClock();
  await server.eraseAgain(context);
  /** Undefined while it is being built. */
  let hasWebApp: boolean | undefined;
  void building.then((isBuilt) => {
    hasWebApp = isBuilt;
    if (!isBuilt || shutdown.isEnding()) return;
    keepRelease(context.files, webApp).catch((error: unknown) => {
      context.log.warn({ err: error }, 'the files of the web app are not kept for other releases');
    });
  });
  const apps = await server.buildApps(context, { webApp });
  let jobs: ReturnType<typeof server.startJobs> | undefined;
  shutdown.add(async () => await jobs?.stop());
  shutdown.add(apps.close);
  const { url, linksUrl } = await listen(apps, config);
  // A server that is being stopped withdraws its announcement, and must not announce itself again.
  if (engines.embedded && !shutdown.isEnding()) await announceRunning(config.directory, { url, linksUrl, urls });
  const isEmpty = options.empty === true;
  const local = config.urls.postgres ? undefined : await import('./local/demo.ts');
  const demo = await local?.ensureDemo(context, url, { isEmpty });
  listening(url, linksUrl, demo !== undefined);
  async function startWork(): Promise<void> {
    // Jobs wait, because they would mix the present into the sample's past.
    if (demo)
      await local?.ensureSampleBrand(context, demo, {
        isEmpty,
        isEnding: shutdown.isEnding,
        report,
        postgresUrl: urls.postgres,
      });
    // With embedded engines there is no separate worker.
    if (engines.embedded && !shutdown.isEnding()) jobs = server.startJobs(context, urls.redis);
  }
  async function fillDirectory(): Promise<void> {
    await engines.embedded?.started('elasticsearch');
    if (!config.urls.elasticsearch) await ensureSample(context, creators, options.creators !== undefined);
  }
  await Promise.all([startWork(), fillDirectory()]);
  await noteSize(config, context.elastic);
  shutdown.add(() => noteSize(config, context.elastic));
  shutdown.started();
  welcome(url, demo, hasWebApp);
}

main().catch(async (error: unknown) => {
  // A failure caused by the shutdown is not reported.
  if (shutdown.isEnding()) return;
  reportRefusedStart(error);
  await shutdown.end();
  process.exit(1);
});
