import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '@elastic/elasticsearch';
import { Pool } from 'undici';
import { ApiError, unavailable } from '../../values/errors.ts';
import { type Exchanged, exchange } from './exchange.ts';

export interface PostOptions {
  contentType?: 'application/json' | 'application/x-ndjson';
  /** Overrides the client's timeout: a bulk may take longer than a search. */
  timeoutMs?: number;
}

export interface Elastic {
  /** The official client: indices, aliases, cluster. A search through it costs three times the CPU of `post` (measured). */
  client: Client;
  /** POSTs a JSON or NDJSON body and resolves to the raw bytes of a 2xx response. For searches and bulks. */
  post(path: string, body: string | Buffer, options?: PostOptions): Promise<Buffer>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** A response of Elasticsearch other than 2xx. */
export class ElasticsearchRefusal extends Error {
  readonly status: number;
  constructor(status: number, body: string) {
    super(`Elasticsearch answered ${status}: ${body.slice(0, 500)}`);
    this.status = status;
  }
}

export interface ElasticOptions {
  connections?: number;
  /** Bounds how long a caller waits for a search when Elasticsearch hangs. */
  timeoutMs?: number;
}

function refusal(status: number, body: string): Error {
  const cause = new ElasticsearchRefusal(status, body);
  return status === 429 || status === 502 || status === 503 || status === 504
    ? unavailable('Elasticsearch', cause)
    : cause;
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

export function openElastic(url: string, options: ElasticOptions = {}): Elastic {
  const timeoutMs = options.timeoutMs ?? 5_000;
  const { origin, pathname, username, password } = new URL(url);
  const prefix = pathname.replace(/\/$/, '');
  const headers: Record<string, string> = username
    ? {
        authorization: `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`,
      }
    : {};
  const pool = new Pool(origin, {
    connections: options.connections ?? 64,
    pipelining: 1,
    keepAliveTimeout: 60_000,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: 1_000 },
  });
  const client = new Client({ node: url, requestTimeout: 30_000, maxRetries: 2 });

  return {
    client,
    post: async (path, body, { contentType = 'application/json', timeoutMs: patienceMs } = {}) => {
      try {
        const { status, bytes } = await patiently(() =>
          exchange(pool, {
            path: `${prefix}${path}`,
            headers: { ...headers, 'content-type': contentType },
            body,
            ...(patienceMs === undefined ? {} : { headersTimeout: patienceMs, bodyTimeout: patienceMs }),
          }),
        );
        if (status >= 300) throw refusal(status, bytes.toString('utf8'));
        return bytes;
      } catch (error) {
        if (error instanceof ApiError || error instanceof ElasticsearchRefusal) throw error;
        throw unavailable('Elasticsearch', error);
      }
    },
    ping: async () => {
      await client.ping({}, { requestTimeout: 1_000, maxRetries: 0 });
    },
    close: async () => {
      await Promise.all([pool.close(), client.close()]);
    },
  };
}
