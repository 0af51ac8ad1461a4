import type { Provider } from '../../engines/postgres/attribution-tables.ts';
import type { Context } from '../../operation/context.ts';
import type { Work } from '../../operation/work.ts';
import { clientOf } from '../../stores/clients.ts';
import { type Coupon, isToReconnect, type StoreFacts } from '../../stores/provider.ts';
import { openStoreSecrets, type StoreSecrets, sealStoreSecrets } from '../../stores/store-secrets.ts';
import { ApiError, validationError } from '../../values/errors.ts';
import { newId } from '../../values/ids.ts';
import type { Secrets } from '../../values/secrets.ts';
import { lockBrand } from '../brands/queries.ts';
import {
  getConnectedIntegration,
  getSealedSecrets,
  type IntegrationRow,
  insertIntegration,
  lockIntegration,
  lockIntegrationOfStore,
  markStatus,
  updateIntegration,
} from './queries.ts';

const REFUSED = {
  not_found: 'is not a coupon of the connected store.',
  inactive: 'is a coupon that is not active in the connected store.',
  not_percentage: 'is a coupon of the connected store, but not a percentage off.',
} as const;

async function findCoupon(context: Context, row: IntegrationRow, code: string): Promise<Coupon> {
  const { config, secrets, clock, postgres } = context;
  const { token } = openStoreSecrets(secrets, await getSealedSecrets(postgres.db, row.brandId, row.id), row.id);
  const store = { baseUrl: row.baseUrl, token, allow: config.outboundAllow };
  return await clientOf(row.provider).findCoupon(store, code, clock.now());
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
  const coupon = await findCoupon(context, row, code).catch(async (error: unknown) => {
    if (isToReconnect(error)) await markStatus(db, row, 'reauth_required', clock.now());
    throw error;
  });
  if (row.status !== 'connected') await markStatus(db, row, 'connected', clock.now());
  if (coupon.state !== 'active') {
    throw validationError([{ field: 'value', code: `coupon_${coupon.state}`, message: REFUSED[coupon.state] }]);
  }
  return { currency: row.currency, storefrontHost: row.storefrontHost, coupon };
}

export interface NewStore extends StoreSecrets {
  provider: Provider;
  baseUrl: string;
}

/** Asks a store for its facts, before the transaction that connects it. */
export async function askWhoItIs(
  { provider, baseUrl, token }: NewStore,
  allow: readonly string[],
): Promise<StoreFacts> {
  return await clientOf(provider).connect({ baseUrl, token, allow });
}

const WHY_LENGTH = 300;

/** Why a store could not be met, on one line: the other side has a part in its words. */
function whyOf({ cause }: ApiError): string {
  const text = cause instanceof Error ? cause.message.replace(/[\p{Cc}\s]+/gu, ' ').trim() : '';
  return text.slice(0, WHY_LENGTH) || 'It does not answer.';
}

/** The same as `askWhoItIs`, but names the wrong field for the person who typed the address. */
export async function meetStore(store: NewStore, allow: readonly string[]): Promise<StoreFacts> {
  return await askWhoItIs(store, allow).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    const refusal = isToReconnect(error)
      ? { field: 'token', code: 'refused', message: `is refused by the store, or may not read enough. ${whyOf(error)}` }
      : { field: 'url', code: 'no_store', message: `leads to no ${store.provider} store. ${whyOf(error)}` };
    throw validationError([refusal]);
  });
}

/** Connects a store, or reconnects it under its old id, so that its orders stay known and its links keep working. */
export async function connectStore(
  work: Work,
  secrets: Secrets,
  { provider, baseUrl, token, webhookSecret }: NewStore,
  { name, currency, storefrontUrl }: StoreFacts,
): Promise<IntegrationRow> {
  const { db, now, brandId } = work;
  const storefrontHost = new URL(storefrontUrl).host;
  // When two calls connect the same store, the second finds the integration of the first.
  await lockBrand(db, brandId);
  const old = await lockIntegrationOfStore(db, brandId, { provider, baseUrl, storefrontUrl });
  const id = old?.id ?? newId('int', now.getTime());
  const facts = {
    ...{ name, currency, storefrontUrl, storefrontHost, baseUrl, connectedAt: now, disconnectedAt: null },
    status: 'connected' as const,
    sweepAt: now,
    secrets: sealStoreSecrets(secrets, { token, webhookSecret }, id),
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
