import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hashKey } from '../../../kit/access/keys/key-form.ts';
import { openAddressLimit } from '../../../kit/access/rate-limit.ts';
import { html } from '../../../kit/html/html.ts';
import { pageHeaders } from '../../../kit/html/page.ts';
import type { Context } from '../../../kit/operation/context.ts';
import type { Operation } from '../../../kit/operation/operation.ts';
import { ApiError, toApiError } from '../../../kit/values/errors.ts';
import type { Metrics } from '../../../kit/values/metrics.ts';
import { isRecord } from '../../../kit/values/wire.ts';
import { redeemCode, refreshTokens, TOKEN_LIFE_MS, type Tokens } from '../../../platform/keys/agent-grants.ts';
import { readCookie } from '../../../platform/people/session-cookie.ts';
import type { Door } from '../../http/gate.ts';
import { READONLY } from '../catalog.ts';
import { parseClient, sealClientId } from './client.ts';
import { askOwner, consentPage, grantAgent, messagePage, wrongRequestPage } from './consent.ts';
import {
  type ConsentRequest,
  findIssuer,
  getIssuer,
  getResource,
  isDocumentId,
  isNoClient,
  isOwnResource,
  type Refused,
  readConsentRequest,
  readResource,
  toAddress,
} from './request.ts';

const PER_MINUTE = 100;
const BODY_LIMIT_BYTES = 64 * 1024;
const RESOURCE = '/.well-known/oauth-protected-resource';
const SERVER = '/.well-known/oauth-authorization-server';

/** A refusal for a lack of a key, with the address at which a host learns how to get one. */
export function challenged(error: unknown, request: FastifyRequest, context: Context): ApiError {
  const refusal = toApiError(error);
  const issuer = findIssuer(request, context);
  if (refusal.status !== 401 || issuer === undefined) return refusal;
  const { code, message, facts, headers } = refusal;
  const [scheme = 'Bearer', ...rest] = (headers['www-authenticate'] ?? 'Bearer').split(' ');
  const metadata = `resource_metadata="${issuer}${RESOURCE}/mcp${getSlash(request)}"`;
  const challenge = `${scheme} ${[...rest, metadata].join(', ')}`;
  return new ApiError(code, message, { facts, cause: error, headers: { ...headers, 'www-authenticate': challenge } });
}

/** The slash that an address was asked with: hosts compare the resource with the address that a person typed. */
const getSlash = ({ url }: FastifyRequest): string => (/\/(?:\?|$)/.test(url) ? '/' : '');

const readForm = ({ body }: FastifyRequest) => new URLSearchParams(Buffer.isBuffer(body) ? body.toString('utf8') : '');

function readJson({ body }: FastifyRequest): unknown {
  try {
    return JSON.parse(Buffer.isBuffer(body) ? body.toString('utf8') : '');
  } catch {
    return undefined;
  }
}

/** The fields of a request for tokens, which some hosts send as JSON, and the client's id by `Basic`. */
function readTokenForm(request: FastifyRequest): URLSearchParams {
  const isJson = /^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '');
  const jsonForm = isJson ? readJson(request) : undefined;
  const form = isJson ? new URLSearchParams() : readForm(request);
  for (const [name, value] of Object.entries(isRecord(jsonForm) ? jsonForm : {})) {
    if (typeof value === 'string') form.set(name, value);
  }
  const [, basic] = /^Basic +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? [];
  if (basic && !form.has('client_id')) {
    const [id = ''] = Buffer.from(basic, 'base64').toString('utf8').split(':', 1);
    form.set('client_id', new URLSearchParams(`id=${id}`).get('id') ?? id);
  }
  return form;
}

/** `S256` of RFC 7636. */
const toChallenge = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');

/** OAuth 2.1 for `/mcp`, as its specification has it: hosts that take no header get their token from an owner. */
export function oauthRoutes(
  app: FastifyInstance,
  context: Context,
  { door, metrics, toolsets }: { door: Door; metrics: Metrics; toolsets: readonly string[] },
): void {
  const { config, postgres, redis, clock, secrets } = context;
  const engines = { db: postgres.db, redis, clock };
  const addresses = openAddressLimit(redis, clock, metrics, { name: 'oauth', limit: PER_MINUTE });
  const options = { bodyLimit: BODY_LIMIT_BYTES };

  async function assertRate(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const refusal = await addresses.count(request.ip, (name, value) => void reply.header(name, value));
    if (refusal) throw refusal;
  }

  // Metadata and tokens are for any page: there is no cookie in them.
  const open = (reply: FastifyReply) =>
    reply.headers({ 'access-control-allow-origin': '*', 'cache-control': 'no-store' });

  // Pages that are hosts of agents ask first whether they may send these headers.
  for (const url of ['/.well-known/*', '/oauth/register', '/oauth/token']) {
    app.options(url, (_request, reply) =>
      open(reply)
        .headers({
          'access-control-allow-methods': 'GET, POST, OPTIONS',
          'access-control-allow-headers': 'authorization, content-type, mcp-protocol-version',
          'access-control-max-age': '86400',
        })
        .code(204)
        .send(),
    );
  }

  // Without a key too: a host that looks for another document takes 401 for a server that wants a token here.
  app.get('/.well-known/*', (_request, reply) => {
    open(reply);
    throw new ApiError('NOT_FOUND', 'There is no such document.');
  });

  for (const url of [RESOURCE, `${RESOURCE}/mcp`]) {
    app.get(url, (request, reply) =>
      open(reply).send({
        resource: `${getResource(request, context)}${getSlash(request)}`,
        authorization_servers: [getIssuer(request, context)],
        bearer_methods_supported: ['header'],
        scopes_supported: toolsets,
        resource_name: 'Rollcall',
      }),
    );
  }

  const describeServer = (request: FastifyRequest, reply: FastifyReply) => {
    const issuer = getIssuer(request, context);
    return open(reply).send({
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      registration_endpoint: `${issuer}/oauth/register`,
      scopes_supported: toolsets,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['none'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      ...(config.agentClientHosts.length > 0 && { client_id_metadata_document_supported: true }),
    });
  };
  // Some hosts ask with the path of the resource first.
  for (const url of [SERVER, `${SERVER}/mcp`]) app.get(url, describeServer);

  app.post('/oauth/register', options, async (request, reply) => {
    await assertRate(request, reply);
    const parsed = parseClient(readJson(request));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const error = issue?.path[0] === 'redirect_uris' ? 'invalid_redirect_uri' : 'invalid_client_metadata';
      const said = `${issue?.path.join('.') || 'body'} ${issue?.message}`;
      return open(reply).code(400).send({ error, error_description: said });
    }
    const client_id = sealClientId(secrets, parsed.data);
    const client_id_issued_at = Math.floor(clock.now().getTime() / 1_000);
    const kinds = { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] };
    return open(reply)
      .code(201)
      .send({ client_id, client_id_issued_at, ...parsed.data, ...kinds, token_endpoint_auth_method: 'none' });
  });

  /** Runs an operation of the signed-in owner's by the gate, as the web app's calls. */
  async function asOwner(request: FastifyRequest, reply: FastifyReply, operation: Operation, body?: unknown) {
    const prepare = () => operation.prepare({ params: {}, query: {}, body, answer: 'json' });
    const apiRequest = {
      authorization: undefined,
      cookie: readCookie(request),
      address: request.ip,
      requestId: request.id,
      idempotencyKey: undefined,
      setHeader: (name: string, value: string) => void reply.header(name, value),
    };
    return JSON.parse(String(await door.run(operation, apiRequest, prepare)));
  }

  const show = (reply: FastifyReply, status: number, content: string, leadsTo?: string) =>
    reply
      .code(status)
      .headers({ ...pageHeaders(undefined, leadsTo), 'cache-control': 'no-store' })
      .type('text/html; charset=utf-8')
      .send(content);

  function refuse(request: FastifyRequest, reply: FastifyReply, refused: Refused) {
    if ('error' in refused) {
      const back = toAddress(refused, { error: refused.error }, getIssuer(request, context));
      return show(reply, 400, wrongRequestPage(refused, back));
    }
    return show(reply, 400, messagePage('This link does not work', html`<p>${refused.problem}</p>`));
  }

  /** Who must sign in, or is no owner, sees a page that says so. */
  function showRefusal(request: FastifyRequest, reply: FastifyReply, error: unknown) {
    const { status, code, message } = toApiError(error);
    if (status === 401) return show(reply, 401, signInPage(request.url));
    if (code === 'SIGN_IN_AGAIN') return show(reply, 403, signInAgainPage(request.url));
    if (code === 'ROLE_REQUIRED') return show(reply, 403, messagePage('Ask an owner', html`<p>${message}</p>`));
    throw error;
  }

  /** A document makes a call to its host, so its requests are counted as registrations are. */
  async function readConsent(request: FastifyRequest, reply: FastifyReply) {
    if (isDocumentId(request, context)) await assertRate(request, reply);
    return await readConsentRequest(request, context, toolsets);
  }

  app.get('/oauth/authorize', async (request, reply) => {
    const consent = await readConsent(request, reply);
    if ('refused' in consent) return refuse(request, reply, consent.refused);
    try {
      const owner = await asOwner(request, reply, askOwner);
      if (!owner.is_fresh) return show(reply, 403, signInAgainPage(request.url));
      const url = new URL(consent.requested.redirectUri);
      const leadsTo = /^https?:$/.test(url.protocol) ? url.origin : url.protocol;
      return show(reply, 200, consentPage(consent.requested, owner, request.url), leadsTo);
    } catch (error) {
      return showRefusal(request, reply, error);
    }
  });

  async function allow(request: FastifyRequest, reply: FastifyReply, requested: ConsentRequest, form: URLSearchParams) {
    const grantedScopes = [...requested.scopes, READONLY].filter((one) => form.get(one) === 'yes');
    const { client, clientId, redirectUri, codeChallenge } = requested;
    const clientFields = { client_id: clientId, client_name: client.client_name, redirect_uri: redirectUri };
    const body = { ...clientFields, code_challenge: codeChallenge, scopes: grantedScopes };
    const { code } = await asOwner(request, reply, grantAgent, body);
    return reply.redirect(toAddress(requested, { code }, getIssuer(request, context)), 303);
  }

  app.post('/oauth/authorize', options, async (request, reply) => {
    const consent = await readConsent(request, reply);
    if ('refused' in consent) return refuse(request, reply, consent.refused);
    const form = readForm(request);
    const isChosen = consent.requested.scopes.some((one) => form.get(one) === 'yes');
    try {
      if (form.get('decision') === 'allow' && isChosen) return await allow(request, reply, consent.requested, form);
      await asOwner(request, reply, askOwner);
    } catch (error) {
      return showRefusal(request, reply, error);
    }
    return reply.redirect(toAddress(consent.requested, { error: 'access_denied' }, getIssuer(request, context)), 303);
  });

  function answerTokens(reply: FastifyReply, tokens: Tokens | undefined) {
    if (!tokens) {
      return open(reply)
        .code(400)
        .send({ error: 'invalid_grant', error_description: 'It is unknown, used, expired or revoked.' });
    }
    const { access: access_token, refresh: refresh_token } = tokens;
    const expires_in = TOKEN_LIFE_MS / 1_000;
    return open(reply).send({
      access_token,
      token_type: 'Bearer',
      expires_in,
      refresh_token,
      scope: tokens.scopes.join(' '),
    });
  }

  app.post('/oauth/token', options, async (request, reply) => {
    await assertRate(request, reply);
    const form = readTokenForm(request);
    const readField = (name: string) => form.get(name) ?? '';
    const clientHash = hashKey(readField('client_id'));
    if (isNoClient(readField('client_id'), context)) {
      const error_description = 'This client is unknown here; register again.';
      return open(reply).code(400).send({ error: 'invalid_client', error_description });
    }
    const resource = readResource(form);
    if (resource !== null && !isOwnResource(resource, request, context)) {
      return open(reply).code(400).send({ error: 'invalid_target' });
    }
    if (readField('grant_type') === 'refresh_token') {
      return answerTokens(reply, await refreshTokens(engines, secrets, readField('refresh_token'), clientHash));
    }
    if (readField('grant_type') !== 'authorization_code') {
      return open(reply).code(400).send({ error: 'unsupported_grant_type' });
    }
    const codeChallenge = toChallenge(readField('code_verifier'));
    const code = {
      codeHash: hashKey(readField('code')),
      clientHash,
      redirectUri: form.get('redirect_uri'),
      codeChallenge,
    };
    return answerTokens(reply, await redeemCode(engines, secrets, code));
  });
}

/** A session may have been taken; what it lets in would outlive it. */
const signInAgainPage = (here: string): string =>
  messagePage(
    'Sign in again first',
    html`<p>An agent asks to act for your brand. Its access outlasts your session, so only somebody who signed in within the last 15
minutes may allow it. <a href="/app/" target="_blank" rel="noopener">Sign out and in again in the web app</a>, then
<a href="${here}">continue here</a>.</p>`,
  );

/** Signing in leads to the web app, so the page is opened once more afterwards. */
const signInPage = (here: string): string =>
  messagePage(
    'Sign in first',
    html`<p>An agent asks to act for your brand. <a href="/app/" target="_blank" rel="noopener">Sign in to the web app</a> as an
owner, then <a href="${here}">continue here</a>.</p>`,
  );
