import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { ignoreFailure } from '../../kit/values/errors.ts';
import { engineUser } from './folder.ts';

export interface Program {
  command: string;
  args: string[];
  cwd: string;
  /** The complete environment: none of our variables (JAVA_TOOL_OPTIONS, PGDATA …) reach an engine. */
  env: Record<string, string>;
  deathSignal: 'TERM' | 'INT';
  /** Runs as this process's user, with a channel that closes when this process ends. */
  isOurOwn?: boolean;
}

export interface RunningProcess {
  pid: number;
  log: string;
  /** Describes the end of the process; undefined while it is running. */
  ended(): string | undefined;
  whenEnded: Promise<string>;
  child: ChildProcess;
}

const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** util-linux. Without it (macOS) the engines of a killed parent keep running until the next start, which ends them. */
const hasSetpriv = process.platform === 'linux' && spawnSync('setpriv', ['--version']).status === 0;

/** Wraps the command so that the kernel signals it when this process dies, even by kill -9. */
export function dyingWithParent(command: string, args: string[], deathSignal: string, user?: typeof engineUser) {
  if (!hasSetpriv) return { command, args, ...user };
  const drop = user ? [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'] : [];
  return { command: 'setpriv', args: [...drop, '--pdeathsig', deathSignal, command, ...args] };
}

function openLog(file: string): number {
  if (existsSync(file)) renameSync(file, file.replace(/\.log$/, '.previous.log'));
  return openSync(file, 'w');
}

export function launch(program: Program, log: string): RunningProcess {
  const wrappedCommand = dyingWithParent(
    program.command,
    program.args,
    program.deathSignal,
    program.isOurOwn ? undefined : engineUser,
  );
  const output = openLog(log);
  const child = spawn(wrappedCommand.command, wrappedCommand.args, {
    cwd: program.cwd,
    env: { PATH: SYSTEM_PATH, ...program.env },
    // A separate process group, so that Ctrl-C reaches only this process, which then stops the engines in order.
    detached: true,
    stdio: program.isOurOwn ? ['ignore', output, output, 'ipc'] : ['ignore', output, output],
    ...('uid' in wrappedCommand ? { uid: wrappedCommand.uid, gid: wrappedCommand.gid } : {}),
  });
  closeSync(output);
  let end: string | undefined;
  const whenEnded = new Promise<string>((resolve) => {
    const finish = (how: string) => {
      end ??= how;
      resolve(end);
    };
    child.once('error', (error) => finish(error.message));
    child.once('exit', (code, signal) => finish(signal ? `signal ${signal}` : `exit code ${code}`));
  });
  return { pid: child.pid ?? 0, log, child, ended: () => end, whenEnded };
}

/** The last lines of a log, for an error message. */
export function lastLines(log: string, count = 15): string {
  const text = existsSync(log) ? readFileSync(log, 'utf8') : '';
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

export type Readiness = 'ready' | 'ended' | 'late';

export async function waitUntilReady(
  engine: RunningProcess,
  isReady: () => Promise<boolean>,
  withinMs: number,
): Promise<Readiness> {
  const deadline = performance.now() + withinMs;
  while (performance.now() < deadline) {
    if (engine.ended()) return 'ended';
    if (await isReady().catch(ignoreFailure('not listening yet'))) return 'ready';
    await pause(25);
  }
  return 'late';
}

/** Asks the process to end, and kills it if it is still running after `withinMs`. */
export async function stopProcess(engine: RunningProcess, signal: NodeJS.Signals, withinMs: number): Promise<void> {
  if (engine.ended()) return;
  const pids = listTree(engine.pid);
  if (signal === 'SIGKILL') pids.forEach(killNow);
  else engine.child.kill(signal);
  const timer = setTimeout(() => pids.forEach(killNow), withinMs);
  await engine.whenEnded;
  clearTimeout(timer);
}

function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

/** The process and all its descendants, parents first; without /proc, only the process. */
export function listTree(pid: number): number[] {
  try {
    const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
    return [pid, ...children.flatMap(listTree)];
  } catch {
    return [pid];
  }
}

/** The niceness of engines that give way: beside another busy thread, each of theirs gets a third of what it gets. */
const GIVES_WAY = 5;

/** A thread may have ended, and not every system has groups: it then works as before, only slower under overload. */
function attempt(work: () => void): void {
  try {
    work();
  } catch {}
}

/**
 * Lets other processes of this machine go first. Linux has a priority for each thread, which new ones inherit, and by default
 * another one for all processes of a session, without which the first would mean nothing to other sessions.
 */
export function giveWay(pid: number): void {
  for (const member of listTree(pid)) {
    const folder = `/proc/${member}/task`;
    const threads = existsSync(folder) ? readdirSync(folder).map(Number) : [member];
    for (const thread of threads) attempt(() => os.setPriority(thread, GIVES_WAY));
  }
  attempt(() => writeFileSync(`/proc/${pid}/autogroup`, String(GIVES_WAY)));
}

/**
 * Memory of the process and its descendants, with shared pages counted once (PSS); undefined if the system does not
 * report it.
 */
export function measureMemoryMb(pid: number): number | undefined {
  try {
    const kilobytes = listTree(pid).map((member) =>
      Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${member}/smaps_rollup`, 'utf8'))?.[1] ?? 0),
    );
    return Math.round(kilobytes.reduce((sum, value) => sum + value, 0) / 1024);
  } catch {
    return undefined;
  }
}
