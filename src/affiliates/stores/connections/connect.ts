import { endClaim } from '../../../kit/engines/postgres/work-claims.ts';
import type { Context } from '../../../kit/operation/context.ts';
import type { Work } from '../../../kit/operation/work.ts';
import { ApiError, validationError } from '../../../kit/values/errors.ts';
import { newId } from '../../../kit/values/ids.ts';
import type { Secrets } from '../../../kit/values/secrets.ts';
import { lockBrand } from '../../../platform/brands/brands.ts';
import { getClient } from '../formats/clients.ts';
import {
  AppRefused,
  needsReconnect,
  type Provider,
  type StoreAccess,
  type StoreApp,
  type StoreFacts,
} from '../formats/provider.ts';
import { type StoreSecrets, sealStoreSecrets } from '../formats/store-secrets.ts';
import { SWEEPS } from '../sweeps/schedule.ts';
import { exchange, openStore } from './access.ts';
import {
  getConnectedIntegration,
  type IntegrationRow,
  insertIntegration,
  lockIntegration,
  lockIntegrationOfStore,
  updateAccessStatus,
  updateIntegration,
} from './connections.ts';
import { readPartingColumns } from './parting.ts';

const COUPON_PROBLEMS = {
  not_found: 'is not a coupon of the connected store.',
  inactive: 'is a coupon that is not active in the connected store.',
  not_percentage: 'is a coupon of the connected store, but not a percentage off.',
} as const;

/**
 * Asks the store for the coupon of a new link. Throws unless it is an active percentage.
 * Must run before a transaction opens.
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

/** Asks a store for its facts, before the transaction that connects it. */
export async function identifyStore(outside: OutsideContext, entry: StoreEntry): Promise<NewStore> {
  const { provider, baseUrl } = entry;
  // Webhooks created by API are signed with the app's secret.
  const { app, token = '', webhookSecret = app?.secret ?? '' } = entry;
  const secrets: StoreSecrets = app
    ? { ...(await exchange(outside, entry, app)), app, webhookSecret }
    : { token, webhookSecret };
  let apiVersion: string | null = null;
  const store: StoreAccess = {
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

/** Describes the failure in one short line, because the store may have written it. */
function describeCause({ cause }: ApiError): string {
  const text = cause instanceof Error ? cause.message.replace(/[\p{Cc}\s]+/gu, ' ').trim() : '';
  return text.slice(0, WHY_LENGTH) || 'It does not answer.';
}

/** Calls `identifyStore`, and converts failures to validation errors of the field that the user typed. */
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
  const { name, currency, storefrontUrl, timeZone = null } = store;
  const storefrontHost = new URL(storefrontUrl).host;
  // The lock lets the second of two concurrent calls find the integration of the first.
  await lockBrand(db, brandId);
  const old = await lockIntegrationOfStore(db, brandId, { provider, baseUrl, storefrontUrl });
  const id = old?.id ?? newId('int', now.getTime());
  // A sweep that runs would go on with the earlier secrets.
  await endClaim(db, SWEEPS, id);
  const facts = {
    name,
    currency,
    timeZone,
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
    partingSecrets: null,
    partingUntil: null,
    ...toInitialWebhooks(provider, known, now),
  };
  const newStoreTimes = { lastSyncAt: null, lastReceivedAt: null, createdAt: now, updatedAt: null };
  const row = old
    ? await updateIntegration(db, brandId, id, { ...facts, updatedAt: now })
    : await insertIntegration(db, { id, brandId, provider, ...facts, ...newStoreTimes });
  work.audit({ resourceId: id, old: old ?? null, new: row });
  return row;
}

/**
 * Ends a connection and deletes its secrets, but the one that signs a shop's requests of people. With `keeper` null that goes,
 * too. The reported orders stay. Repeating it changes nothing.
 */
export async function disconnectStore(work: Work, id: string, keeper: Secrets | null): Promise<IntegrationRow> {
  const { db, now, brandId } = work;
  const old = await lockIntegration(db, brandId, id);
  if (old.status === 'disconnected' && keeper !== null) return old;
  const partingColumns = { partingSecrets: null, partingUntil: null };
  const row = await updateIntegration(db, brandId, id, {
    status: 'disconnected',
    secrets: Buffer.alloc(0),
    ...partingColumns,
    ...(keeper === null ? {} : await readPartingColumns(work, keeper, old)),
    disconnectedAt: old.disconnectedAt ?? now,
    updatedAt: now,
  });
  work.audit({ resourceId: id, old, new: row });
  return row;
}
