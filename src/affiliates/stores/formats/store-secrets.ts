import { z } from 'zod';
import type { Secrets } from '../../../kit/values/secrets.ts';
import { reconnectRequired } from './provider.ts';

const StoreSecrets = z.object({
  /** Of WooCommerce `consumer key:consumer secret`. */
  token: z.string().min(1),
  /** What the store signs its deliveries with. */
  webhookSecret: z.string().min(1),
  /** Of Shopify: the app that the token was made for, and when the token ends. */
  app: z.object({ id: z.string().min(1), secret: z.string().min(1) }).optional(),
  tokenEndsAt: z.iso.datetime().optional(),
  /** Of WooCommerce: its host drops the `Authorization` header. */
  keysInQuery: z.boolean().optional(),
});
export type StoreSecrets = z.infer<typeof StoreSecrets>;

/** Sealed under the integration's id, so that one row's secrets cannot be put into another. */
export function sealStoreSecrets(secrets: Secrets, values: StoreSecrets, integrationId: string): Buffer {
  return secrets.seal(JSON.stringify(StoreSecrets.parse(values)), integrationId);
}

/** A value sealed under another ROLLCALL_SECRET cannot be opened: its brand has to enter it again. */
export function openStoreSecrets(secrets: Secrets, sealed: Buffer, integrationId: string): StoreSecrets {
  try {
    return StoreSecrets.parse(JSON.parse(secrets.open(sealed, integrationId)));
  } catch (cause) {
    throw reconnectRequired("The store's secrets cannot be opened; connect it again.", cause);
  }
}
