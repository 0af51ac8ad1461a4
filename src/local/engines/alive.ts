import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Identifies a process even if its number is reused later. */
export const Identity = z.object({ pid: z.number().int().positive(), startedAt: z.string() });
export type Identity = z.infer<typeof Identity>;

/** Reads the start of a process, as the system formats it; undefined if it has ended. */
function readStart(pid: number): string | undefined {
  if (process.platform !== 'linux') {
    return spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() || undefined;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state] = fields;
    return state === 'Z' || state === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

export function readIdentity(pid: number): Identity {
  return { pid, startedAt: readStart(pid) ?? 'ended' };
}

export function isAlive(process: Identity): boolean {
  return readStart(process.pid) === process.startedAt;
}

export function isPidAlive(pid: number): boolean {
  return readStart(pid) !== undefined;
}
