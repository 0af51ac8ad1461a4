import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { CHILD_ENV } from './child.ts';

/** A script of ours, run to its end with nothing of the environment but what is given: what it answered. */
export async function runCommand(script: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...CHILD_ENV, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, said] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { status: child.exitCode, out, said };
}
