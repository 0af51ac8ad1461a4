import { z } from 'zod';
import { ignoreFailure } from '../../../kit/values/errors.ts';
import type { Secrets } from '../../../kit/values/secrets.ts';
import { toPlainText } from '../../../kit/values/text.ts';

const PURPOSE = 'oauth client';
const MAX_REDIRECTS = 10;
export const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
/** Schemes that run or show what they are given, and are no application's own. */
const NO_APPLICATION = ['javascript:', 'data:', 'file:', 'blob:', 'about:', 'vbscript:', 'ftp:', 'ws:', 'wss:'];

const isLoopback = ({ protocol, hostname }: URL) => protocol === 'http:' && LOOPBACK.includes(hostname);

/** The consent page shows an application's address as it is: nothing in it may look like something else. */
const PLAIN = /^[\x21-\x7e]+$/;

function isRedirect(text: string): boolean {
  const url = PLAIN.test(text) ? URL.parse(text) : null;
  if (url === null || url.hash !== '' || url.username !== '' || url.password !== '') return false;
  if (url.protocol === 'http:') return isLoopback(url);
  if (NO_APPLICATION.includes(url.protocol)) return false;
  // An application's own scheme without a host is a domain backwards, as in com.example.app:/callback (RFC 8252).
  return url.host !== '' || url.protocol.includes('.');
}

const UNNAMED = 'An agent';
const MAX_NAME = 100;

/**
 * A host of agents, as it registers: a public client, which proves itself by PKCE. What it asks for besides, such as other
 * grants or a secret, is ignored, and the answer says what it gets.
 */
const Client = z.object({
  client_name: z
    .string()
    .trim()
    .min(1)
    .transform((name) => toPlainText(name.slice(0, MAX_NAME)) || UNNAMED)
    .catch(UNNAMED),
  redirect_uris: z
    .array(
      z
        .string()
        .max(500)
        .refine(isRedirect, "must be https, http on the machine's own address, or an application's scheme"),
    )
    .min(1)
    .max(MAX_REDIRECTS),
});
export type Client = z.infer<typeof Client>;

export const parseClient = (body: unknown) => Client.safeParse(body);

/** A client id that contains the sealed client, so that any client can register and nothing is stored. */
export const sealClientId = (secrets: Secrets, client: Client): string =>
  secrets.seal(JSON.stringify(client), PURPOSE).toString('base64url');

export function readClient(secrets: Secrets, id: string): Client | undefined {
  try {
    return Client.parse(JSON.parse(secrets.open(Buffer.from(id, 'base64url'), PURPOSE)));
  } catch (error) {
    ignoreFailure('an id that is not ours names no client')(error);
    return undefined;
  }
}

/** True if a client registered this address; of the machine's own address the port may be another (RFC 8252). */
export function hasRedirect({ redirect_uris: registered }: Client, redirectUri: string): boolean {
  if (registered.includes(redirectUri)) return true;
  const url = URL.parse(redirectUri);
  if (!url || !isRedirect(redirectUri) || !isLoopback(url)) return false;
  return registered.some((one) => {
    const own = new URL(one);
    own.port = url.port;
    return isLoopback(own) && own.href === url.href;
  });
}
