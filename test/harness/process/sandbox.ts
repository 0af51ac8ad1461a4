import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { readConfig } from '../../../src/config.ts';
import { engineFolder } from '../../../src/local/engines/folder.ts';
import { longDeadlineMs } from '../../run/deadline.ts';
import { until } from '../app.ts';
import { linkClient } from '../kit/offered.ts';
import { CHILD_ENV } from './child.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const ENGINES = /^(?:postgres|valkey|elasticsearch)-/;
/** Engines and the built web app are the same for everybody; data is not. */
const isShared = (name: string) => ENGINES.test(name) || name.startsWith('app-');

/** What a reader has: a folder with the project, and `npm start` in another terminal. */
export interface Sandbox {
  folder: string;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** A disk that broke while the server was stopped: only what can be installed again is left. */
  loseEverything(): Promise<void>;
  /** A shell in the folder; variables last from one piece of text to the next. */
  openShell(): Shell;
  remove(): Promise<void>;
}

export interface Shell {
  /** Runs commands; rejects with what they wrote when one fails. Answers what they wrote to stdout. */
  run(commands: string): Promise<string>;
  close(): Promise<void>;
}

async function copyProject(folder: string): Promise<void> {
  const listing = ['-c', 'safe.directory=*', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await promisify(execFile)('git', listing, { cwd: ROOT, maxBuffer: 16 * 1024 * 1024 });
  const files = stdout.split('\0').filter((file) => existsSync(path.join(ROOT, file)));
  for (const file of files.filter(Boolean)) await cp(path.join(ROOT, file), path.join(folder, file));
  await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  const installed = engineFolder(readConfig().directory);
  const own = path.join(folder, '.rollcall');
  await mkdir(own);
  for (const name of await readdir(installed)) {
    if (ENGINES.test(name)) await symlink(path.join(installed, name), path.join(own, name));
  }
  await linkClient(own);
}

/** As a terminal does: to the command and whatever it started. */
function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch {
    // The whole group has ended already.
  }
}

/** What is written to a pipe, as it comes. */
function collect(pipe: Readable | Writable | null | undefined): { text: string } {
  const written = { text: '' };
  pipe?.on('data', (chunk: Buffer) => {
    written.text += chunk.toString();
  });
  return written;
}

const PRELUDE = `set -eo pipefail
shopt -s inherit_errexit
curl() { command curl -sS --fail-with-body "$@"; echo; }
`;

function openShell(folder: string, env: NodeJS.ProcessEnv): Shell {
  const child = spawn('bash', [], { cwd: folder, env, detached: true, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
  const [out, said, done] = [collect(child.stdout), collect(child.stderr), collect(child.stdio[3])];
  child.stdin?.write(PRELUDE);
  return {
    run: async (commands) => {
      for (const written of [out, said, done]) written.text = '';
      child.stdin?.write(`{\n${commands}\n} </dev/null 3>&-\necho done >&3\n`);
      await until('the commands', () => done.text !== '' || child.exitCode !== null, longDeadlineMs).catch(
        (error: unknown) => {
          throw new Error(`${String(error)}\n${commands}\n${out.text}${said.text}`);
        },
      );
      if (done.text === '') throw new Error(`It ended with ${child.exitCode}:\n${commands}\n${out.text}${said.text}`);
      return out.text;
    },
    close: async () => {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.stdin?.end();
      signal(child, 'SIGTERM');
      await ended;
    },
  };
}

/** The project in a folder of its own, which starts as the README says, beside other servers. */
export async function openSandbox(): Promise<Sandbox> {
  const folder = await mkdtemp(path.join(tmpdir(), 'rollcall-manual-'));
  // Engines of root run as another user, who must be able to enter.
  await chmod(folder, 0o755);
  await copyProject(folder);
  const { HOME, TMPDIR } = process.env;
  const env = { ...CHILD_ENV, HOME, TMPDIR, OUTBOUND_ALLOW: '127.0.0.1' };
  let server: ChildProcess | undefined;

  async function stop(): Promise<void> {
    if (!server || server.exitCode !== null) return;
    const ended = once(server, 'exit');
    signal(server, 'SIGINT');
    await ended;
    server = undefined;
  }

  return {
    folder,
    start: async () => {
      if (server && server.exitCode === null) return;
      const started = spawn('npm', ['start'], {
        cwd: folder,
        env,
        detached: true,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      server = started;
      const said = collect(started.stderr);
      await until(
        'npm start',
        () => {
          if (started.exitCode !== null) throw new Error(`npm start ended:\n${said.text}`);
          return said.text.includes('Ctrl-C stops everything.');
        },
        longDeadlineMs,
      );
    },
    stop,
    loseEverything: async () => {
      const own = path.join(folder, '.rollcall');
      for (const name of await readdir(own)) {
        if (!isShared(name)) await rm(path.join(own, name), { recursive: true, force: true });
      }
    },
    openShell: () => openShell(folder, env),
    remove: async () => {
      await stop();
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}
