import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import type { Seat } from '../../../src/local/engines/engine.ts';
import { engineUser, makeEngineFolder, replaceForEngine } from '../../../src/local/engines/folder.ts';
import { findFreePort } from '../../../src/local/engines/port.ts';
import { postgres } from '../../../src/local/engines/postgres.ts';
import { until } from '../app.ts';
import { type ClusterNode, type ClusterNodes, startNodes } from './cluster.ts';

const run = promisify(execFile);

const clusterOf = ({ data }: Seat) => path.join(data, 'cluster');

/** Opens a session, and closes it afterwards. */
export async function on<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Copies the primary's files while it runs, by the backup functions: the embedded one has no `pg_basebackup`. */
async function copyPrimary(primary: { url: string; seat: Seat }, seat: Seat): Promise<void> {
  const folder = clusterOf(seat);
  const from = new URL(primary.url);
  await on(primary.url, async (client) => {
    await client.query("select pg_backup_start('standby', true)");
    await run('cp', ['-a', clusterOf(primary.seat), folder]);
    const { rows } = await client.query('select labelfile from pg_backup_stop(false)');
    rmSync(path.join(folder, 'postmaster.pid'), { force: true });
    replaceForEngine(path.join(folder, 'backup_label'), String(rows[0].labelfile));
  });
  replaceForEngine(path.join(folder, 'standby.signal'), '');
  const source = `host=127.0.0.1 port=${from.port} user=postgres password=${from.password} application_name=standby`;
  appendFileSync(path.join(folder, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
}

export interface PostgresPair {
  primary: ClusterNode;
  standby: ClusterNode;
  stop(): Promise<void>;
}

/** A primary, and a standby that streams from it, asynchronously. */
export async function startPostgresPair(): Promise<PostgresPair> {
  const seats: Seat[] = [];
  const first = await startNodes('postgres', [
    {
      ...postgres,
      prepare: async (seat) => {
        seats.push(seat);
        await postgres.prepare(seat);
        appendFileSync(path.join(clusterOf(seat), 'pg_hba.conf'), 'host replication all 127.0.0.1/32 scram-sha-256\n');
      },
    },
  ]);
  const [primary] = first.nodes;
  const [seat] = seats;
  if (!primary || !seat) throw new Error('The primary did not start.');
  const second: ClusterNodes = await startNodes('postgres', [
    {
      ...postgres,
      prepare: async (own) => {
        if (existsSync(clusterOf(own))) return;
        makeEngineFolder(own.data, 0o700);
        copyFileSync(`${seat.data}.password`, `${own.data}.password`);
        await copyPrimary({ url: primary.url, seat }, own);
      },
    },
  ]).catch(async (error: unknown) => {
    await first.stop();
    throw error;
  });
  const [standby] = second.nodes;
  if (!standby) throw new Error('The standby did not start.');
  await until('the standby to stream', async () =>
    on(primary.url, async (client) => (await client.query('select from pg_stat_replication')).rowCount === 1),
  );
  return {
    primary,
    standby,
    stop: async () => {
      await second.stop();
      await first.stop();
    },
  };
}

/** The installed PgBouncer's version; undefined without one. */
export async function findPgBouncer(): Promise<string | undefined> {
  try {
    return /PgBouncer (\S+)/.exec((await run('pgbouncer', ['--version'])).stdout)?.[1];
  } catch {
    return undefined;
  }
}

export interface PgBouncer {
  url: string;
  stop(): Promise<void>;
}

/** PgBouncer in front of a database, with its defaults but for the pool mode and `others`. */
export async function startPgBouncer(
  target: string,
  mode: 'transaction' | 'statement',
  others: readonly string[] = [],
): Promise<PgBouncer> {
  const { hostname, port, username, password, pathname } = new URL(target);
  const name = pathname.slice(1);
  const folder = mkdtempSync(path.join(tmpdir(), 'pgbouncer-'));
  await chmod(folder, 0o755);
  const file = path.join(folder, 'pgbouncer.ini');
  const own = await findFreePort();
  const to = `host=${hostname} port=${port} dbname=${name} user=${username} password=${password}`;
  const settings = ['listen_addr = 127.0.0.1', `listen_port = ${own}`, 'unix_socket_dir =', 'auth_type = any'];
  writeFileSync(
    file,
    [`[databases]`, `${name} = ${to}`, '[pgbouncer]', ...settings, `pool_mode = ${mode}`, ...others, ''].join('\n'),
  );
  const child = spawn('pgbouncer', [file], { stdio: 'ignore', ...engineUser });
  const url = `postgres://${username}@127.0.0.1:${own}/${name}`;
  await until('PgBouncer to listen', async () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended with ${child.exitCode}.`);
    return await on(url, async () => true).catch(() => false);
  });
  return {
    url,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
