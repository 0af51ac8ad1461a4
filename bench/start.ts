import type { Config } from '../src/kit/values/config.ts';
import { ENGINE_NAMES } from '../src/local/engines/engine.ts';
import { type EmbeddedEngines, startEmbedded } from '../src/local/engines/start.ts';
import { configuredUrls, type EngineUrls } from '../src/process/engine-urls.ts';
import { environmentOf, type Server, startServer } from './children.ts';
import { type Add, progress, round } from './report.ts';

const HEAP_MB = 1_024;
const SECOND_START_S = 12;

/** Everything that `npm start` starts: engines, then the API. */
export interface Started {
  engines: EmbeddedEngines;
  urls: EngineUrls;
  env: Record<string, string>;
  api: Server;
  seconds: number;
  stop(): Promise<void>;
}

async function startAll(config: Config, dataName: string): Promise<Started> {
  const from = performance.now();
  const { directory, java } = config;
  const engines = await startEmbedded({ directory, dataName, elasticsearchHeapMb: HEAP_MB, java, report: progress });
  try {
    const { postgres, redis, elasticsearch, clickhouse } = engines.urls;
    const urls = configuredUrls({ urls: { postgres, redis, elasticsearch, clickhouse } });
    const env = environmentOf(config, urls);
    const api = await startServer(() => ['src/server.ts'], env);
    const stop = async () => {
      await api.stop();
      await engines.stop();
    };
    return { engines, urls, env, api, seconds: (performance.now() - from) / 1000, stop };
  } catch (error) {
    await engines.stop();
    throw error;
  }
}

function describe({ engines, api }: Started): string {
  const memory = engines.memoryMb();
  const parts = ENGINE_NAMES.map(
    (name) => `${name} ${round((engines.startMs[name] ?? 0) / 1000)} s ${memory[name] ?? '?'} MB`,
  );
  return [...parts, `API ${round(api.readyAfterMs / 1000)} s`].join(', ');
}

/** Starts twice on a new folder and leaves the second running. */
export async function measureStart(config: Config, dataName: string, add: Add): Promise<Started> {
  const figure = { bound: 'at most', warm: "engines installed; the system's page cache" } as const;
  progress('First start, on an empty folder');
  const first = await startAll(config, dataName);
  add({ ...figure, name: 'first_start_seconds', value: first.seconds, floor: null, measured: describe(first) });
  await first.stop();
  progress('Second start');
  const started = await startAll(config, dataName);
  const second = { value: started.seconds, floor: SECOND_START_S, measured: describe(started) };
  add({ ...figure, name: 'second_start_seconds', ...second });
  return started;
}
