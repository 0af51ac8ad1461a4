import type { z } from 'zod';
import { ApiError, unavailable } from '../../values/errors.ts';

export interface HttpGet<T> {
  url: URL;
  /** The name of the service in error messages. */
  name: string;
  shape: z.ZodType<T>;
  token: string | undefined;
  /** Timeout of the whole call, including its body. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  maxBytes: number;
}

const withDeadline = (timeoutMs: number, signal: AbortSignal | undefined): AbortSignal =>
  AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);

async function readBounded(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`The response is larger than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

export interface HttpCall {
  url: URL;
  name: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  /** Sent as JSON. */
  body?: unknown;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  maxBytes: number;
}

/**
 * Calls a host that the operator configured, which may be private; never use it with a URL from a caller. Returns any
 * status, with the JSON body if there is one. A timeout, a redirect or a body that is not JSON throws
 * SERVICE_UNAVAILABLE.
 */
export async function callJson(call: HttpCall): Promise<{ status: number; body: unknown }> {
  const { url, name, method, headers, body, timeoutMs, maxBytes } = call;
  const bodyOptions = body === undefined ? {} : { body: JSON.stringify(body) };
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  try {
    const answer = await fetch(url, {
      method,
      ...bodyOptions,
      redirect: 'manual',
      signal: withDeadline(timeoutMs, call.signal),
      headers: { accept: 'application/json', ...type, ...headers },
    });
    if (answer.status >= 300 && answer.status < 400) throw new Error(`${name} answered ${answer.status}.`);
    const text = await readBounded(answer.body, maxBytes);
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
  } catch (error) {
    throw unavailable(name, error);
  }
}

/**
 * GETs JSON of a known shape; undefined on 404. Any other status, including a redirect, throws SERVICE_UNAVAILABLE. For
 * hosts that the operator configured, which may be private; never use it with a URL from a caller.
 */
export async function getJson<T>(get: HttpGet<T>): Promise<T | undefined> {
  const { url, name, shape, token, timeoutMs, maxBytes } = get;
  const headers = { accept: 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  try {
    const answer = await fetch(url, { headers, redirect: 'manual', signal: withDeadline(timeoutMs, get.signal) });
    if (answer.status !== 200) await answer.body?.cancel();
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw unavailable(name, new Error(`${name} answered ${answer.status}.`));
    return shape.parse(JSON.parse(await readBounded(answer.body, maxBytes)));
  } catch (error) {
    throw error instanceof ApiError ? error : unavailable(name, error);
  }
}
