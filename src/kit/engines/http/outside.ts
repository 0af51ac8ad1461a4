import { promises as dns, type LookupAddress } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { ignoreFailure } from '../../values/errors.ts';
import { currentTraceparent, span } from '../../values/tracing.ts';
import { hasLogin } from '../../values/web-address.ts';
import { limit } from '../../values/within.ts';
import { isAllowed, isPublic } from './addresses.ts';

export interface OutsideRequest {
  url: URL;
  method: 'GET' | 'POST' | 'DELETE';
  headers: Record<string, string>;
  body?: string;
  /** Private addresses or networks that may be called, by http too. */
  allow: readonly string[];
  /** Timeout of the whole call, including the DNS lookup and the response body. */
  timeoutMs: number;
  /** Ends the call at once when it is aborted. */
  signal?: AbortSignal | undefined;
  maxBytes: number;
  /** For a larger response: `fail` fails the call, `truncate` returns the first `maxBytes`. */
  onLarge?: 'fail' | 'truncate';
  /**
   * `head`: the call succeeds once the response headers arrive; `text` is what arrives of the body shortly after.
   * Default: `end`.
   */
  answerAt?: 'head' | 'end';
  /**
   * Supplies an agent that keeps connections to exactly the addresses checked for this call. Default: connections are
   * closed.
   */
  agentFor?: (addresses: readonly LookupAddress[]) => https.Agent;
}

/** `refused`: nothing was sent. `failed`: no valid HTTP response arrived within the limits. */
export type OutsideAnswer =
  | { outcome: 'answered'; status: number; headers: http.IncomingHttpHeaders; text: string }
  | { outcome: 'refused'; reason: string }
  | { outcome: 'failed'; reason: 'timeout' | 'network' | 'tls'; cause: unknown };

const getHost = (url: URL) => url.hostname.replace(/^\[(.*)\]$/, '$1');

async function resolveAddresses(host: string, signal: AbortSignal): Promise<LookupAddress[]> {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  // The resolver cannot be stopped, so a late answer is discarded.
  return await new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    dns.lookup(host, { all: true }).then(resolve, reject);
  });
}

/** Why a URL may not be called, given the addresses that its name resolves to. */
function toRefusal(url: URL, addresses: readonly LookupAddress[], allow: readonly string[]): string | undefined {
  const isAllAllowed = addresses.every(({ address }) => isAllowed(address, allow));
  if (!addresses.every(({ address }) => isAllowed(address, allow) || isPublic(address))) {
    return 'leads to a private or reserved address';
  }
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isAllAllowed)) return undefined;
  return 'must begin with https://';
}

/** The wait for the body when only the response headers matter. */
const BODY_AFTER_HEAD_MS = 250;

const TLS_FAILURE = /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_|INVALID_CA|EPROTO)/;

const isTlsFailure = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && typeof cause.code === 'string' && TLS_FAILURE.test(cause.code);

/** Decodes the first bytes of a text, without a truncated character at their end. */
const decodeText = (bytes: Buffer): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });

/** Reads as much of a response body as the call wants; rejects when it cannot. */
async function readBody(answer: http.IncomingMessage, request: OutsideRequest): Promise<string> {
  const { maxBytes, answerAt = 'end' } = request;
  const isCut = answerAt === 'head' || request.onLarge === 'truncate';
  const chunks: Buffer[] = [];
  let size = 0;
  const text = () => decodeText(Buffer.concat(chunks).subarray(0, maxBytes));
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

/** Returns the addresses that were checked, because a second lookup could give others. */
function fixedLookup(addresses: readonly LookupAddress[]): LookupFunction {
  return (_host, options, done) => {
    const [first] = addresses;
    if (options.all) done(null, [...addresses]);
    else if (first) done(null, first.address, first.family);
    else done(new Error('The host name does not resolve.'), '', 0);
  };
}

/** The timeout of a call. It no longer applies once the headers are there, if only those are awaited. */
interface Bounds {
  signal: AbortSignal;
  onHead(): void;
}

/** A connection that takes longer is one to nobody. */
const CONNECT_MS = 5_000;

/** Ends a request whose connection is not there in time. */
function limitConnect(outgoing: http.ClientRequest, event: 'connect' | 'secureConnect'): void {
  outgoing.on('socket', (socket) => {
    if (!socket.connecting) return;
    const end = limit(CONNECT_MS, () => outgoing.destroy(new Error(`No connection within ${CONNECT_MS / 1_000} s.`)));
    socket.once(event, end).once('close', end);
  });
}

/** True if the receiver closed an idle connection just as this request was sent, and so read nothing of it. */
const wasIdle = (outgoing: http.ClientRequest, error: Error): boolean =>
  outgoing.reusedSocket && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');

async function exchange(
  request: OutsideRequest,
  addresses: readonly LookupAddress[],
  { signal, onHead }: Bounds,
  isKept = true,
): Promise<OutsideAnswer> {
  const { url, method, body } = request;
  const traceparent = currentTraceparent();
  const headers = traceparent === undefined ? request.headers : { ...request.headers, traceparent };
  const lookup = fixedLookup(addresses);
  // Without an agent the connection is not kept: its address would be unchecked for the next call.
  const agent = (isKept && url.protocol === 'https:' && request.agentFor?.(addresses)) || false;
  const { request: send } = url.protocol === 'https:' ? https : http;
  const fixedHeaders = { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'Rollcall' };
  return await new Promise((resolve, reject) => {
    const outgoing = send(
      url,
      { method, headers: { ...fixedHeaders, ...headers }, lookup, signal, agent },
      (answer) => {
        if (request.answerAt === 'head') onHead();
        readBody(answer, request).then(
          (text) => resolve({ outcome: 'answered', status: answer.statusCode ?? 0, headers: answer.headers, text }),
          reject,
        );
      },
    );
    limitConnect(outgoing, url.protocol === 'https:' ? 'secureConnect' : 'connect');
    outgoing.on('error', (error) => {
      if (signal.aborted || !wasIdle(outgoing, error)) reject(error);
      else exchange(request, addresses, { signal, onHead }, false).then(resolve, reject);
    });
    outgoing.end(body);
  });
}

/**
 * The only way to call a URL that a brand supplied: over https, to public addresses (checked on the address that is
 * connected to), without following redirects, with limits on time and bytes.
 */
export async function callOutside(request: OutsideRequest): Promise<OutsideAnswer> {
  const { url, allow, timeoutMs } = request;
  if (hasLogin(url)) return { outcome: 'refused', reason: 'must not contain credentials' };
  if (!/^https?:$/.test(url.protocol)) return { outcome: 'refused', reason: 'must begin with https://' };
  const late = new AbortController();
  const signal = request.signal ? AbortSignal.any([late.signal, request.signal]) : late.signal;
  const endLimit = limit(timeoutMs, () => late.abort());
  try {
    const addresses = await resolveAddresses(getHost(url), signal);
    const reason = toRefusal(url, addresses, allow);
    if (reason !== undefined) return { outcome: 'refused', reason };
    const attributes = { 'http.request.method': request.method, 'server.address': getHost(url) };
    return await span(`${request.method} ${getHost(url)}`, { kind: 'client', root: {}, attributes }, () =>
      exchange(request, addresses, { signal, onHead: endLimit }),
    );
  } catch (cause) {
    if (!late.signal.aborted) return { outcome: 'failed', reason: isTlsFailure(cause) ? 'tls' : 'network', cause };
    return {
      outcome: 'failed',
      reason: 'timeout',
      cause: new Error(`It did not answer within ${timeoutMs / 1_000} s.`, { cause }),
    };
  } finally {
    endLimit();
  }
}

/**
 * Agents for a client of another protocol over HTTP, such as S3's: they connect only to the addresses of this URL that were
 * checked now. Follow no redirects with them. `refused` says why the URL may not be called.
 */
export async function guardedAgents(
  url: URL,
  allow: readonly string[],
  timeoutMs: number,
): Promise<{ httpAgent: http.Agent; httpsAgent: https.Agent } | { refused: string }> {
  if (hasLogin(url)) return { refused: 'must not contain credentials' };
  const addresses = await resolveAddresses(getHost(url), AbortSignal.timeout(timeoutMs)).catch(() => undefined);
  if (!addresses) return { refused: 'has a host name that does not resolve' };
  const refused = toRefusal(url, addresses, allow);
  if (refused !== undefined) return { refused };
  const lookup = fixedLookup(addresses);
  return { httpAgent: new http.Agent({ lookup }), httpsAgent: new https.Agent({ lookup }) };
}

const RESOLVED_WITHIN_MS = 2_000;

/** True if a URL resolves to an address that may not be called. False while its name does not resolve in time. */
export async function leadsToPrivate(url: URL, allow: readonly string[]): Promise<boolean> {
  const addresses = await resolveAddresses(getHost(url), AbortSignal.timeout(RESOLVED_WITHIN_MS)).catch(
    ignoreFailure('every call resolves the name again'),
  );
  return addresses?.some(({ address }) => !isAllowed(address, allow) && !isPublic(address)) ?? false;
}
