import { describe, it } from 'vitest';
import type { Engine, EngineName } from '../../../src/local/engines/engine.ts';
import type { EmbeddedEngines } from '../../../src/local/engines/start.ts';
import { unique } from '../app.ts';
import { removeEngineData, startOwnEngines } from './own-engines.ts';

const NEEDED_GB = 6;
/** Tests on several nodes of an engine, skipped where the machine has too little free memory for them. */
export function describeCluster(title: string, define: () => void): void {
  const freeGb = process.availableMemory() / 1024 ** 3;
  if (freeGb >= NEEDED_GB) {
    describe(title, define);
    return;
  }
  const why = `${title}: not tested, because ${freeGb.toFixed(1)} GB of memory are free and a cluster takes ${NEEDED_GB} GB.`;
  process.stderr.write(`${why}\n`);
  it(title, (context) => context.skip(why));
}

/** A node of a cluster: an embedded engine of its own, with its own data, which a test may kill and restart. */
export interface ClusterNode {
  url: string;
  port: number;
  /** The engine's process; undefined while it is down. */
  pid(): number | undefined;
  /** `kill -9`. */
  kill(): void;
  /** Starts the node again, on the same port and data. */
  restart(): Promise<void>;
}

export interface ClusterNodes {
  nodes: ClusterNode[];
  stop(): Promise<void>;
}

function nodeOf(name: EngineName, stack: EmbeddedEngines): ClusterNode {
  const url = stack.urls[name] ?? '';
  return {
    url,
    port: Number(new URL(url).port),
    pid: () => stack.pids[name],
    kill: () => {
      const pid = stack.pids[name];
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    },
    restart: () => stack.restart(name),
  };
}

/**
 * Starts nodes of one engine, all at the same time, each with what its engine says differently from the embedded one:
 * `{ ...valkey, program: … }`.
 */
export async function startNodes(name: EngineName, engines: readonly Engine[]): Promise<ClusterNodes> {
  const starting = engines.map(async (engine, i) => {
    const dataName = `test-${process.pid}-${unique(`node-${i}`)}`;
    return { dataName, stack: await startOwnEngines(dataName, [name], { [name]: engine }) };
  });
  const ended = await Promise.allSettled(starting);
  const started = ended.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const stop = async () => {
    for (const { dataName, stack } of started) {
      await stack.stop();
      await removeEngineData(dataName);
    }
  };
  const failure = ended.find((one) => one.status === 'rejected');
  if (failure) {
    await stop();
    throw failure.reason;
  }
  return { nodes: started.map(({ stack }) => nodeOf(name, stack)), stop };
}
