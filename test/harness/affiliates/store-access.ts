import type { IncomingMessage } from 'node:http';
import { SHOPIFY_VERSION } from '../../../src/affiliates/stores/formats/shopify-graphql.ts';
import { unique } from '../app.ts';
import type { Reply } from './store.ts';

/** How a test store lets callers in. */
export interface StoreAccess {
  /** The store's own clock. */
  now: () => Date;
  /** Of Shopify: an app of the Dev Dashboard. */
  app: { id: string; secret: string; isInstalled: boolean; isOfOrganization: boolean };
  /** Of Shopify: when each token that the app got ends. */
  tokens: Map<string, number>;
  /** Of Shopify: the versions that it still supports, oldest first. */
  versions: string[];
  /** Of WooCommerce: its host does not pass on the `Authorization` header. */
  dropsAuthorization: boolean;
}

const TOKEN_SECONDS = 86_399;

export const newAccess = (): StoreAccess => ({
  now: () => new Date(),
  app: { id: unique('client'), secret: unique('shpss'), isInstalled: true, isOfOrganization: true },
  tokens: new Map(),
  versions: ['2026-01', '2026-04', '2026-07', SHOPIFY_VERSION],
  dropsAuthorization: false,
});

const oauthError = (code: string, text: string): Reply => ({ status: 400, body: `Oauth error ${code}: ${text}` });

/** The client credentials grant. */
export function tokenReply(access: StoreAccess, body: Record<string, unknown>): Reply {
  const { app, tokens, now } = access;
  if (body.client_id !== app.id) return oauthError('application_cannot_be_found', 'Could not find the application.');
  if (body.client_secret !== app.secret) return { status: 400, body: { error: 'invalid_client' } };
  if (body.grant_type !== 'client_credentials') return { status: 400, body: { error: 'unsupported_grant_type' } };
  if (!app.isOfOrganization) {
    return oauthError('shop_not_permitted', 'Client credentials cannot be performed on this shop.');
  }
  if (!app.isInstalled) return oauthError('app_not_installed', 'The application is not installed on this shop.');
  const token = unique('shpat');
  tokens.set(token, now().getTime() + TOKEN_SECONDS * 1_000);
  return { status: 200, body: { access_token: token, scope: 'read_discounts,read_orders', expires_in: TOKEN_SECONDS } };
}

/** A custom app's own token never ends; one that was exchanged does, and with the app. */
export function isGoodToken({ token, access }: { token: string; access: StoreAccess }, shown: unknown): boolean {
  if (shown === token) return true;
  const endsAt = typeof shown === 'string' && access.app.isInstalled ? access.tokens.get(shown) : undefined;
  return endsAt !== undefined && access.now().getTime() < endsAt;
}

/** An unsupported version is answered by the oldest that is supported. */
export function answeredVersion({ versions }: StoreAccess, path = ''): string | undefined {
  const requested = /^\/admin\/api\/(\d{4}-\d\d)\/graphql\.json$/.exec(path)?.[1];
  return requested === undefined || versions.includes(requested) ? requested : versions[0];
}

/** WooCommerce's keys, by basic authentication or in the query. */
export function showsKeys(
  { token, access }: { token: string; access: StoreAccess },
  { headers }: IncomingMessage,
  { searchParams }: URL,
): boolean {
  const basic = `Basic ${Buffer.from(token).toString('base64')}`;
  if (!access.dropsAuthorization && headers.authorization === basic) return true;
  return `${searchParams.get('consumer_key')}:${searchParams.get('consumer_secret')}` === token;
}

/** A key that never arrived is missing; one that is not the store's is wrong. */
export function refusedKey({ access }: { access: StoreAccess }, { headers }: IncomingMessage): Reply {
  const isMissing = access.dropsAuthorization || headers.authorization === undefined;
  const message = isMissing ? 'Consumer key is missing.' : 'Consumer key is invalid.';
  return { status: 401, body: { code: 'woocommerce_rest_authentication_error', message, data: { status: 401 } } };
}

/** A person who approves an access on the store's own page, as WooCommerce does it; `callTo` is who answers the callback. */
export async function approve(
  { token, access }: { token: string; access: StoreAccess },
  authorizeUrl: string,
  callTo: string,
): Promise<{ status: number; returnTo: URL | undefined }> {
  const requested = new URL(authorizeUrl).searchParams;
  const callback = new URL(requested.get('callback_url') ?? '');
  if (callback.protocol !== 'https:') return { status: 401, returnTo: undefined };
  const [consumer_key, consumer_secret] = token.split(':');
  const keys = { key_id: 1, user_id: requested.get('user_id'), consumer_key, consumer_secret };
  const answer = await fetch(`${callTo}${callback.pathname}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json;charset=UTF-8' },
    body: JSON.stringify({ ...keys, key_permissions: requested.get('scope'), at: access.now().toISOString() }),
  });
  const returnTo = new URL(requested.get('return_url') ?? '');
  returnTo.searchParams.set('success', '1');
  returnTo.searchParams.set('user_id', requested.get('user_id') ?? '');
  return { status: answer.status, returnTo: answer.status === 200 ? returnTo : undefined };
}
