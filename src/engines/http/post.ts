import type { LookupAddress } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { LRUCache } from 'lru-cache';
import { hasLogin } from '../../values/web-address.ts';
import { addressesOf, fixedLookup, hostOf, refusalOf } from './outside.ts';

export interface OutsidePost {
  url: URL;
  headers: Record<string, string>;
  body: string;
  allow: readonly string[];
  /** From the name's look-up to the head of the answer. */
  timeoutMs: number;
  /** Whose connections may be used again: only posts of one owner to the same checked addresses share them. */
  owner: string;
}

/** `answered` once the answer's head is there: no more of its body than a beginning is read. */
export type PostAnswer =
  | { outcome: 'answered'; status: number; excerpt: string }
  | { outcome: 'refused' | 'timeout' | 'network' | 'tls'; reason: string };

export interface OutsidePoster {
  post(request: OutsidePost): Promise<PostAnswer>;
  close(): void;
}

const MAX_HEAD_BYTES = 16_384;
const EXCERPT_BYTES = 1_024;
/** A body that takes longer is not waited for. */
const EXCERPT_WITHIN_MS = 500;
const IDLE_MS = 10_000;
const SOCKETS_OF_ONE = 8;
const MAX_OWNERS = 500;

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

const TLS = /^(ERR_TLS|ERR_SSL|EPROTO|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH)/;

/** The beginning of the answer's body. A connection whose answer is longer, or late, is given up; others are kept. */
function readExcerpt(answer: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = () => {
      clearTimeout(late);
      resolve(Buffer.concat(chunks).subarray(0, EXCERPT_BYTES).toString('utf8'));
    };
    const finish = () => {
      settle();
      if (!answer.complete) answer.destroy();
    };
    const late = setTimeout(finish, EXCERPT_WITHIN_MS);
    answer.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > EXCERPT_BYTES) finish();
    });
    answer.on('error', finish);
    answer.on('close', finish);
    answer.on('end', settle);
  });
}

interface Attempt {
  request: OutsidePost;
  addresses: readonly LookupAddress[];
  agent: https.Agent | false;
  signal: AbortSignal;
  /** From here on the answer cannot be late. */
  onHead(): void;
}

interface Sent {
  status: number;
  excerpt: string;
}

/** One request. Throws what went wrong; `onReused` is called before when its connection was used before. */
async function send({ request, addresses, agent, signal, onHead }: Attempt, onReused: () => void): Promise<Sent> {
  const { url, headers, body } = request;
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  return await new Promise((resolve, reject) => {
    const sent = https.request(
      url,
      {
        ...{ method: 'POST', headers: { accept: '*/*', 'accept-encoding': 'identity', ...length, ...headers } },
        ...{ lookup: fixedLookup(addresses), signal, agent, maxHeaderSize: MAX_HEAD_BYTES },
      },
      (answer) => {
        onHead();
        const status = answer.statusCode ?? 0;
        readExcerpt(answer).then((excerpt) => resolve({ status, excerpt }), reject);
      },
    );
    sent.on('error', (error) => {
      if (sent.reusedSocket) onReused();
      reject(error);
    });
    sent.end(body);
  });
}

/**
 * Posts to URLs that brands gave, over https only, to the very addresses that were checked for this call. Connections are
 * kept for a few seconds, per owner and addresses, so that none leads to an address that nobody checked for it.
 */
export function openOutsidePoster(): OutsidePoster {
  const agents = new LRUCache<string, https.Agent>({ max: MAX_OWNERS, dispose: (agent) => agent.destroy() });

  function agentOf(owner: string, url: URL, addresses: readonly LookupAddress[]): https.Agent {
    const key = [owner, url.origin, ...addresses.map(({ address }) => address).sort()].join(' ');
    const known = agents.get(key);
    if (known) return known;
    const agent = new https.Agent({ keepAlive: true, maxSockets: SOCKETS_OF_ONE, timeout: IDLE_MS });
    agents.set(key, agent);
    return agent;
  }

  async function attempt(request: OutsidePost, signal: AbortSignal, onHead: () => void): Promise<PostAnswer> {
    const { url, allow, owner } = request;
    const addresses = await addressesOf(hostOf(url), signal);
    const reason = refusalOf(url, addresses, allow);
    if (reason !== undefined) return { outcome: 'refused', reason };
    let wasReused = false;
    const onReused = () => {
      wasReused = true;
    };
    const kept = { request, addresses, agent: agentOf(owner, url, addresses), signal, onHead };
    const sent = await send(kept, onReused).catch(async (error: unknown) => {
      // The receiver closed an idle connection while this was sent on it: it read nothing.
      if (!wasReused || signal.aborted || codeOf(error) !== 'ECONNRESET') throw error;
      return await send({ ...kept, agent: false }, () => undefined);
    });
    return { outcome: 'answered', ...sent };
  }

  async function post(request: OutsidePost): Promise<PostAnswer> {
    const { url, timeoutMs } = request;
    if (hasLogin(url)) return { outcome: 'refused', reason: 'must not carry credentials' };
    if (url.protocol !== 'https:') return { outcome: 'refused', reason: 'must begin with https://' };
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    try {
      return await attempt(request, late.signal, () => clearTimeout(timer));
    } catch (error) {
      if (late.signal.aborted) {
        return { outcome: 'timeout', reason: `did not answer within ${timeoutMs / 1_000} s` };
      }
      const code = codeOf(error);
      const reason = code || (error instanceof Error ? error.message.slice(0, 200) : 'failed');
      return { outcome: TLS.test(code) ? 'tls' : 'network', reason };
    } finally {
      clearTimeout(timer);
    }
  }
  return { post, close: () => agents.clear() };
}
