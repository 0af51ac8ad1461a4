import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { indexBehind } from '../../../kit/engines/elastic/indices.ts';
import type { Elastic } from '../../../kit/engines/elastic/open.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import type { Context } from '../../../kit/operation/context.ts';
import type { Clock } from '../../../kit/values/clock.ts';
import { ignoreFailure } from '../../../kit/values/errors.ts';
import type { Secrets } from '../../../kit/values/secrets.ts';
import { recoverChanges } from '../../changes/recover.ts';
import type { Layout } from './index-definition.ts';
import { findWriter, recordLive, renewLock, tryLock, unlock, type Writer } from './records.ts';

/** The engines that every directory command needs. */
export interface DirectoryEngines {
  elastic: Elastic;
  db: Db;
  clock: Clock;
  /** The alias that searches use; the names of its indices begin with it. */
  alias: string;
  /** For new indices; one shard without replicas by default. */
  layout?: Layout;
  /** Read only once a creator opted out, because their names are hashed under a sealed key. */
  secrets(): Secrets;
}

/** The engines of a process that serves this directory. */
export const toDirectoryEngines = ({
  elastic,
  postgres,
  clock,
  config,
  secrets,
}: Pick<Context, 'elastic' | 'postgres' | 'clock' | 'config' | 'secrets'>): DirectoryEngines => ({
  elastic,
  db: postgres.db,
  clock,
  alias: config.directoryAlias,
  layout: config.directoryLayout,
  secrets: () => secrets,
});

class DirectoryBusy extends Error {}

export interface WaitOptions {
  /** Called while another writer holds the lock; the command then waits for it. Without it, the command fails. */
  onWait?: ((message: string) => void) | undefined;
  signal?: AbortSignal | undefined;
}

export interface WriterLock {
  /** Throws if the write lock was lost, for example because it was not renewed. Called before irreversible steps. */
  assertLocked(): Promise<void>;
}

const RETRY_MS = 200;
/** Well within the time that a silent writer keeps the lock. */
const RENEW_EVERY_MS = 2_000;

/** This process, named so that another on the machine can tell whether it has ended; null where that is impossible. */
async function nameProcess(pid: number | string): Promise<string | null> {
  try {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    return `${boot.trim()} ${await readlink('/proc/self/ns/pid')} ${pid}`;
  } catch {
    return null;
  }
}

/** Tells if a process of this machine has ended. */
async function hasEnded(name: string): Promise<boolean> {
  const pid = name.split(' ').at(-1) ?? '';
  if (name !== (await nameProcess(pid))) return false;
  return !existsSync(`/proc/${pid}`);
}

/** The holder of the lock, if its process has ended. */
async function findEnded(db: Db, alias: string): Promise<string | null> {
  const holder = (await findWriter(db, alias))?.process ?? null;
  return holder !== null && (await hasEnded(holder)) ? holder : null;
}

/** The holder of the lock, if any; a process that was killed holds nothing, though its row has not expired. */
export async function findRunningWriter(db: Db, alias: string): Promise<Writer | undefined> {
  const writer = await findWriter(db, alias);
  return writer?.process && (await hasEnded(writer.process)) ? undefined : writer;
}

async function describeHolder(db: Db, alias: string): Promise<string> {
  const writer = await findWriter(db, alias);
  if (!writer) return 'Another process is writing to the directory';
  return `${writer.holder} has been running ${writer.command} since ${writer.since.toISOString()}`;
}

/** Takes the lock, and returns its token. */
async function take({ db, clock, alias }: DirectoryEngines, command: string, options: WaitOptions): Promise<string> {
  const token = randomUUID();
  const holder = `process ${process.pid} on ${hostname()}`;
  const name = await nameProcess(process.pid);
  const claim = () => ({ token, process: name, command, holder, since: clock.now() });
  for (let isSaid = false; ; isSaid = true) {
    if (await tryLock(db, alias, claim(), null)) return token;
    const endedProcess = await findEnded(db, alias);
    if (endedProcess !== null && (await tryLock(db, alias, claim(), endedProcess))) return token;
    const message = await describeHolder(db, alias);
    if (!options.onWait) throw new DirectoryBusy(`${message}; one writer at a time.`);
    if (!isSaid) options.onWait(`Waiting: ${message}.`);
    await pause(RETRY_MS);
    if (options.signal?.aborted) throw new Error(`The ${command} was stopped while waiting: ${message}.`);
  }
}

/**
 * Runs `work` as the only writer of this directory. The lock is a row that one statement decides, so it works behind a
 * pooler; the writer renews it, and it expires ten seconds after the last renewal.
 */
export async function withWriterLock<T>(
  engines: DirectoryEngines,
  command: string,
  options: WaitOptions,
  work: (lock: WriterLock) => Promise<T>,
): Promise<T> {
  const { db, elastic, clock, alias } = engines;
  const token = await take(engines, command, options);
  const renew = () => renewLock(db, alias, token);
  const renewal = setInterval(() => {
    renew().catch(ignoreFailure('the next renewal, or the check before an irreversible step, tries again'));
  }, RENEW_EVERY_MS);
  try {
    const live = await indexBehind(elastic, alias);
    await recoverChanges({ elastic, db, alias }, live);
    if (live) await recordLive(db, alias, live, clock.now());
    return await work({
      assertLocked: async () => {
        if (!(await renew())) throw new DirectoryBusy('The write lock was lost.');
      },
    });
  } finally {
    clearInterval(renewal);
    await unlock(db, alias, token).catch(ignoreFailure('the lock expires by itself'));
  }
}
