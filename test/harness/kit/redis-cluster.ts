import { Redis } from 'ioredis';
import { findFreePort } from '../../../src/local/engines/port.ts';
import { valkey } from '../../../src/local/engines/valkey.ts';
import { until } from '../app.ts';
import { type ClusterNode, startNodes } from './cluster.ts';

const PRIMARIES = 3;
const SLOTS = 16_384;

/** A node that belongs to a cluster. The bus of nodes is on a port of its own: the usual one is 10,000 above. */
const clusterNode = (busPort: number): typeof valkey => ({
  ...valkey,
  program: (seat) => {
    const program = valkey.program(seat);
    const bus = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort), '--cluster-node-timeout', '2000'];
    return { ...program, args: [...program.args, ...bus] };
  },
});

export interface RedisCluster {
  nodes: ClusterNode[];
  /** For `REDIS_URL`: two of the nodes, from which the others are found. */
  url: string;
  /** Runs one command on one node, without following redirections. */
  on(node: ClusterNode, command: string, ...args: string[]): Promise<string>;
  /** The primary that serves the slot of a key, and its replica, as `witness` sees them. */
  ownersOf(key: string, witness: ClusterNode): Promise<{ primary: ClusterNode; replica: ClusterNode | undefined }>;
  stop(): Promise<void>;
}

/** Runs one command on one node, without following redirections. */
export async function on(node: ClusterNode, command: string, ...args: string[]): Promise<string> {
  const client = new Redis(node.url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return String(await client.call(command, ...args));
  } finally {
    client.disconnect();
  }
}

/** Whether a line of CLUSTER NODES names the slot: `id address flags primary … 0-5460 5462`. */
const serves = (line: readonly string[], slot: number): boolean =>
  line.slice(8).some((range) => {
    const [from = Number.NaN, until = from] = range.split('-').map(Number);
    return from <= slot && slot <= until;
  });

async function ownersOf(nodes: readonly ClusterNode[], key: string, witness: ClusterNode) {
  const slot = Number(await on(witness, 'CLUSTER', 'KEYSLOT', key));
  const lines = (await on(witness, 'CLUSTER', 'NODES'))
    .trim()
    .split('\n')
    .map((line) => line.split(' '));
  const nodeOf = (line: readonly string[] | undefined) => nodes.find(({ port }) => line?.[1]?.includes(`:${port}@`));
  const owner = lines.find((line) => serves(line, slot));
  const primary = nodeOf(owner);
  if (!primary) throw new Error(`No primary serves slot ${slot}.`);
  return { primary, replica: nodeOf(lines.find((line) => line[3] === owner?.[0] && !line[2]?.includes('fail'))) };
}

/** Three primaries of Valkey, each with a replica or without, which agree that every slot is served. */
export async function startRedisCluster({ replicas }: { replicas: 0 | 1 }): Promise<RedisCluster> {
  const busPorts = await Promise.all(Array.from({ length: (1 + replicas) * PRIMARIES }, findFreePort));
  const { nodes, stop } = await startNodes('redis', busPorts.map(clusterNode));
  const [first] = nodes;
  if (!first) throw new Error('No node was started.');
  const ids = await Promise.all(nodes.map((node) => on(node, 'CLUSTER', 'MYID')));
  for (const [i, node] of nodes.entries()) {
    if (i > 0) await on(first, 'CLUSTER', 'MEET', '127.0.0.1', String(node.port), String(busPorts[i]));
    if (i >= PRIMARIES) continue;
    const [from, until] = [i, i + 1].map((part) => Math.floor((SLOTS * part) / PRIMARIES));
    await on(node, 'CLUSTER', 'ADDSLOTSRANGE', String(from), String((until ?? 0) - 1));
  }
  const saysOk = async (node: ClusterNode) => {
    const info = await on(node, 'CLUSTER', 'INFO');
    return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes.length}`);
  };
  const every = async (check: (node: ClusterNode) => Promise<boolean>) =>
    (await Promise.all(nodes.map(check))).every(Boolean);
  await until('a cluster that serves every slot', () => every(saysOk));
  for (const [i, replica] of nodes.slice(PRIMARIES).entries()) {
    await on(replica, 'CLUSTER', 'REPLICATE', ids[i] ?? '');
  }
  const isCopied = async (node: ClusterNode) => {
    const info = await on(node, 'INFO', 'replication');
    return info.includes('role:master') || info.includes('master_link_status:up');
  };
  await until('each copy', () => every(isCopied));
  const url = `redis+cluster://${nodes
    .slice(0, 2)
    .map(({ port }) => `127.0.0.1:${port}`)
    .join(',')}`;
  return { nodes, url, on, stop, ownersOf: (key, witness) => ownersOf(nodes, key, witness) };
}
