import path from 'node:path';
import type { Engine } from './engine.ts';

const SERVER = path.join(import.meta.dirname, 'clickhouse-http.ts');

export const clickhouse: Engine = {
  title: 'ClickHouse',
  variable: 'CLICKHOUSE_URL',
  prepare: async () => {},
  program: ({ data, port }) => ({
    command: process.execPath,
    args: [SERVER, data, String(port)],
    cwd: data,
    // Each running query occupies a thread of this pool. Its size is read before any script runs.
    env: { TZ: 'UTC', UV_THREADPOOL_SIZE: '16' },
    deathSignal: 'TERM',
    isOurOwn: true,
  }),
  url: ({ port }) => `http://127.0.0.1:${port}`,
  isReady: async (port) => (await fetch(`http://127.0.0.1:${port}/ping`, { signal: AbortSignal.timeout(1_000) })).ok,
  readyWithinMs: 60_000,
  stopSignal: 'SIGTERM',
  dataStillLocked: /Cannot lock file/,
};
