import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { readConfig } from '../../config.ts';

/** A server as a brand's key sees it. */
export interface Rest {
  url: string;
  /** Resolves to the answer's body; throws what a refusal says. */
  send(method: 'GET' | 'POST', path: string, body?: object, signal?: AbortSignal): Promise<unknown>;
}

const Refusal = z.object({ error: z.string(), code: z.string() });

/** The keys that `npm start` wrote, where nothing else is said. */
function demoOf(directory: string): Record<string, string> {
  try {
    const text = readFileSync(path.join(directory, 'demo.env'), 'utf8');
    return Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]));
  } catch {
    return {};
  }
}

/** Calls by REST, with `ROLLCALL_URL` and `ROLLCALL_BRAND_KEY` of the environment or of the running demo. */
export function openRest(): Rest {
  const { directory, rest } = readConfig();
  const demo = demoOf(directory);
  const url = rest.url ?? demo.ROLLCALL_URL;
  const key = rest.brandKey ?? demo.ROLLCALL_BRAND_KEY;
  if (!url || !key) throw new Error('Set ROLLCALL_URL and ROLLCALL_BRAND_KEY, or start the demo with `npm start`.');
  return {
    url,
    send: async (method, where, body, signal) => {
      const answer = await fetch(new URL(where, url), {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
      }).catch((error: unknown) => {
        if (signal?.aborted) throw error;
        throw new Error(`The server at ${url} cannot be reached; is it running?`, { cause: error });
      });
      const said: unknown = await answer.json();
      if (answer.ok) return said;
      const refusal = Refusal.safeParse(said);
      throw new Error(
        refusal.success ? `${refusal.data.code}: ${refusal.data.error}` : `It answered ${answer.status}.`,
      );
    },
  };
}
