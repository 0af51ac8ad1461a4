import { promises as dns, type LookupAddress } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { ignoreFailure } from '../../values/errors.ts';
import { hasLogin } from '../../values/web-address.ts';
import { isAllowed, isPublic } from './addresses.ts';

export interface OutsideRequest {
  url: URL;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  /** Addresses or networks that may be reached although they are private; these by http too. */
  allow: readonly string[];
  /** Bounds the whole call, the name's look-up and the answer's body included. */
  timeoutMs: number;
  maxBytes: number;
  /** Of an answer that is larger: whether the call has failed, or `text` is its first `maxBytes`. */
  onLarge?: 'fail' | 'truncate';
  /**
   * `head`: the call is over when the other side has answered, whatever becomes of its body. `text` is what came of it
   * shortly after. Default: `end`.
   */
  answerAt?: 'head' | 'end';
  /** Keeps connections to the very addresses that it is given, which were checked for this call. Default: none is kept. */
  agentFor?: (addresses: readonly LookupAddress[]) => https.Agent;
}

/** `refused`: nothing was sent. `failed`: the other side did not answer as HTTP within the bounds. */
export type OutsideAnswer =
  | { outcome: 'answered'; status: number; headers: http.IncomingHttpHeaders; text: string }
  | { outcome: 'refused'; reason: string }
  | { outcome: 'failed'; reason: 'timeout' | 'network' | 'tls'; cause: unknown };

const hostOf = (url: URL) => url.hostname.replace(/^\[(.*)\]$/, '$1');

async function addressesOf(host: string, signal: AbortSignal): Promise<LookupAddress[]> {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  // The resolver cannot be stopped, only left: its answer is then nobody's.
  return await new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    dns.lookup(host, { all: true }).then(resolve, reject);
  });
}

/** Why a URL may not be called, once it is known where its name leads. */
function refusalOf(url: URL, addresses: readonly LookupAddress[], allow: readonly string[]): string | undefined {
  const allowed = addresses.every(({ address }) => isAllowed(address, allow));
  if (!addresses.every(({ address }) => isAllowed(address, allow) || isPublic(address))) {
    return 'leads to a private or reserved address';
  }
  if (url.protocol === 'https:' || (url.protocol === 'http:' && allowed)) return undefined;
  return 'must begin with https://';
}

/** What the body of an answer may take when its head is all that is waited for. */
const BODY_AFTER_HEAD_MS = 250;

const TLS_FAILURE = /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_|INVALID_CA|EPROTO)/;

const isTlsFailure = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && typeof cause.code === 'string' && TLS_FAILURE.test(cause.code);

/** The first bytes of a text, without a character that was cut in two at their end. */
const textOf = (bytes: Buffer): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });

/** Reads an answer's body as far as the call wants it; rejects where that is not to be had. */
async function readBody(answer: http.IncomingMessage, request: OutsideRequest): Promise<string> {
  const { maxBytes, answerAt = 'end' } = request;
  const isCut = answerAt === 'head' || request.onLarge === 'truncate';
  const chunks: Buffer[] = [];
  let size = 0;
  const text = () => textOf(Buffer.concat(chunks).subarray(0, maxBytes));
  return await new Promise((resolve, reject) => {
    const enough = () => {
      resolve(text());
      answer.destroy();
    };
    answer.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes || isCut) chunks.push(chunk);
      if (size <= maxBytes) return;
      if (isCut) enough();
      else answer.destroy(new Error(`The answer is larger than ${maxBytes} bytes.`));
    });
    answer.on('end', enough);
    answer.on('error', answerAt === 'head' ? enough : reject);
    if (answerAt === 'head') setTimeout(enough, BODY_AFTER_HEAD_MS).unref();
  });
}

/** Hands out the very addresses that were checked: asking again could give others. */
function fixedLookup(addresses: readonly LookupAddress[]): LookupFunction {
  return (_host, options, done) => {
    const [first] = addresses;
    if (options.all) done(null, [...addresses]);
    else if (first) done(null, first.address, first.family);
    else done(new Error('The name has no address.'), '', 0);
  };
}

/** What bounds a call: once its head is there, where that is all that is waited for, it cannot be late. */
interface Bounds {
  signal: AbortSignal;
  onHead(): void;
}

/** Whether a receiver closed an idle connection while this was sent on it: then it read nothing of it. */
const wasIdle = (sent: http.ClientRequest, error: Error): boolean =>
  sent.reusedSocket && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');

async function exchange(
  request: OutsideRequest,
  addresses: readonly LookupAddress[],
  { signal, onHead }: Bounds,
  isKept = true,
): Promise<OutsideAnswer> {
  const { url, method, headers, body } = request;
  const lookup = fixedLookup(addresses);
  // Without an agent no connection is kept: it would lead to an address that nobody checked for the next call.
  const agent = (isKept && url.protocol === 'https:' && request.agentFor?.(addresses)) || false;
  const { request: send } = url.protocol === 'https:' ? https : http;
  const fixed = { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'Rollcall' };
  return await new Promise((resolve, reject) => {
    const sent = send(url, { method, headers: { ...fixed, ...headers }, lookup, signal, agent }, (answer) => {
      if (request.answerAt === 'head') onHead();
      readBody(answer, request).then(
        (text) => resolve({ outcome: 'answered', status: answer.statusCode ?? 0, headers: answer.headers, text }),
        reject,
      );
    });
    sent.on('error', (error) => {
      if (signal.aborted || !wasIdle(sent, error)) reject(error);
      else exchange(request, addresses, { signal, onHead }, false).then(resolve, reject);
    });
    sent.end(body);
  });
}

/**
 * The one way to call a URL that a brand gave: only public addresses, checked on the very address that is connected
 * to, over https, without following redirects, within bounds of time and bytes.
 */
export async function callOutside(request: OutsideRequest): Promise<OutsideAnswer> {
  const { url, allow, timeoutMs } = request;
  if (hasLogin(url)) return { outcome: 'refused', reason: 'must not carry credentials' };
  if (!/^https?:$/.test(url.protocol)) return { outcome: 'refused', reason: 'must begin with https://' };
  const late = new AbortController();
  const { signal } = late;
  const timer = setTimeout(() => late.abort(), timeoutMs);
  try {
    const addresses = await addressesOf(hostOf(url), signal);
    const reason = refusalOf(url, addresses, allow);
    if (reason !== undefined) return { outcome: 'refused', reason };
    return await exchange(request, addresses, { signal, onHead: () => clearTimeout(timer) });
  } catch (cause) {
    if (!signal.aborted) return { outcome: 'failed', reason: isTlsFailure(cause) ? 'tls' : 'network', cause };
    return {
      outcome: 'failed',
      reason: 'timeout',
      cause: new Error(`It did not answer within ${timeoutMs / 1_000} s.`, { cause }),
    };
  } finally {
    clearTimeout(timer);
  }
}

const RESOLVED_WITHIN_MS = 2_000;

/** Whether a URL leads to an address that may not be called. One whose name does not resolve in time does not, yet. */
export async function leadsToPrivate(url: URL, allow: readonly string[]): Promise<boolean> {
  const addresses = await addressesOf(hostOf(url), AbortSignal.timeout(RESOLVED_WITHIN_MS)).catch(
    ignoreFailure('every call looks the name up again'),
  );
  return addresses?.some(({ address }) => !isAllowed(address, allow) && !isPublic(address)) ?? false;
}
