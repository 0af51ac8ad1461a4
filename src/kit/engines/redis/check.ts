import { Redis } from 'ioredis';
import { ignoreFailure } from '../../values/errors.ts';
import { describeAddress, type RedisAddress, type RedisNode, readAddress } from './address.ts';

const OLDEST = [6, 2] as const;

const clientOptions = {
  connectTimeout: 1_000,
  commandTimeout: 1_000,
  maxRetriesPerRequest: 0,
  lazyConnect: true,
  retryStrategy: () => null,
  sentinelRetryStrategy: () => null,
};

function openClient(address: RedisAddress, node: RedisNode): Redis {
  if (address.kind === 'server') return new Redis(address.url, clientOptions);
  if (address.kind === 'cluster') return new Redis({ ...clientOptions, ...address.access, ...node });
  return new Redis({ ...clientOptions, ...describeAddress(address) });
}

interface Server {
  facts: Map<string, string>;
  settings: Map<string, string>;
}

async function readSettings(client: Redis): Promise<Server['settings']> {
  const names = ['appendonly', 'appendfsync', 'maxmemory-policy'];
  // A managed Redis may refuse this command.
  const readSetting = (name: string) =>
    client.config('GET', name).catch(ignoreFailure('then nothing is said about it'));
  const replies = await Promise.all(names.map(readSetting));
  return new Map(
    replies.flatMap((pair, i) => (Array.isArray(pair) && pair[1] ? [[names[i] ?? '', String(pair[1])]] : [])),
  );
}

async function ask(address: RedisAddress, node: RedisNode): Promise<Server | undefined> {
  const client = openClient(address, node);
  client.on('error', ignoreFailure('the command says it'));
  try {
    await client.connect();
    const lines = (await client.info()).split('\r\n').map((line) => line.split(':'));
    const facts = new Map(lines.map(([name = '', value = '']) => [name, value]));
    return { facts, settings: await readSettings(client) };
  } catch {
    return undefined;
  } finally {
    client.disconnect();
  }
}

/** The first node that answers. */
async function askFirst(address: RedisAddress): Promise<Server | undefined> {
  for (const node of address.kind === 'cluster' ? address.nodes : address.nodes.slice(0, 1)) {
    const server = await ask(address, node);
    if (server) return server;
  }
  return undefined;
}

function assertFits(variable: string, { kind }: RedisAddress, { facts }: Server): void {
  const version = facts.get('redis_version') ?? '';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isCluster = facts.get('cluster_enabled') === '1';
  if (kind !== 'cluster' && isCluster) {
    throw new Error(
      `${variable} leads to a node of a Redis Cluster, whose other nodes hold most keys. Set ${variable}=redis+cluster://host:port,host:port with some of its nodes.`,
    );
  }
  if (kind === 'cluster' && !isCluster) {
    throw new Error(
      `${variable} says redis+cluster://, but the server is not part of a Redis Cluster. Set redis://host:port.`,
    );
  }
  // Valkey names it `server_mode`.
  if ([facts.get('redis_mode'), facts.get('server_mode')].includes('sentinel')) {
    throw new Error(`${variable} leads to a sentinel. Set ${variable}=redis+sentinel://host:port,host:port/name.`);
  }
  if (version !== '' && (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))) {
    throw new Error(`${variable} leads to Redis ${version}; it must be ${OLDEST.join('.')} or newer, or Valkey.`);
  }
}

/**
 * Compares the configuration with the server. Throws, with the fix, if the two cannot work together; returns what may
 * lose acknowledged clicks and charges. A server that does not answer may start later.
 */
export async function checkRedis(variable: string, url: string): Promise<string[]> {
  const address = readAddress(url);
  const server = await askFirst(address);
  if (!server) return [];
  assertFits(variable, address, server);
  const { settings } = server;
  const [isKept, syncPolicy, policy] = ['appendonly', 'appendfsync', 'maxmemory-policy'].map((name) =>
    settings.get(name),
  );
  return [
    ...(isKept === 'no' || (syncPolicy !== undefined && syncPolicy !== 'always')
      ? [
          `${variable}: a crash of Redis may lose acknowledged clicks and charges; set appendonly yes and appendfsync always.`,
        ]
      : []),
    ...(policy !== undefined && policy !== 'noeviction'
      ? [`${variable}: maxmemory-policy ${policy} may remove clicks and charges; set noeviction.`]
      : []),
  ];
}
