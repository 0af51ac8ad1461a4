import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { readConfig } from '../../config.ts';
import { ignoreFailure } from '../../kit/values/errors.ts';
import { around } from './around.ts';

/** A server, called with a brand's key. */
export interface Rest {
  url: string;
  /** Resolves to the answer's body; throws the message of an error response. */
  send(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: object | FormData,
    signal?: AbortSignal,
  ): Promise<unknown>;
  /** Opens a stream; throws the message of an error response, or of a server that cannot be reached. */
  open(
    path: string,
    headers: Record<string, string>,
    signal?: AbortSignal,
  ): Promise<{ body: AsyncIterable<Uint8Array>; headers: Pick<Headers, 'get'> }>;
}

const Refusal = z.object({
  error: z.string(),
  code: z.string(),
  details: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  allowed: z.array(z.string()).optional(),
  oldest: z.string().nullish(),
});
type Refusal = z.infer<typeof Refusal>;

/** A response that is not 2xx. */
export class RefusedError extends Error {
  readonly status: number;
  /** Undefined when something else than the API answered. */
  readonly refusal: Refusal | undefined;

  constructor(url: string, status: number, refusal: Refusal | undefined) {
    const details = refusal?.details?.map(({ field, message }) => `${field}: ${message}`) ?? [];
    const allowedText = refusal?.allowed ? [`Allowed: ${refusal.allowed.join(', ')}.`] : [];
    super(
      refusal
        ? [`${refusal.code}: ${refusal.error}`, ...details, ...allowedText].join('\n')
        : `${url} answered ${status}.`,
    );
    this.status = status;
    this.refusal = refusal;
  }
}

/** The keys that `npm start` wrote, as the default. */
function readDemo(directory: string): Record<string, string> {
  try {
    const text = readFileSync(path.join(directory, 'demo.env'), 'utf8');
    return Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]));
  } catch {
    return {};
  }
}

/** Calls the REST API with `ROLLCALL_URL` and a key from the environment or from the running demo. */
export function openRest(kind: 'brand' | 'data' = 'brand'): Rest {
  const { directory, rest } = readConfig(around().env);
  const demo = readDemo(directory);
  const url = rest.url ?? demo.ROLLCALL_URL;
  const [variable, own] =
    kind === 'brand' ? ['ROLLCALL_BRAND_KEY', rest.brandKey] : ['ROLLCALL_DATA_KEY', rest.dataKey];
  const key = own ?? demo[variable];
  if (!url || !key) throw new Error(`Set ROLLCALL_URL and ${variable}, or start the demo with \`npm start\`.`);
  return {
    url,
    send: async (method, where, body, signal) => {
      const answer = await fetch(new URL(where, url), {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body && !(body instanceof FormData) && { 'content-type': 'application/json' }),
        },
        ...(body && { body: body instanceof FormData ? body : JSON.stringify(body) }),
        ...(signal && { signal }),
      }).catch((error: unknown) => {
        if (signal?.aborted) throw error;
        throw new Error(`The server at ${url} cannot be reached; is it running?`, { cause: error });
      });
      const said: unknown = await answer.json().catch(ignoreFailure('its status says enough'));
      if (answer.ok && said !== undefined) return said;
      throw new RefusedError(url, answer.status, Refusal.safeParse(said).data);
    },
    open: async (where, headers, signal) => {
      const answer = await fetch(new URL(where, url), {
        headers: { ...headers, authorization: `Bearer ${key}` },
        ...(signal && { signal }),
      });
      if (answer.ok && answer.body) return { body: answer.body, headers: answer.headers };
      const said: unknown = await answer.json().catch(ignoreFailure('its status says enough'));
      throw new RefusedError(url, answer.status, Refusal.safeParse(said).data);
    },
  };
}
