import type { FastifyRequest } from 'fastify';
import type { Context } from '../../../kit/operation/context.ts';
import { ApiError } from '../../../kit/values/errors.ts';
import { type Client, hasRedirect, LOOPBACK, readClient } from './client.ts';
import { parseDocumentUrl, readClientDocument } from './client-documents.ts';

/**
 * The issuer: this API at its configured address. Without one only callers on the same machine have an issuer, because
 * anybody can choose the `Host` of a request, and tokens would be sent there.
 */
export function findIssuer({ hostname, socket }: FastifyRequest, { config }: Context): string | undefined {
  if (config.apiUrl !== undefined) return config.apiUrl;
  return LOOPBACK.includes(hostname) ? new URL(`http://${hostname}:${socket.localPort}`).origin : undefined;
}

export function getIssuer(request: FastifyRequest, context: Context): string {
  const issuer = findIssuer(request, context);
  if (issuer === undefined) throw new ApiError('NOT_FOUND', 'OAuth is off at this address: API_URL is not set.');
  return issuer;
}

export const getResource = (request: FastifyRequest, context: Context): string => `${getIssuer(request, context)}/mcp`;

/**
 * True if tokens for this resource are for `/mcp`. Hosts send its address with and without a last slash, with the query
 * that a person typed, or the issuer's.
 */
export function isOwnResource(resource: string, request: FastifyRequest, context: Context): boolean {
  const url = URL.parse(resource);
  const address = url === null ? resource : `${url.origin}${url.pathname}`.replace(/\/$/, '');
  return [getResource(request, context), getIssuer(request, context)].includes(address);
}

/** The resource that a request names. A blank one names none. */
export const readResource = (fields: URLSearchParams): string | null => fields.get('resource') || null;

/** A host's request for an owner's consent. */
export interface ConsentRequest {
  client: Client;
  clientId: string;
  redirectUri: string;
  state: string | undefined;
  codeChallenge: string;
  scopes: readonly string[];
}

/** A request of no known client, or a client's that is wrong and may be returned with an error. */
export type Refused =
  | { problem: string }
  | { clientName: string; redirectUri: string; state: string | undefined; error: string };

const CHALLENGE = /^[\w-]{43}$/;

/**
 * The toolsets that a request names, or all if it names none. Other scopes, such as `offline_access`, are ignored;
 * so is `readonly`, because only the owner decides that, on the page.
 */
function parseScopes(text: string | null, toolsets: readonly string[]): readonly string[] {
  const requestedScopes = [...new Set((text ?? '').split(' '))].filter((one) => toolsets.includes(one));
  return requestedScopes.length > 0 ? requestedScopes : toolsets;
}

/** True if this id can be no client's: hosts whose client is unknown register again, and no others do. */
export const isNoClient = (clientId: string, { config, secrets }: Context): boolean =>
  parseDocumentUrl(clientId, config.agentClientHosts) === undefined && readClient(secrets, clientId) === undefined;

/** A client that registered, or that a document of an allowed host describes. */
async function findClient(context: Context, clientId: string): Promise<Client | undefined> {
  const document = parseDocumentUrl(clientId, context.config.agentClientHosts);
  return document ? await readClientDocument(context, document) : readClient(context.secrets, clientId);
}

const readQuery = ({ url }: FastifyRequest) => new URLSearchParams(url.split('?', 2)[1] ?? '');

/** True if the client's id is the address of a document that may be read. */
export const isDocumentId = (request: FastifyRequest, { config }: Context): boolean =>
  parseDocumentUrl(readQuery(request).get('client_id') ?? '', config.agentClientHosts) !== undefined;

export async function readConsentRequest(
  request: FastifyRequest,
  context: Context,
  toolsets: readonly string[],
): Promise<{ requested: ConsentRequest } | { refused: Refused }> {
  const query = readQuery(request);
  const clientId = query.get('client_id') ?? '';
  const client = await findClient(context, clientId);
  if (!client) return { refused: { problem: 'The application is unknown here; let it register again.' } };
  const redirectUri = query.get('redirect_uri') ?? client.redirect_uris[0] ?? '';
  if (!hasRedirect(client, redirectUri)) {
    return { refused: { problem: 'The application did not register the address that it wants to return to.' } };
  }
  const state = query.get('state') ?? undefined;
  const back = (error: string) => ({ refused: { clientName: client.client_name, redirectUri, state, error } });
  if (query.get('response_type') !== 'code') return back('unsupported_response_type');
  const codeChallenge = query.get('code_challenge') ?? '';
  if (query.get('code_challenge_method') !== 'S256' || !CHALLENGE.test(codeChallenge)) return back('invalid_request');
  const resource = readResource(query);
  if (resource !== null && !isOwnResource(resource, request, context)) return back('invalid_target');
  const scopes = parseScopes(query.get('scope'), toolsets);
  return { requested: { client, clientId, redirectUri, state, codeChallenge, scopes } };
}

/** The client's address with an answer to its request. */
export function toAddress(
  { redirectUri, state }: { redirectUri: string; state: string | undefined },
  answer: { code: string } | { error: string },
  issuer: string,
): string {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries({ ...answer, state, iss: issuer })) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  return url.href;
}
