import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from './config.ts';
import type { Context } from './context.ts';
import { settleAll } from './credits/settle.ts';
import { assertNode } from './node-version.ts';
import { configuredUrls, openContext } from './open-context.ts';
import { startImportWorker } from './resources/creators/directory/import/jobs.ts';

const SETTLE_EVERY_MS = 500;
const STOP_AFTER_MS = 10_000;

/** Work that no caller waits for: charges into the ledger, enqueued imports. Several workers may run. */
export function startWorker(context: Context, redisUrl: string): { stop(): Promise<void> } {
  const engines = { db: context.postgres.db, redis: context.redis, clock: context.clock };
  const stopping = new AbortController();

  async function settleForever(): Promise<void> {
    while (!stopping.signal.aborted) {
      await settleAll(engines).catch((error: unknown) => context.log.warn({ err: error }, 'charges not settled yet'));
      await sleep(SETTLE_EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  const settling = settleForever();
  const imports = startImportWorker(context, redisUrl);
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all([settling, imports.close()]);
    },
  };
}

async function main(): Promise<void> {
  assertNode();
  const config = readConfig();
  const urls = configuredUrls(config);
  const { context, close } = openContext(config, urls);
  const worker = startWorker(context, urls.redis);
  process.stderr.write('worker started\n');
  const stop = async () => {
    setTimeout(() => process.exit(1), STOP_AFTER_MS).unref();
    await worker.stop();
    await close();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());
}

if (import.meta.main) await main();
