import { LRUCache } from 'lru-cache';
import { ZodError } from 'zod';
import { recordWish } from '../../affiliates/data-requests/data-requests.ts';
import { exportForStore } from '../../affiliates/data-requests/store-export.ts';
import { findReceiver, type Receiver, updateAccessStatus } from '../../affiliates/stores/connections/connections.ts';
import { countFailure, markReceived } from '../../affiliates/stores/connections/health.ts';
import { readPartingWish } from '../../affiliates/stores/connections/parting.ts';
import { type Inbox, openInbox, type RawDelivery } from '../../affiliates/stores/deliveries/inbox.ts';
import { getClient } from '../../affiliates/stores/formats/clients.ts';
import { parseDelivery } from '../../affiliates/stores/formats/delivery-body.ts';
import { getSettings, type Provider, storeUnavailable } from '../../affiliates/stores/formats/provider.ts';
import { openStoreSecrets } from '../../affiliates/stores/formats/store-secrets.ts';
import type { Context } from '../../kit/operation/context.ts';
import { inWork } from '../../kit/operation/work.ts';
import { type ApiError, ignoreFailure, toApiError, validationError } from '../../kit/values/errors.ts';
import { toProblems } from '../../kit/values/problems.ts';

/** Checked in place of a secret that is not there, so that both answers take the same work. */
const NOBODYS_SECRET = 'no integration has this secret';

/** WordPress waits for the file. */
const EXPORT_TOPIC = 'action.rollcall_export';
const ERASE_TOPIC = 'action.rollcall_erase';

const toUnreadable = (error: unknown): ApiError =>
  error instanceof ZodError ? validationError(toProblems({ success: false, error })) : toApiError(error);

/** The wish that our plugin passes on. WordPress tells the shop's owner if it cannot be read. */
function readPluginWish(provider: Provider, { headers, rawBody }: RawDelivery) {
  try {
    return getClient(provider).readWish?.({ headers, body: parseDelivery(rawBody) });
  } catch (error) {
    throw toUnreadable(error);
  }
}

const KNOWN_STORES = 10_000;
const KNOWN_MS = 600_000;
/** A store's `last_received_at` moves at most this often, so that its deliveries do not all write one row. */
const RECEIVED_EVERY_MS = 1_000;

/** A store as this process knows it, perhaps of a while ago. */
export interface KnownStore {
  receiver: Receiver;
  webhookSecret: string;
  markedAtMs: number;
}

export interface Receivers {
  /** A store that was looked up recently: its secrets may have changed since. */
  recall(provider: Provider, id: string): KnownStore | undefined;
  lookUp(provider: Provider, id: string): Promise<KnownStore | undefined>;
  isAuthentic(store: KnownStore | undefined, provider: Provider, delivery: RawDelivery): boolean;
  /** Stores an authentic delivery; false when the store was disconnected or given other secrets in the meantime. */
  store(store: KnownStore, delivery: RawDelivery): Promise<boolean>;
  /** The file that WordPress asks for on behalf of a person; undefined for any other delivery. */
  answer(store: KnownStore, delivery: RawDelivery, requestId: string): Promise<object | undefined>;
  /** Notes what a disconnected shop asks for people; false unless it signed that within 90 days. */
  storeParting(
    place: { provider: Provider; integration: string },
    delivery: RawDelivery,
    requestId: string,
  ): Promise<boolean>;
}

/** Refused until its owner, who is notified, reconnects the store. Shopify sends it again; sweeps read what others do not. */
async function refuseForNow({ postgres, clock }: Context, receiver: Receiver, error: unknown): Promise<never> {
  const now = clock.now();
  await countFailure(postgres.db, receiver.id, now).catch(ignoreFailure('the answer says it; health is a hint'));
  await updateAccessStatus(postgres.db, receiver, 'reauth_required', now);
  throw storeUnavailable(error);
}

/** Looks a store up once in a while: whether it still has these secrets is decided by the statement that stores. */
export function openReceivers(context: Context): Receivers {
  const { postgres, clock, secrets } = context;
  const knownStores = new LRUCache<string, KnownStore>({ max: KNOWN_STORES, ttl: KNOWN_MS });
  const inbox: Inbox = openInbox(context);
  const toName = (provider: Provider, id: string) => `${provider} ${id}`;

  async function openSecret(receiver: Receiver): Promise<string> {
    try {
      return openStoreSecrets(secrets, receiver.secrets, receiver.id).webhookSecret;
    } catch (error) {
      return await refuseForNow(context, receiver, error);
    }
  }

  async function mark(store: KnownStore): Promise<void> {
    const now = clock.now();
    if (Math.abs(now.getTime() - store.markedAtMs) < RECEIVED_EVERY_MS) return;
    store.markedAtMs = now.getTime();
    const { id } = store.receiver;
    await markReceived(postgres.db, id, now).catch(ignoreFailure('the delivery is stored; its time is a hint'));
  }

  return {
    recall: (provider, id) => knownStores.get(toName(provider, id)),
    lookUp: async (provider, id) => {
      const receiver = await findReceiver(postgres.db, provider, id);
      if (!receiver) return void knownStores.delete(toName(provider, id));
      const knownStore = { receiver, webhookSecret: await openSecret(receiver), markedAtMs: Number.NEGATIVE_INFINITY };
      knownStores.set(toName(provider, id), knownStore);
      return knownStore;
    },
    isAuthentic: (store, provider, { rawBody, headers }) =>
      getClient(provider).verify(rawBody, headers, store?.webhookSecret ?? NOBODYS_SECRET) && store !== undefined,
    store: async (store, delivery) => {
      const isStored = await inbox.store(store.receiver, delivery);
      if (isStored) await mark(store);
      return isStored;
    },
    answer: async ({ receiver }, delivery, requestId) => {
      const { id, brandId, provider } = receiver;
      const topic = String(delivery.headers['x-wc-webhook-topic']);
      if (provider !== 'woocommerce' || ![EXPORT_TOPIC, ERASE_TOPIC].includes(topic)) return undefined;
      const wish = readPluginWish(provider, delivery);
      return topic === EXPORT_TOPIC ? await exportForStore(context, { id, brandId, requestId }, wish) : undefined;
    },
    storeParting: async (place, delivery, requestId) => {
      const parting = await readPartingWish({ db: postgres.db, secrets, now: clock.now() }, place, delivery);
      if (!parting) return false;
      const { store, wish } = parting;
      const actor = { brandId: store.brandId, keyId: null, operation: 'ingest', requestId };
      await inWork(postgres.db, clock, actor, (work) => recordWish(work, secrets, store, wish));
      return true;
    },
  };
}

/**
 * Why a generic store's delivery cannot be read. Reading it takes no call to the store, so its developers learn of it at once.
 * Deliveries of other stores are always stored.
 */
export async function toRefusal(
  { receiver }: KnownStore,
  { headers, rawBody }: RawDelivery,
): Promise<ApiError | undefined> {
  const { provider, baseUrl } = receiver;
  if (provider !== 'generic') return undefined;
  try {
    await getClient(provider).read(
      { headers, body: parseDelivery(rawBody) },
      { ...getSettings(receiver), baseUrl, token: '', allow: [] },
    );
    return undefined;
  } catch (error) {
    return toUnreadable(error);
  }
}

export function isPing(provider: Provider, { rawBody, headers }: RawDelivery): boolean {
  return getClient(provider).isPing(rawBody, headers);
}
