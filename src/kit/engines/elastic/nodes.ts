import { Pool } from 'undici';
import { z } from 'zod';
import { ApiError, ignoreFailure, unavailable } from '../../values/errors.ts';
import { type Exchanged, exchange } from './exchange.ts';

/** A response of Elasticsearch other than 2xx. */
export class ElasticsearchRefusal extends Error {
  readonly status: number;
  constructor(status: number, body: string) {
    super(`Elasticsearch answered ${status}: ${body.slice(0, 500)}`);
    this.status = status;
  }
}

interface Node {
  address: string;
  pool: Pool;
  prefix: string;
  headers: Record<string, string>;
  /** After a failure the node rests until then; 0 once it answers. */
  restsUntil: number;
}

interface Post {
  path: string;
  contentType: string;
  body: string | Buffer;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** A node that failed gets one request in this time, which shows whether it is back. */
const REST_MS = 5_000;
/** A read that takes this long is also sent to another node; the first answer counts. */
const LATE_MS = 2_000;
const CHECK_MS = 2_000;

/** The node cannot serve requests at the moment; another one may. */
const isAway = (status: number) => status === 502 || status === 503 || status === 504;

export const splitAddresses = (list: string): string[] => [
  ...new Set(
    list
      .split(',')
      .map((address) => address.trim())
      .filter(Boolean),
  ),
];

function openNode(address: string, connections: number, timeoutMs: number): Node {
  const { origin, pathname, username, password } = new URL(address);
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    address: origin,
    prefix: pathname.replace(/\/$/, ''),
    headers: username ? { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` } : {},
    pool: new Pool(origin, {
      connections,
      pipelining: 1,
      keepAliveTimeout: 60_000,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connect: { timeout: 1_000 },
    }),
    restsUntil: 0,
  };
}

/** Sends to one node. Throws SERVICE_UNAVAILABLE if it cannot be reached or cannot serve requests. */
async function post(node: Node, { path, contentType, body, timeoutMs, signal }: Post): Promise<Exchanged> {
  try {
    signal?.throwIfAborted();
    const answer = await exchange(node.pool, signal, {
      path: `${node.prefix}${path}`,
      headers: { ...node.headers, 'content-type': contentType },
      body,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    if (isAway(answer.status)) throw new ElasticsearchRefusal(answer.status, answer.bytes.toString('utf8'));
    node.restsUntil = 0;
    return answer;
  } catch (error) {
    // The caller gave up, which says nothing about the node.
    signal?.throwIfAborted();
    node.restsUntil = performance.now() + REST_MS;
    throw unavailable('Elasticsearch', error);
  }
}

/** False if the attempt fails, or has no answer yet when it is late. */
function isAnsweredInTime(attempt: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, LATE_MS, false);
    function settle(isAnswered: boolean): void {
      clearTimeout(timer);
      resolve(isAnswered);
    }
    attempt.then(
      () => settle(true),
      () => settle(false),
    );
  });
}

const Identity = z.object({ cluster_name: z.string(), cluster_uuid: z.string() });

async function getCluster({ pool, prefix, headers }: Node): Promise<{ id: string; name: string }> {
  const timeouts = { headersTimeout: CHECK_MS, bodyTimeout: CHECK_MS };
  const { body } = await pool.request({ method: 'GET', path: `${prefix}/`, headers, ...timeouts });
  const { cluster_name, cluster_uuid } = Identity.parse(await body.json());
  return { id: cluster_uuid, name: cluster_name };
}

export interface Nodes {
  /** Sends a write to one node, once. */
  write(request: Post): Promise<Exchanged>;
  /** Sends a read to one node and, if that fails or is late, to another. */
  read(request: Post): Promise<Exchanged>;
  /** Throws if the nodes that answer belong to different clusters. */
  assertOneCluster(): Promise<void>;
  close(): Promise<void>;
}

/** The nodes of one cluster, used in turn. */
export function openNodes(addresses: readonly string[], options: { connections: number; timeoutMs: number }): Nodes {
  const nodes = addresses.map((address) => openNode(address, options.connections, options.timeoutMs));
  let turn = 0;

  /** The next node in turn, of those that do not rest if there is one. */
  function next(except?: Node): Node {
    const now = performance.now();
    let current: Node | undefined;
    for (let i = 0; i < nodes.length; i += 1) {
      turn = (turn + 1) % nodes.length;
      const node = nodes[turn];
      if (!node || node === except) continue;
      current = node;
      if (node.restsUntil <= now) break;
    }
    if (!current) throw unavailable('Elasticsearch', new Error('There is no other node.'));
    if (current.restsUntil > 0) current.restsUntil = now + REST_MS;
    return current;
  }

  async function readTwice(request: Post): Promise<Exchanged> {
    const from = performance.now();
    const node = next();
    const first = post(node, request);
    const second = isAnsweredInTime(first).then(async (isAnswered) => {
      if (isAnswered) return await first;
      const timeoutMs = Math.max(request.timeoutMs - (performance.now() - from), 1);
      return await post(next(node), { ...request, timeoutMs });
    });
    try {
      return await Promise.any([first, second]);
    } catch (error) {
      throw error instanceof AggregateError ? error.errors.at(-1) : error;
    }
  }

  return {
    write: (request) => post(next(), request),
    read: (request) => (nodes.length === 1 ? post(next(), request) : readTwice(request)),
    assertOneCluster: async () => {
      if (nodes.length === 1) return;
      const nodeList = await Promise.all(
        nodes.map(async (node) => {
          const cluster = await getCluster(node).catch(ignoreFailure('a node may start later'));
          return { address: node.address, id: cluster?.id ?? '_na_', name: cluster?.name };
        }),
      );
      const formedNodes = nodeList.filter(({ id }) => id !== '_na_');
      if (new Set(formedNodes.map(({ id }) => id)).size <= 1) return;
      const list = formedNodes.map(({ address, name, id }) => `${address} (${name}, ${id})`).join(', ');
      throw new Error(`ELASTICSEARCH_URL lists nodes of different clusters: ${list}. List the nodes of one cluster.`);
    },
    close: async () => {
      await Promise.all(nodes.map(({ pool }) => pool.close()));
    },
  };
}

export const isUnavailable = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === 'SERVICE_UNAVAILABLE';
