import path from 'node:path';
import type { Config } from '../../kit/values/config.ts';
import { ignoreFailure } from '../../kit/values/errors.ts';
import { clickhouse } from './clickhouse.ts';
import { elasticsearch } from './elasticsearch.ts';
import { ENGINE_NAMES, type Engine, type EngineName, type Seat } from './engine.ts';
import { engineFolder, makeOpenFolder } from './folder.ts';
import { install, isInstalled } from './install.ts';
import { type Java, USUAL_JDK_FOLDERS } from './java.mjs';
import { findFreePort } from './port.ts';
import { postgres } from './postgres.ts';
import { checkPrerequisites } from './prerequisites.ts';
import { listTree, measureMemoryMb, stopProcess } from './process.ts';
import { openReviver } from './revive.ts';
import { type Launchpad, type Running, secondsSince, startEngine, stopEngine } from './run-engine.ts';
import { lockStack } from './stack.ts';
import { valkey } from './valkey.ts';

export interface EmbeddedOptions {
  /** The folder in which engines are installed. */
  directory: string;
  /** The folder below `directory` with this stack's data. Each stack has its own, so several can run side by side. */
  dataName: string;
  /** Default: all four. */
  only?: readonly EngineName[];
  /** Engines that are started in another way, such as a node of a cluster. */
  engines?: Partial<Record<EngineName, Engine>>;
  elasticsearchHeapMb: number;
  java: Config['java'];
  /** Engines that the start does not wait for; `started` resolves when they are up. */
  later?: readonly EngineName[];
  /** Restarts an engine that ends by itself, or that is in `later` and fails to start, until it is up. */
  revives?: boolean;
  /** Multiplies the time that an engine is given to become ready, on a machine that has much else to do. */
  patience?: number;
  /** Folders in which this system usually installs JDKs. */
  javaFolders?: readonly string[];
  /**
   * Called with a line when a long step begins, when a step ends (with its duration), and when an engine ends by
   * itself.
   */
  report: (line: string) => void;
}

export interface EmbeddedEngines {
  urls: Partial<Record<EngineName, string>>;
  /** The process to signal for each engine; for Elasticsearch, the server behind its launcher. */
  readonly pids: Partial<Record<EngineName, number>>;
  readonly startMs: Partial<Record<EngineName, number>>;
  /**
   * Resolves when the engine is up. Rejects if it failed to start or, if engines are restarted, when the stack is
   * stopped.
   */
  started(name: EngineName): Promise<void>;
  /** Memory of each engine, with shared pages counted once (PSS). Empty if the system does not report it. */
  memoryMb(): Partial<Record<EngineName, number>>;
  /** Restarts the engine on the same port and data, after ending what is left of it. */
  restart(name: EngineName): Promise<void>;
  /** Stops the engines one after the other, each within seconds. A second call waits for the first. */
  stop(): Promise<void>;
}

const EMBEDDED: Record<EngineName, Engine> = { postgres, redis: valkey, elasticsearch, clickhouse };

/** Engines that read others' data stop first, the source of truth last. */
const STOP_ORDER: readonly EngineName[] = ['elasticsearch', 'clickhouse', 'redis', 'postgres'];

/** Rejects with the first failure, but only after every task has ended, so that nothing continues in the background. */
async function allOrFirstError<T>(tasks: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(tasks);
  return Promise.all(tasks);
}

async function installEngine(engine: Engine, base: string, java: Java | undefined, report: EmbeddedOptions['report']) {
  if (!engine.installation) return;
  const { folder, size, fetch } = engine.installation;
  const home = path.join(base, folder);
  if (isInstalled(home)) return;
  const start = performance.now();
  report(`Fetching ${engine.title}, ${size} ...`);
  await install(home, (into) => fetch(into, java)).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `${engine.title} could not be downloaded. To use your own, set ${engine.variable}.\n${why}`;
    throw new Error(message, { cause });
  });
  report(`${engine.title} downloaded and unpacked (${secondsSince(start)})`);
}

type Stack = Map<EngineName, Running>;

function byName<T>(stack: Stack, value: (running: Running) => T | undefined): Partial<Record<EngineName, T>> {
  const result: Partial<Record<EngineName, T>> = {};
  for (const [name, running] of stack) {
    const namedValue = value(running);
    if (namedValue !== undefined) result[name] = namedValue;
  }
  return result;
}

async function stopStack(stack: Stack, { launching, stack: lock }: Launchpad): Promise<void> {
  // Elasticsearch's launcher would leave a server behind that it has just started.
  await Promise.all([...launching].map((process) => stopProcess(process, 'SIGKILL', 0)));
  for (const name of STOP_ORDER) await stopEngine(stack.get(name));
  lock.release();
}

/** Elasticsearch's launcher waits for the server that it started; the other engines are a single process. */
function mainPid(name: EngineName, running: Running): number | undefined {
  if (running.process.ended()) return undefined;
  return name === 'elasticsearch' ? (listTree(running.process.pid)[1] ?? running.process.pid) : running.process.pid;
}

/** A stack while it starts and runs. */
interface Launched {
  stack: Stack;
  engines: Record<EngineName, Engine>;
  pad: Launchpad;
  seats: ReadonlyMap<EngineName, Seat>;
  starting: ReadonlyMap<EngineName, Promise<void>>;
  ending: AbortController;
}

function handle({ stack, engines, pad, seats, starting, ending }: Launched): EmbeddedEngines {
  let stopping: Promise<void> | undefined;
  return {
    urls: Object.fromEntries([...seats].map(([name, seat]) => [name, engines[name].url(seat)])),
    started: async (name) => await starting.get(name),
    get pids() {
      const entries = [...stack].map(([name, running]) => [name, mainPid(name, running)] as const);
      return Object.fromEntries(entries.filter(([, pid]) => pid !== undefined));
    },
    get startMs() {
      return byName(stack, ({ startMs }) => Math.round(startMs));
    },
    memoryMb: () => byName(stack, ({ process }) => (process.ended() ? undefined : measureMemoryMb(process.pid))),
    restart: async (name) => {
      const running = stack.get(name);
      if (!running || stopping) throw new Error(`No embedded ${engines[name].title} runs here.`);
      await stopEngine(running);
      stack.set(name, await startEngine(name, running.engine, running.seat, pad, 1));
    },
    stop: () => {
      ending.abort();
      stopping ??= stopStack(stack, pad);
      return stopping;
    },
  };
}

/** Starts real engines on this machine, on free loopback ports; downloads them first if they are not installed. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedEngines> {
  const { dataName, only, elasticsearchHeapMb, java: javaConfig, report } = options;
  const engines = { ...EMBEDDED, ...options.engines };
  const names = ENGINE_NAMES.filter((name) => only?.includes(name) ?? true);
  const base = engineFolder(options.directory);
  const toHome = (name: EngineName) => path.join(base, engines[name].installation?.folder ?? '');
  const java = checkPrerequisites({
    engines: names,
    isInstalled: (name) => isInstalled(toHome(name)),
    java: javaConfig,
    javaFolders: options.javaFolders ?? USUAL_JDK_FOLDERS,
  });
  const folder = path.join(base, dataName);
  makeOpenFolder(folder);
  const lock = await lockStack(folder, options.directory, report);
  const ending = new AbortController();
  const pad: Launchpad = {
    folder,
    stack: lock,
    ending: ending.signal,
    launching: new Set(),
    patience: options.patience ?? 1,
    report,
  };
  makeOpenFolder(path.join(folder, 'log'));
  const stack: Stack = new Map();
  const seats = new Map<EngineName, Seat>();
  for (const name of names) {
    const port = await findFreePort();
    seats.set(name, { home: toHome(name), data: path.join(folder, name), port, heapMb: elasticsearchHeapMb, java });
  }
  /** An engine that becomes ready only after the stack was stopped is stopped, too. */
  const startOne = async (name: EngineName, seat: Seat, patience = 1) => {
    const running = await startEngine(name, engines[name], seat, pad, patience);
    if (ending.signal.aborted) await stopEngine(running);
    else stack.set(name, running);
  };
  const reviver = options.revives ? openReviver({ start: startOne, ending: ending.signal, report }) : undefined;
  pad.ended = (name, running) => {
    reviver?.ended(name, running).catch(ignoreFailure('the stack is being stopped'));
  };
  /** Each engine starts as soon as it is downloaded, without waiting for larger ones. */
  const fetchAndStart = async (name: EngineName, seat: Seat) => {
    const engine = engines[name];
    await installEngine(engine, base, java, report);
    ending.signal.throwIfAborted();
    const start = startOne(name, seat);
    if (reviver && options.later?.includes(name))
      await start.catch((error) => reviver.failed(name, { engine, seat }, error));
    else await start;
  };
  const starting = new Map([...seats].map(([name, seat]) => [name, fetchAndStart(name, seat)] as const));
  for (const start of starting.values()) start.catch(ignoreFailure('the caller that awaits it gets the error'));
  try {
    await allOrFirstError([...starting].flatMap(([name, start]) => (options.later?.includes(name) ? [] : [start])));
  } catch (error) {
    ending.abort();
    await stopStack(stack, pad);
    throw error;
  }
  return handle({ stack, engines, pad, seats, starting, ending });
}
