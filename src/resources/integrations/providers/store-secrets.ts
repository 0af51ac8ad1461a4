import { z } from 'zod';
import type { Secrets } from '../../../secrets.ts';

const StoreSecrets = z.object({
  /** Of WooCommerce `consumer key:consumer secret`. */
  token: z.string().min(1),
  /** What the store signs its deliveries with. */
  webhookSecret: z.string().min(1),
});
export type StoreSecrets = z.infer<typeof StoreSecrets>;

/** Sealed under the integration's id, so that one row's secrets cannot be put into another. */
export function sealStoreSecrets(secrets: Secrets, values: StoreSecrets, integrationId: string): Buffer {
  return secrets.seal(JSON.stringify(StoreSecrets.parse(values)), integrationId);
}

export function openStoreSecrets(secrets: Secrets, sealed: Buffer, integrationId: string): StoreSecrets {
  return StoreSecrets.parse(JSON.parse(secrets.open(sealed, integrationId)));
}
