import { type ChildProcess, spawn } from 'node:child_process';

export interface Run {
  child: ChildProcess;
  out(): string;
  said(): string;
}

/** A program as a process of its own, with what it has written so far. */
export function run([command = '', ...args]: readonly string[], env: NodeJS.ProcessEnv): Run {
  const child = spawn(command, args, { env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env } });
  let [out, said] = ['', ''];
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  return { child, out: () => out, said: () => said };
}
