import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '@elastic/elasticsearch';
import { unavailable } from '../../values/errors.ts';
import { span } from '../../values/tracing.ts';
import type { Exchanged } from './exchange.ts';
import { ElasticsearchRefusal, openNodes, splitAddresses } from './nodes.ts';

export interface PostOptions {
  contentType?: 'application/json' | 'application/x-ndjson';
  /** Overrides the client's timeout: a bulk may take longer than a search. */
  timeoutMs?: number;
  /** A write is sent once. A read is sent to another node if the first one fails or is late. */
  isWrite?: boolean;
  /** Cancels a read: Elasticsearch ends a search whose connection closes. */
  signal?: AbortSignal | undefined;
}

export interface Elastic {
  /** The official client: indices, aliases, cluster. A search through it costs three times the CPU of `post` (measured). */
  client: Client;
  /** POSTs a JSON or NDJSON body and resolves to the raw bytes of a 2xx response. For searches and bulks. */
  post(path: string, body: string | Buffer, options?: PostOptions): Promise<Buffer>;
  ping(): Promise<void>;
  /** Throws if the configured nodes that answer belong to different clusters. */
  assertOneCluster(): Promise<void>;
  close(): Promise<void>;
}

export interface ElasticOptions {
  connections?: number;
  /** Bounds how long a caller waits for a search when Elasticsearch hangs. */
  timeoutMs?: number;
}

/** Pauses before retrying a request that Elasticsearch rejected for lack of memory or threads, and so did not run. */
const PAUSES_MS = [50, 150, 400];

async function patiently(send: () => Promise<Exchanged>): Promise<Exchanged> {
  for (const pauseMs of PAUSES_MS) {
    const answer = await send();
    if (answer.status !== 429) return answer;
    await pause(pauseMs * (0.5 + Math.random()));
  }
  return await send();
}

/** Opens one node, or several nodes of one cluster whose URLs are separated by commas. */
export function openElastic(urls: string, options: ElasticOptions = {}): Elastic {
  const { connections = 64, timeoutMs: usualMs = 5_000 } = options;
  const addresses = splitAddresses(urls);
  const nodes = openNodes(addresses, { connections, timeoutMs: usualMs });
  const client = new Client({ nodes: addresses, requestTimeout: 30_000, maxRetries: 2 });

  return {
    client,
    post: async (
      path,
      body,
      { contentType = 'application/json', timeoutMs = usualMs, isWrite = false, signal } = {},
    ) => {
      const request = { path, contentType, body, timeoutMs, signal };
      const attributes = { 'db.system.name': 'elasticsearch', 'url.path': path.split('?', 1)[0] };
      const { status, bytes } = await span('elasticsearch', { kind: 'client', attributes }, () =>
        patiently(() => (isWrite ? nodes.write(request) : nodes.read(request))),
      );
      if (status < 300) return bytes;
      const refusal = new ElasticsearchRefusal(status, bytes.toString('utf8'));
      throw status === 429 ? unavailable('Elasticsearch', refusal) : refusal;
    },
    ping: async () => {
      await client.ping({}, { requestTimeout: 1_000, maxRetries: addresses.length - 1 });
    },
    assertOneCluster: nodes.assertOneCluster,
    close: async () => {
      await Promise.all([nodes.close(), client.close()]);
    },
  };
}
