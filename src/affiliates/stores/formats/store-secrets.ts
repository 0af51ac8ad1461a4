import { z } from 'zod';
import type { Secrets } from '../../../kit/values/secrets.ts';
import { reconnectRequired } from './provider.ts';

const StoreSecrets = z.object({
  /** WooCommerce: `consumer key:consumer secret`. */
  token: z.string().min(1),
  /** The store signs its deliveries with this secret. */
  webhookSecret: z.string().min(1),
  /** Shopify only: the app that the token belongs to, and the end of the token. */
  app: z.object({ id: z.string().min(1), secret: z.string().min(1) }).optional(),
  tokenEndsAt: z.iso.datetime().optional(),
  /** WooCommerce only: the host drops the `Authorization` header. */
  keysInQuery: z.boolean().optional(),
});
export type StoreSecrets = z.infer<typeof StoreSecrets>;

/** Sealed under the integration's id, so that one row's secrets cannot be put into another. */
export function sealStoreSecrets(secrets: Secrets, values: StoreSecrets, integrationId: string): Buffer {
  return secrets.seal(JSON.stringify(StoreSecrets.parse(values)), integrationId);
}

/** A value sealed under another ROLLCALL_SECRET cannot be opened: its brand has to enter it again. */
export function openStoreSecrets(secrets: Secrets, sealedSecrets: Buffer, integrationId: string): StoreSecrets {
  try {
    return StoreSecrets.parse(JSON.parse(secrets.open(sealedSecrets, integrationId)));
  } catch (cause) {
    throw reconnectRequired("The store's secrets cannot be opened; connect it again.", cause);
  }
}
