import { existsSync, readdirSync, readFileSync } from 'node:fs';

declare module 'vitest' {
  interface TaskMeta {
    /** CPU time of a file's tests and of the processes that they started and that ended. */
    cpuMs?: number;
  }
}

const STAT = '/proc/self/stat';
/** Linux counts CPU time in hundredths of a second, on every architecture. */
const TICK_MS = 10;

interface Usage {
  parent: number;
  /** CPU time of the process and of its children that have ended. */
  ms: number;
}

function parseStat(line: string): Usage {
  // The second field, the command's name, may contain spaces. The parent is field 4, and CPU times are fields 14 to 17.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const ms = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * TICK_MS, 0);
  return { parent: Number(fields[1]), ms };
}

/** CPU time of this process; on Linux with that of the processes that it started and that have ended. */
export function readCpuMs(): number {
  if (existsSync(STAT)) return parseStat(readFileSync(STAT, 'utf8')).ms;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const ENGINES = [
  ['Elasticsearch', /elasticsearch/],
  ['PostgreSQL', /postgres/],
  ['ClickHouse', /clickhouse/],
  ['Redis', /valkey|redis/],
] as const;

function readUsages(): Map<number, Usage> {
  const usages = new Map<number, Usage>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      usages.set(Number(name), parseStat(readFileSync(`/proc/${name}/stat`, 'utf8')));
    } catch {
      // It has ended.
    }
  }
  return usages;
}

/** The CPU time of each engine that this process has started and that runs, as text; empty except on Linux. */
export function describeEnginesCpu(): string {
  if (!existsSync(STAT)) return '';
  const usages = readUsages();
  const childrenOf = Map.groupBy(usages.keys(), (pid) => usages.get(pid)?.parent ?? 0);
  const sumTree = (pid: number): number =>
    (childrenOf.get(pid) ?? []).reduce((sum, child) => sum + sumTree(child), usages.get(pid)?.ms ?? 0);
  const running = (childrenOf.get(process.pid) ?? []).flatMap((pid) => {
    const [program = '', ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const engine = ENGINES.find(([, pattern]) => pattern.test(program) || args.some((arg) => pattern.test(arg)));
    return engine ? [`${engine[0]} ${(sumTree(pid) / 1000).toFixed(0)} s`] : [];
  });
  return running.length === 0 ? '' : `CPU time of the engines: ${running.join(', ')}`;
}
