import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Seat } from '../../../src/local/engines/engine.ts';
import { writeForEngine } from '../../../src/local/engines/folder.ts';
import { valkey } from '../../../src/local/engines/valkey.ts';
import { until } from '../app.ts';
import { type ClusterNode, type ClusterNodes, startNodes } from './cluster.ts';
import { on } from './redis-cluster.ts';

/** The name under which sentinels know the primary. */
const NAME = 'credits';
const SENTINELS = 3;

const replicaOf = (port: number): typeof valkey => ({
  ...valkey,
  program: (seat) => {
    const program = valkey.program(seat);
    return { ...program, args: [...program.args, '--replicaof', `127.0.0.1 ${port}`] };
  },
});

/** Sentinels note in their file what they learn. */
const fileOf = ({ data }: Seat) => path.join(data, 'sentinel.conf');

const sentinelOf = (port: number): typeof valkey => ({
  ...valkey,
  prepare: async (seat) => {
    if (existsSync(fileOf(seat))) return;
    const lines = [
      'bind 127.0.0.1',
      `port ${seat.port}`,
      `dir ${seat.data}`,
      `sentinel monitor ${NAME} 127.0.0.1 ${port} 2`,
      `sentinel down-after-milliseconds ${NAME} 2000`,
      `sentinel failover-timeout ${NAME} 5000`,
    ];
    writeForEngine(fileOf(seat), `${lines.join('\n')}\n`);
  },
  program: (seat) => ({ ...valkey.program(seat), args: [fileOf(seat), '--sentinel'] }),
});

export interface RedisSentinel {
  /** The two servers. */
  servers: ClusterNode[];
  sentinels: ClusterNode[];
  /** For `REDIS_URL`. */
  url: string;
  /** The server that the first sentinel names. */
  primary(): Promise<ClusterNode>;
  /** Resolves when the sentinels can fail over to a replica that has everything. */
  untilReady(): Promise<void>;
  /** Makes the replica the primary while both run. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

/** A primary of Valkey, its replica, and three sentinels that watch them. */
export async function startRedisSentinel(): Promise<RedisSentinel> {
  const started: ClusterNodes[] = [];
  const stop = async () => {
    for (const nodes of started.reverse()) await nodes.stop();
  };
  async function start(engines: (typeof valkey)[]): Promise<ClusterNode[]> {
    const nodes = await startNodes('redis', engines).catch(async (error: unknown) => {
      await stop();
      throw error;
    });
    started.push(nodes);
    return nodes.nodes;
  }
  const [first] = await start([valkey]);
  if (!first) throw new Error('No primary was started.');
  const servers = [first, ...(await start([replicaOf(first.port)]))];
  const sentinels = await start(Array.from({ length: SENTINELS }, () => sentinelOf(first.port)));
  const witness = sentinels[0] ?? first;

  async function primary(): Promise<ClusterNode> {
    const [, port] = (await on(witness, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)).split(',');
    const found = servers.find((server) => server.port === Number(port));
    if (!found) throw new Error(`The sentinels name port ${port}.`);
    return found;
  }
  async function isReady(): Promise<boolean> {
    const known = await Promise.all(sentinels.map((one) => on(one, 'SENTINEL', 'MASTER', NAME)));
    if (!known.every((facts) => facts.includes('num-slaves,1,num-other-sentinels,2,'))) return false;
    const info = await on(await primary(), 'INFO', 'replication');
    const [, offset] = /state=online,offset=(\d+)/.exec(info) ?? [];
    return offset !== undefined && offset === /master_repl_offset:(\d+)/.exec(info)?.[1];
  }
  return {
    servers,
    sentinels,
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/${NAME}`,
    primary,
    untilReady: () => until('sentinels that know a replica with everything', isReady),
    failOver: async () => {
      const before = await primary();
      await on(witness, 'SENTINEL', 'FAILOVER', NAME);
      await until('the sentinels to name the replica', async () => (await primary()) !== before);
    },
    stop,
  };
}
