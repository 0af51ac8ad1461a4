import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';

/** What every process of ours is given: what Node compiled for one it does not compile again for the next. */
export const CHILD_ENV = {
  PATH: process.env.PATH,
  ES_JAVA_OPTS: process.env.ES_JAVA_OPTS,
  NODE_COMPILE_CACHE: path.join(import.meta.dirname, '../../../.rollcall/test-compile-cache'),
};

export interface Run {
  child: ChildProcess;
  out(): string;
  said(): string;
}

/** A program as a process of its own, with what it has written so far. */
export function run([command = '', ...args]: readonly string[], env: NodeJS.ProcessEnv): Run {
  const child = spawn(command, args, { env: { ...CHILD_ENV, HOME: process.env.HOME, ...env } });
  let [out, said] = ['', ''];
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  return { child, out: () => out, said: () => said };
}
