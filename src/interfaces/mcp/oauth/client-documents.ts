import { hashKey } from '../../../kit/access/keys/key-form.ts';
import { callOutside } from '../../../kit/engines/http/outside.ts';
import type { Context } from '../../../kit/operation/context.ts';
import { DAY_MS } from '../../../kit/values/duration.ts';
import { ignoreFailure } from '../../../kit/values/errors.ts';
import { hasLogin } from '../../../kit/values/web-address.ts';
import { isRecord } from '../../../kit/values/wire.ts';
import { type Client, parseClient } from './client.ts';

const FETCHED = { timeoutMs: 5_000, maxBytes: 64 * 1024 } as const;

/** The address of a client id that is one: a document of a host whose documents the operator allows. */
export function parseDocumentUrl(clientId: string, hosts: readonly string[]): URL | undefined {
  const url = URL.parse(clientId);
  if (url === null || !hosts.includes(url.host) || hasLogin(url)) return undefined;
  // Another spelling of an address would be another client.
  return url.href === clientId && url.hash === '' && url.pathname !== '/' ? url : undefined;
}

/** The client that a document describes; undefined unless it names its own address, so that no host speaks for another. */
function parseDocument(text: string, clientId: string): Client | undefined {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    ignoreFailure('a text that is no JSON describes no client')(error);
  }
  if (!isRecord(document) || document.client_id !== clientId) return undefined;
  return parseClient(document).data;
}

/** The client of a document, read at its host at most once a day. */
export async function readClientDocument({ config, redis }: Context, url: URL): Promise<Client | undefined> {
  const key = `agent-client:${hashKey(url.href)}`;
  const cachedDocument = await redis.use((client) => client.get(key));
  if (cachedDocument !== null) return parseDocument(cachedDocument, url.href);
  const answer = await callOutside({
    url,
    method: 'GET',
    headers: { accept: 'application/json' },
    allow: config.outboundAllow,
    ...FETCHED,
  });
  if (answer.outcome !== 'answered' || answer.status !== 200) return undefined;
  const client = parseDocument(answer.text, url.href);
  if (client) await redis.use((connection) => connection.set(key, answer.text, 'PX', DAY_MS));
  return client;
}
