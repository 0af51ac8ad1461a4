import { existsSync, readFileSync } from 'node:fs';

declare module 'vitest' {
  interface TaskMeta {
    /** CPU time of a file's tests and of the processes that they started and that ended. */
    cpuMs?: number;
  }
}

const STAT = '/proc/self/stat';
/** Linux counts CPU time in hundredths of a second, on every architecture. */
const TICK_MS = 10;

/** CPU time of this process; on Linux with that of the processes that it started and that have ended. */
export function readCpuMs(): number {
  if (!existsSync(STAT)) {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
  const line = readFileSync(STAT, 'utf8');
  // The second field, the command's name, may contain spaces. CPU times are fields 14 to 17.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * TICK_MS, 0);
}
