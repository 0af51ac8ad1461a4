import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { Identity, isAlive, readIdentity } from './alive.ts';
import { listTree } from './process.ts';

/** `stack.json` in a data folder: the process that owns it, and the engines that run on it. */
const Holder = z.object({ owner: Identity, engines: z.record(z.string(), Identity) });
type Holder = z.infer<typeof Holder>;

export interface LockedStack {
  /** Records a started engine, so that the next start finds it if this process is killed. */
  record(name: string, pid: number): void;
  release(): void;
}

const LEFTOVERS_END_WITHIN_MS = 20_000;
const OWNER_ENDS_WITHIN_MS = 1_000;

function readHolder(file: string): Holder | undefined {
  try {
    return Holder.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}

function inUse(folder: string, directory: string, owner: Identity): Error {
  const demo = path.join(directory, 'demo.env');
  return new Error(
    [
      `A stack already runs on ${folder}: process ${owner.pid}${owner.pid === process.pid ? ' (this one)' : ''}.`,
      `Use it (a running server's address and keys are in ${demo}), stop it with: kill ${owner.pid},`,
      'or start a second one beside it with another ROLLCALL_DIR and PORT.',
    ].join('\n'),
  );
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has already ended.
  }
}

/** Ends engines that outlived a killed process. Most systems end them with it; here they get time to do so first. */
async function endLeftovers(holder: Holder | undefined, report: (line: string) => void): Promise<void> {
  const startedMs = performance.now();
  let alive = Object.entries(holder?.engines ?? {}).filter(([, engine]) => isAlive(engine));
  if (alive.length === 0) return;
  report(
    `Waiting for engines of the last run to end: ${alive.map(([name, { pid }]) => `${name} (${pid})`).join(', ')}`,
  );
  // SIGINT, because PostgreSQL waits for its clients on SIGTERM.
  for (const [, { pid }] of alive) signal(pid, 'SIGINT');
  while (alive.length > 0) {
    await pause(50);
    alive = alive.filter(([, engine]) => isAlive(engine));
    if (performance.now() - startedMs > LEFTOVERS_END_WITHIN_MS) {
      for (const pid of alive.flatMap(([, engine]) => listTree(engine.pid))) signal(pid, 'SIGKILL');
    }
  }
}

/** True if the owner has ended or ends within a second: a killed process may still exist for a moment. */
async function endsSoon(owner: Identity): Promise<boolean> {
  const deadline = performance.now() + (owner.pid === process.pid ? 0 : OWNER_ENDS_WITHIN_MS);
  while (isAlive(owner)) {
    if (performance.now() >= deadline) return false;
    await pause(50);
  }
  return true;
}

/** Creates the lock file if there is none. Linking is atomic, so the file is never seen half written. */
function tryTake(lock: string, holder: Holder): boolean {
  const draft = `${lock}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(holder), { mode: 0o600 });
  try {
    linkSync(draft, lock);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Makes this process the only one with a stack on the data folder. If another has one, throws an error that names it.
 */
export async function lockStack(
  folder: string,
  directory: string,
  report: (line: string) => void,
): Promise<LockedStack> {
  const lock = path.join(folder, 'stack.json');
  const holder: Holder = { owner: readIdentity(process.pid), engines: {} };
  while (!tryTake(lock, holder)) {
    const other = readHolder(lock);
    if (other && !(await endsSoon(other.owner))) throw inUse(folder, directory, other.owner);
    await endLeftovers(other, report);
    // Another process may have done the same and may hold the stack by now.
    const current = readHolder(lock);
    if (!current || !isAlive(current.owner)) rmSync(lock, { force: true });
  }
  return {
    record: (name, pid) => {
      holder.engines[name] = readIdentity(pid);
      writeFileSync(`${lock}.new`, JSON.stringify(holder), { mode: 0o600 });
      renameSync(`${lock}.new`, lock);
    },
    release: () => rmSync(lock, { force: true }),
  };
}
