import { AsyncLocalStorage } from 'node:async_hooks';
import type { Readable, Writable } from 'node:stream';

/** The surroundings of a command: its process, or the program that runs it as a function. */
export interface Around {
  input: Readable & { isTTY?: boolean };
  out: Writable & { isTTY?: boolean };
  err: Writable & { isTTY?: boolean };
  /** The process's own by default. */
  env?: NodeJS.ProcessEnv;
  /** Aborted when the command is to stop; by default by Ctrl-C and SIGTERM. */
  signal?: AbortSignal;
  exitCode: number;
}

const ofProcess: Around = {
  // Node opens the terminal when this is first read.
  get input() {
    return process.stdin;
  },
  out: process.stdout,
  err: process.stderr,
  exitCode: 0,
};
const aroundStorage = new AsyncLocalStorage<Around>();

export const around = (): Around => aroundStorage.getStore() ?? ofProcess;

/** Runs `command` in other surroundings than this process. */
export const within = <T>(its: Around, command: () => T): T => aroundStorage.run(its, command);
