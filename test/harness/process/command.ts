import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { within } from '../../../src/process/commands/around.ts';
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

/** The function of a script, run as the script runs it. As a process it would need a second of CPU to start. */
export async function runHere(run: () => Promise<number>, env: NodeJS.ProcessEnv, input = '') {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const texts = Promise.all([text(out), text(err)]);
  const { signal } = new AbortController();
  const its = { input: Readable.from([Buffer.from(input)]), out, err, env, signal, exitCode: 0 };
  const status = await within(its, run).finally(() => {
    out.end();
    err.end();
  });
  const [written, said] = await texts;
  return { status, out: written, said };
}
