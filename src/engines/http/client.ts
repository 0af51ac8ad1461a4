import type { z } from 'zod';
import { ApiError, unavailable } from '../../values/errors.ts';

export interface HttpGet<T> {
  url: URL;
  /** What the other side is called when it does not answer. */
  name: string;
  shape: z.ZodType<T>;
  token: string | undefined;
  /** Bounds the whole call, its body included. */
  timeoutMs: number;
  maxBytes: number;
}

async function readBounded(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`The answer is larger than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * GETs JSON of a known shape; undefined when there is no such thing (404). Anything else, a redirect too, is
 * SERVICE_UNAVAILABLE. For hosts that the operator configured, which may be private: never for a URL of a caller's.
 */
export async function getJson<T>({ url, name, shape, token, timeoutMs, maxBytes }: HttpGet<T>): Promise<T | undefined> {
  const headers = { accept: 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  try {
    const answer = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    if (answer.status !== 200) await answer.body?.cancel();
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw unavailable(name, new Error(`${name} answered ${answer.status}.`));
    return shape.parse(JSON.parse(await readBounded(answer.body, maxBytes)));
  } catch (error) {
    throw error instanceof ApiError ? error : unavailable(name, error);
  }
}
