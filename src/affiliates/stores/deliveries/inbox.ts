import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from '../../../kit/operation/context.ts';
import type { Work } from '../../../kit/operation/work.ts';
import { ignoreFailure, notFound } from '../../../kit/values/errors.ts';
import { newId } from '../../../kit/values/ids.ts';
import type { Receiver } from '../connections/connections.ts';
import {
  insertDeliveries,
  type NewDelivery,
  type StoreDeliveryRow,
  storeDeliveries,
  updateToRetry,
} from './deliveries.ts';

/** Retries a delivery now. Repeating it changes nothing once the delivery is done. */
export async function retryDelivery(work: Work, integrationId: string, id: string): Promise<StoreDeliveryRow> {
  const { db, brandId, now } = work;
  const old = await storeDeliveries.get(db, brandId, id);
  if (old.integrationId !== integrationId) throw notFound('delivery');
  const row = await updateToRetry(db, old, now);
  if (!row) return await storeDeliveries.get(db, brandId, id);
  work.audit({ resourceId: id, old, new: row });
  return row;
}

export interface RawDelivery {
  headers: IncomingHttpHeaders;
  rawBody: Buffer;
}

const OF_STORES = /^x-(?:shopify|wc|service)-/;
const SIGNATURES = /-(?:hmac-sha256|signature)$/;
const TOPICS = ['x-shopify-topic', 'x-wc-webhook-topic'];
const TOPIC_LENGTH = 200;

/** Selects the store's own headers, without its signature. */
function selectStoreHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const storeHeaders = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' && OF_STORES.test(name) && !SIGNATURES.test(name) ? [[name, value] as const] : [],
  );
  return Object.fromEntries(storeHeaders);
}

interface PendingDelivery {
  row: NewDelivery;
  resolve: (isStored: boolean) => void;
  reject: (error: unknown) => void;
}

/** Concurrent statements. Deliveries that arrive while all are running share the next one. */
const STATEMENTS = 2;
const ROWS_A_STATEMENT = 64;

export interface Inbox {
  /** Resolves with true once the delivery is stored, with false if the store no longer has these secrets. */
  store(receiver: Pick<Receiver, 'id' | 'provider' | 'secrets'>, delivery: RawDelivery): Promise<boolean>;
}

/** Counter of stored deliveries. Workers poll PostgreSQL when it changes; without Redis they poll once a second. */
const STORED = '{store-deliveries}:stored';

export const readStoredCount = ({ redis }: Pick<Context, 'redis'>): Promise<string | null | undefined> =>
  redis.use((client) => client.get(STORED)).catch(ignoreFailure('a worker then looks for deliveries once a second'));

/** Stores deliveries, each durably before its promise resolves. Concurrent ones share a statement and its commit. */
export function openInbox({ postgres: { db }, redis, secrets, clock }: Context): Inbox {
  const wake = (count: number) =>
    void redis
      .use((client) => client.incrby(STORED, count))
      .catch(ignoreFailure('a worker then looks for deliveries once a second'));

  const waiting: PendingDelivery[] = [];
  let statements = 0;

  async function flush(): Promise<void> {
    statements += 1;
    try {
      while (waiting.length > 0) {
        const some = waiting.splice(0, ROWS_A_STATEMENT);
        const rows = some.map(({ row }) => row);
        try {
          const storedIds = await insertDeliveries(db, rows, clock.now());
          for (const { row, resolve } of some) resolve(storedIds.has(row.id));
          wake(some.length);
        } catch (error) {
          for (const { reject } of some) reject(error);
        }
      }
    } finally {
      statements -= 1;
    }
  }

  return {
    store: ({ id: integrationId, provider, secrets: known }, { headers, rawBody }) => {
      const id = newId('sdl', clock.now().getTime());
      const storeHeaders = selectStoreHeaders(headers);
      const topic = TOPICS.map((name) => storeHeaders[name]).find((one) => one !== undefined);
      const row: NewDelivery = {
        id,
        integrationId,
        provider,
        secrets: known,
        headers: storeHeaders,
        topic: topic?.slice(0, TOPIC_LENGTH) ?? null,
        sealedBody: secrets.seal(rawBody, id),
      };
      return new Promise((resolve, reject) => {
        waiting.push({ row, resolve, reject });
        if (statements < STATEMENTS) void flush();
      });
    },
  };
}
