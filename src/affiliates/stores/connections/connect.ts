import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from '../../../kit/operation/context.ts';
import type { Work } from '../../../kit/operation/work.ts';
import { HOUR_MS } from '../../../kit/values/duration.ts';
import { ApiError, ignoreFailure, validationError } from '../../../kit/values/errors.ts';
import { newId } from '../../../kit/values/ids.ts';
import type { Secrets } from '../../../kit/values/secrets.ts';
import { lockBrand } from '../../../platform/brands/queries.ts';
import { getClient } from '../formats/clients.ts';
import {
  AppRefused,
  needsReconnect,
  type Provider,
  type Store,
  type StoreApp,
  type StoreFacts,
  storeUnavailable,
  unauthorized,
} from '../formats/provider.ts';
import { openStoreSecrets, type StoreSecrets, sealStoreSecrets } from '../formats/store-secrets.ts';
import {
  claimRenewal,
  endRenewal,
  getAccess,
  getConnectedIntegration,
  type IntegrationKey,
  type IntegrationRow,
  insertIntegration,
  lockIntegration,
  lockIntegrationOfStore,
  recordVersion,
  replaceSecrets,
  updateAccessStatus,
  updateIntegration,
} from './connections.ts';

const COUPON_PROBLEMS = {
  not_found: 'is not a coupon of the connected store.',
  inactive: 'is a coupon that is not active in the connected store.',
  not_percentage: 'is a coupon of the connected store, but not a percentage off.',
} as const;

/** A token is renewed when it would last for less than this. */
const RENEWED_BEFORE_MS = HOUR_MS;
/** Longer than the call takes: a process that dies in the meantime leaves the renewal to another. */
const RENEWAL_MS = 20_000;
const LOOKED_AGAIN_AFTER_MS = 100;
const LOOKS = RENEWAL_MS / LOOKED_AGAIN_AFTER_MS;

/** Parts of the context that calls to stores need; servers, workers and commands have them. */
export interface StoreContext extends Pick<Context, 'config' | 'clock' | 'secrets'> {
  postgres: Pick<Context['postgres'], 'db'>;
  log: { warn(facts: object, text: string): void };
}

type StoreKey = IntegrationKey & Pick<IntegrationRow, 'provider' | 'baseUrl'>;

/** Running renewals of this process: its other calls wait for the same one. */
const renewals = new WeakMap<StoreContext, Map<string, Promise<string>>>();

async function exchange(
  { config, clock }: Pick<Context, 'config' | 'clock'>,
  { provider, baseUrl }: Pick<StoreKey, 'provider' | 'baseUrl'>,
  app: StoreApp,
): Promise<Pick<StoreSecrets, 'token' | 'tokenEndsAt'>> {
  const { newToken } = getClient(provider);
  if (!newToken) throw new Error(`A ${provider} store gives out no tokens.`);
  const { token, expiresInMs } = await newToken({ baseUrl, allow: config.outboundAllow }, app);
  return { token, tokenEndsAt: new Date(clock.now().getTime() + expiresInMs).toISOString() };
}

/** A token other than the one that ends or was refused: one process of all gets it, the others wait for what it writes. */
async function renew(context: StoreContext, store: StoreKey, past: string): Promise<string> {
  const { postgres, secrets, clock } = context;
  for (let look = 0; look < LOOKS; look += 1) {
    const { secrets: seen } = await getAccess(postgres.db, store);
    const known = openStoreSecrets(secrets, seen, store.id);
    if (known.token !== past) return known.token;
    const { app } = known;
    if (!app) throw unauthorized(new Error('Its token cannot be renewed.'));
    const now = clock.now();
    const until = new Date(now.getTime() + RENEWAL_MS);
    if (await claimRenewal(postgres.db, store, { seen, now, until })) {
      try {
        const fresh = await exchange(context, store, app);
        await endRenewal(postgres.db, store, seen, sealStoreSecrets(secrets, { ...known, ...fresh }, store.id));
        return fresh.token;
      } catch (error) {
        await endRenewal(postgres.db, store, seen);
        throw error instanceof AppRefused ? unauthorized(error) : error;
      }
    }
    await delay(LOOKED_AGAIN_AFTER_MS);
  }
  throw storeUnavailable(new Error('Its token is being renewed by another process, which takes too long.'));
}

function renewOnce(context: StoreContext, store: StoreKey, past: string): Promise<string> {
  const running = renewals.get(context) ?? new Map<string, Promise<string>>();
  renewals.set(context, running);
  const name = `${store.id} ${past}`;
  const renewal = running.get(name) ?? renew(context, store, past).finally(() => running.delete(name));
  running.set(name, renewal);
  return renewal;
}

/** Gets another token where the store gives them out, to learn whether it still does. Says what kind of token it is. */
export async function renewToken(context: StoreContext, row: StoreKey): Promise<string> {
  const { secrets: seen } = await getAccess(context.postgres.db, row);
  const known = openStoreSecrets(context.secrets, seen, row.id);
  if (!known.app) return 'does not end';
  await renewOnce(context, row, known.token);
  return 'renewed';
}

/**
 * A store with a token that is valid. A call renews a token that the store refuses, once. Throws when its secrets
 * cannot be opened. To be called outside of a transaction.
 */
export async function openStore(context: StoreContext, row: StoreKey): Promise<Store> {
  const { postgres, secrets, config, clock, log } = context;
  const { secrets: seen, apiVersion } = await getAccess(postgres.db, row);
  const known = openStoreSecrets(secrets, seen, row.id);
  const { provider, baseUrl } = row;
  const store: Store = {
    baseUrl,
    token: known.token,
    keysInQuery: known.keysInQuery === true,
    allow: config.outboundAllow,
    onVersion: async (version) => {
      const isNews = version !== apiVersion && (await recordVersion(postgres.db, row, version));
      if (!isNews || version === getClient(provider).version) return;
      log.warn(
        { brandId: row.brandId, integration: row.id, version },
        'a store answers with another version of its API',
      );
    },
    remember: async () => {
      const sealed = sealStoreSecrets(secrets, { ...known, keysInQuery: true }, row.id);
      await replaceSecrets(postgres.db, row, seen, sealed);
    },
  };
  if (!known.app) return store;
  store.renew = (refused) => renewOnce(context, row, refused);
  const endsAt = Date.parse(known.tokenEndsAt ?? '');
  if (endsAt - clock.now().getTime() >= RENEWED_BEFORE_MS) return store;
  // The token may last for some minutes more, and what is read may not ask the store at all.
  const renewed = await renewOnce(context, row, known.token).catch(ignoreFailure('a call that is refused renews it'));
  return { ...store, token: renewed ?? known.token };
}

/**
 * Asks the store for a coupon that a link is about to be connected to. Throws unless it is an active percentage.
 * To be called before a transaction opens.
 */
export async function verifyCoupon(
  context: Context,
  brandId: string,
  integrationId: string,
  code: string,
): Promise<{ currency: string; storefrontHost: string; coupon: { percentage: number; endsAt: Date | null } }> {
  const { clock } = context;
  const { db } = context.postgres;
  const row = await getConnectedIntegration(db, brandId, integrationId);
  const coupon = await openStore(context, row)
    .then((store) => getClient(row.provider).findCoupon(store, code, clock.now()))
    .catch(async (error: unknown) => {
      if (needsReconnect(error)) await updateAccessStatus(db, row, 'reauth_required', clock.now());
      throw error;
    });
  if (row.status !== 'connected') await updateAccessStatus(db, row, 'connected', clock.now());
  if (coupon.state !== 'active') {
    throw validationError([{ field: 'value', code: `coupon_${coupon.state}`, message: COUPON_PROBLEMS[coupon.state] }]);
  }
  return { currency: row.currency, storefrontHost: row.storefrontHost, coupon };
}

/** Access to a store as its owner enters it: a token and the webhook secret, or an app's id and secret. */
export interface StoreEntry {
  provider: Provider;
  baseUrl: string;
  token?: string | undefined;
  webhookSecret?: string | undefined;
  app?: StoreApp | undefined;
}

/** A store that answered, with the secrets to keep. */
export interface NewStore {
  provider: Provider;
  baseUrl: string;
  secrets: StoreSecrets;
  facts: StoreFacts;
  apiVersion: string | null;
}

type OutsideContext = Pick<Context, 'config' | 'clock'>;

/** Webhooks created by API are signed with the app's secret. */
async function toStoreSecrets(outside: OutsideContext, entry: StoreEntry): Promise<StoreSecrets> {
  const { app, token = '', webhookSecret = app?.secret ?? '' } = entry;
  return app ? { ...(await exchange(outside, entry, app)), app, webhookSecret } : { token, webhookSecret };
}

/** Asks a store for its facts, before the transaction that connects it. */
export async function identifyStore(outside: OutsideContext, entry: StoreEntry): Promise<NewStore> {
  const { provider, baseUrl } = entry;
  const secrets = await toStoreSecrets(outside, entry);
  let apiVersion: string | null = null;
  const store: Store = {
    baseUrl,
    token: secrets.token,
    allow: outside.config.outboundAllow,
    onVersion: (version) => {
      apiVersion = version;
    },
  };
  const facts = await getClient(provider).connect(store);
  return {
    provider,
    baseUrl,
    facts,
    apiVersion,
    secrets: { ...secrets, ...(store.keysInQuery ? { keysInQuery: true } : {}) },
  };
}

const WHY_LENGTH = 300;

/** Why a store could not be met, on one line: the other side has a part in its words. */
function describeCause({ cause }: ApiError): string {
  const text = cause instanceof Error ? cause.message.replace(/[\p{Cc}\s]+/gu, ' ').trim() : '';
  return text.slice(0, WHY_LENGTH) || 'It does not answer.';
}

/** The same as `askWhoItIs`, but names the wrong field for the person who typed the address. */
export async function checkStore(outside: OutsideContext, entry: StoreEntry): Promise<NewStore> {
  return await identifyStore(outside, entry).catch((error: unknown) => {
    if (error instanceof AppRefused) {
      throw validationError([{ field: error.field, code: 'refused', message: error.message }]);
    }
    if (!(error instanceof ApiError)) throw error;
    const field = entry.app ? 'client_id' : 'token';
    const refusal = needsReconnect(error)
      ? { field, code: 'refused', message: `is refused by the store, or lacks permissions. ${describeCause(error)}` }
      : {
          field: 'url',
          code: 'no_store',
          message: `does not lead to a ${entry.provider} store. ${describeCause(error)}`,
        };
    throw validationError([refusal]);
  });
}

/** A store that lists its webhooks is checked at once; for any other, the owner creates them. */
function toInitialWebhooks(provider: Provider, secrets: StoreSecrets, now: Date) {
  const isListed = getClient(provider).webhooks?.mayBeMade(secrets) === true;
  return {
    webhookState: isListed ? ('pending' as const) : ('manual' as const),
    webhooksDueAt: isListed ? now : null,
    missingWebhooks: [],
    webhookProblem: null,
    webhooksCheckedAt: null,
  };
}

/** Connects a store, or reconnects it under its old id, so that its orders stay known and its links keep working. */
export async function connectStore(
  work: Work,
  secrets: Secrets,
  { provider, baseUrl, secrets: known, facts: store, apiVersion }: NewStore,
): Promise<IntegrationRow> {
  const { db, now, brandId } = work;
  const { name, currency, storefrontUrl } = store;
  const storefrontHost = new URL(storefrontUrl).host;
  // The lock lets the second of two concurrent calls find the integration of the first.
  await lockBrand(db, brandId);
  const old = await lockIntegrationOfStore(db, brandId, { provider, baseUrl, storefrontUrl });
  const id = old?.id ?? newId('int', now.getTime());
  const facts = {
    name,
    currency,
    storefrontUrl,
    storefrontHost,
    baseUrl,
    connectedAt: now,
    disconnectedAt: null,
    status: 'connected' as const,
    sweepAt: now,
    secrets: sealStoreSecrets(secrets, known, id),
    apiVersion,
    renewingUntil: null,
    ...toInitialWebhooks(provider, known, now),
  };
  const untouched = { lastSyncAt: null, lastReceivedAt: null, createdAt: now, updatedAt: null };
  const row = old
    ? await updateIntegration(db, brandId, id, { ...facts, updatedAt: now })
    : await insertIntegration(db, { id, brandId, provider, ...facts, ...untouched });
  work.audit({ resourceId: id, old: old ?? null, new: row });
  return row;
}

/** Ends a connection and deletes its secrets. The reported orders stay. Repeating it changes nothing. */
export async function disconnectStore(work: Work, id: string): Promise<IntegrationRow> {
  const { db, now, brandId } = work;
  const old = await lockIntegration(db, brandId, id);
  if (old.status === 'disconnected') return old;
  const row = await updateIntegration(db, brandId, id, {
    status: 'disconnected',
    secrets: Buffer.alloc(0),
    disconnectedAt: now,
    updatedAt: now,
  });
  work.audit({ resourceId: id, old, new: row });
  return row;
}
