import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { indexBehind } from '../../engines/elastic/indices.ts';
import type { Elastic } from '../../engines/elastic/open.ts';
import type { Db } from '../../engines/postgres/open.ts';
import type { Clock } from '../../values/clock.ts';
import { ignoreFailure } from '../../values/errors.ts';
import type { Layout } from './definition.ts';
import { findWriter, labelWriter, recordLive, tryLock, unlock } from './queries.ts';

/** The engines that every directory command needs. */
export interface DirectoryEngines {
  elastic: Elastic;
  db: Db;
  clock: Clock;
  /** The alias that searches use; the names of its indices begin with it. */
  alias: string;
  /** For new indices; one shard without replicas by default. */
  layout?: Layout;
}

class DirectoryBusy extends Error {}

export interface WaitOptions {
  /** Called while another writer holds the lock; the command then waits for it. Without it, the command fails. */
  onWait?: ((message: string) => void) | undefined;
  signal?: AbortSignal | undefined;
}

export interface WriterLock {
  /** Throws if the write lock was lost, for example with its connection. Called before irreversible steps. */
  assertLocked(): Promise<void>;
}

const RETRY_MS = 200;

async function describeHolder(db: Db, alias: string): Promise<string> {
  const writer = await findWriter(db, alias);
  if (!writer) return 'Another process is writing to the directory';
  return `${writer.holder} has been running ${writer.command} since ${writer.since.toISOString()}`;
}

async function take(connection: Db, engines: DirectoryEngines, command: string, options: WaitOptions): Promise<void> {
  let isSaid = false;
  while (!(await tryLock(connection, engines.alias))) {
    const message = await describeHolder(engines.db, engines.alias);
    if (!options.onWait) throw new DirectoryBusy(`${message}; one writer at a time.`);
    if (!isSaid) options.onWait(`Waiting: ${message}.`);
    isSaid = true;
    await pause(RETRY_MS);
    if (options.signal?.aborted) throw new Error(`The ${command} was stopped while waiting: ${message}.`);
  }
}

/**
 * Runs `work` as the only writer of this directory. The right is an advisory lock on a dedicated connection, so it
 * ends with the process, even after a crash.
 */
export async function asWriter<T>(
  engines: DirectoryEngines,
  command: string,
  options: WaitOptions,
  work: (lock: WriterLock) => Promise<T>,
): Promise<T> {
  const { db, elastic, clock, alias } = engines;
  return await db.connection().execute(async (connection) => {
    await take(connection, engines, command, options);
    try {
      const holder = `process ${process.pid} on ${hostname()}`;
      await labelWriter(db, alias, { command, holder, since: clock.now() });
      const live = await indexBehind(elastic, alias);
      if (live) await recordLive(db, alias, live, clock.now());
      return await work({
        assertLocked: async () => {
          // The holder can take the lock again at once; no other session can while it is held.
          if (!(await tryLock(connection, alias))) throw new DirectoryBusy('The write lock was lost.');
          await unlock(connection, alias);
        },
      });
    } finally {
      await unlock(connection, alias).catch(ignoreFailure('a connection that broke took the lock with it'));
    }
  });
}
