import { setTimeout as delay } from 'node:timers/promises';
import { assertLive } from '../../../kit/engines/postgres/home.ts';
import type { Context } from '../../../kit/operation/context.ts';
import { HOUR_MS } from '../../../kit/values/duration.ts';
import { ignoreFailure } from '../../../kit/values/errors.ts';
import { getClient } from '../formats/clients.ts';
import { AppRefused, type StoreAccess, type StoreApp, storeUnavailable, unauthorized } from '../formats/provider.ts';
import { openStoreSecrets, type StoreSecrets, sealStoreSecrets } from '../formats/store-secrets.ts';
import {
  claimRenewal,
  endRenewal,
  getAccess,
  type IntegrationKey,
  type IntegrationRow,
  recordVersion,
  replaceSecrets,
} from './connections.ts';

/** A token is renewed when it would last for less than this. */
const RENEWED_BEFORE_MS = HOUR_MS;
/** Longer than the call takes; if a process dies meanwhile, another one renews the token. */
const RENEWAL_MS = 20_000;
const LOOKED_AGAIN_AFTER_MS = 100;
const LOOKS = RENEWAL_MS / LOOKED_AGAIN_AFTER_MS;

/** Parts of the context that calls to stores need; servers, workers and commands have them. */
export interface StoreContext extends Pick<Context, 'config' | 'clock' | 'secrets'> {
  postgres: Pick<Context['postgres'], 'db'>;
  log: { warn(facts: object, text: string): void };
}

type ConnectedStore = IntegrationKey & Pick<IntegrationRow, 'provider' | 'baseUrl'>;

/** Running renewals of this process, which its other calls share. */
const renewals = new WeakMap<StoreContext, Map<string, Promise<string>>>();

export async function exchange(
  { config, clock }: Pick<Context, 'config' | 'clock'>,
  { provider, baseUrl }: Pick<ConnectedStore, 'provider' | 'baseUrl'>,
  app: StoreApp,
): Promise<Pick<StoreSecrets, 'token' | 'tokenEndsAt'>> {
  const { newToken } = getClient(provider);
  if (!newToken) throw new Error(`A ${provider} store gives out no tokens.`);
  const { token, expiresInMs } = await newToken({ baseUrl, allow: config.outboundAllow }, app);
  return { token, tokenEndsAt: new Date(clock.now().getTime() + expiresInMs).toISOString() };
}

/**
 * Replaces a token that ends or was refused: one process requests the new token, the others wait until it is stored.
 */
async function renew(context: StoreContext, store: ConnectedStore, past: string): Promise<string> {
  const { postgres, secrets, clock } = context;
  for (let look = 0; look < LOOKS; look += 1) {
    const { secrets: seen } = await getAccess(postgres.db, store);
    const storeSecrets = openStoreSecrets(secrets, seen, store.id);
    if (storeSecrets.token !== past) return storeSecrets.token;
    const { app } = storeSecrets;
    if (!app) throw unauthorized(new Error('Its token cannot be renewed.'));
    const now = clock.now();
    const until = new Date(now.getTime() + RENEWAL_MS);
    if (await claimRenewal(postgres.db, store, { seen, now, until })) {
      try {
        const fresh = await exchange(context, store, app);
        await endRenewal(postgres.db, store, seen, sealStoreSecrets(secrets, { ...storeSecrets, ...fresh }, store.id));
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

function renewOnce(context: StoreContext, store: ConnectedStore, past: string): Promise<string> {
  const running = renewals.get(context) ?? new Map<string, Promise<string>>();
  renewals.set(context, running);
  const name = `${store.id} ${past}`;
  const renewal = running.get(name) ?? renew(context, store, past).finally(() => running.delete(name));
  running.set(name, renewal);
  return renewal;
}

/** Renews a token to check that the store still issues them. Returns the kind of token. */
export async function renewToken(context: StoreContext, row: ConnectedStore): Promise<string> {
  const { secrets: seen } = await getAccess(context.postgres.db, row);
  const storeSecrets = openStoreSecrets(context.secrets, seen, row.id);
  if (!storeSecrets.app) return 'does not end';
  await renewOnce(context, row, storeSecrets.token);
  return 'renewed';
}

/**
 * Opens a store with a valid token. Calls renew a refused token once. Throws if the secrets
 * cannot be opened. Must run outside a transaction, because it may call the store.
 */
export async function openStore(context: StoreContext, row: ConnectedStore): Promise<StoreAccess> {
  const { postgres, secrets, config, clock, log } = context;
  await assertLive(postgres.db);
  const { secrets: seen, apiVersion } = await getAccess(postgres.db, row);
  const storeSecrets = openStoreSecrets(secrets, seen, row.id);
  const { provider, baseUrl } = row;
  const store: StoreAccess = {
    baseUrl,
    token: storeSecrets.token,
    keysInQuery: storeSecrets.keysInQuery === true,
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
      const sealedSecrets = sealStoreSecrets(secrets, { ...storeSecrets, keysInQuery: true }, row.id);
      await replaceSecrets(postgres.db, row, seen, sealedSecrets);
    },
  };
  if (!storeSecrets.app) return store;
  store.renew = (refused) => renewOnce(context, row, refused);
  const endsAt = Date.parse(storeSecrets.tokenEndsAt ?? '');
  if (endsAt - clock.now().getTime() >= RENEWED_BEFORE_MS) return store;
  // A failure is ignored: the token may last for some minutes more, and the caller may not call the store at all.
  const renewedToken = await renewOnce(context, row, storeSecrets.token).catch(
    ignoreFailure('a call that is refused renews it'),
  );
  return { ...store, token: renewedToken ?? storeSecrets.token };
}
