import { z } from 'zod';
import type { Redis } from '../engines/redis/open.ts';
import type { ChargeEntry } from './queries.ts';

/** Keys of one subscription share a hash tag, so that one script reaches them on a cluster. */
export const accessKey = (subscriptionId: string) => `access:{${subscriptionId}}`;
export const rateKey = (subscriptionId: string, keyId: string) => `rate:{${subscriptionId}}:${keyId}`;
export const chargesKey = (subscriptionId: string) => `charges:{${subscriptionId}}`;
export const leaseKey = (subscriptionId: string) => `lease:{${subscriptionId}}`;

const Fields = z.object({
  kind: z.enum(['charge', 'refund']),
  charge: z.string(),
  key: z.string(),
  credits: z.coerce.number().int(),
  period: z.coerce.number().int(),
  request: z.string(),
  at: z.coerce.number().int(),
});

function toEntry(subscriptionId: string, fields: string[]): ChargeEntry {
  const pairs: Record<string, string> = {};
  for (let i = 0; i + 1 < fields.length; i += 2) pairs[fields[i] ?? ''] = fields[i + 1] ?? '';
  const { kind, charge, key, credits, period, request, at } = Fields.parse(pairs);
  return {
    chargeId: charge,
    kind,
    subscriptionId,
    keyId: key,
    credits,
    periodStart: new Date(period),
    requestId: request || null,
    occurredAt: new Date(at),
  };
}

export interface StreamedEntry {
  streamId: string;
  entry: ChargeEntry;
}

/** Entries that the ledger may not hold yet, oldest first. */
export async function readCharges(redis: Redis, subscriptionId: string, count?: number): Promise<StreamedEntry[]> {
  const key = chargesKey(subscriptionId);
  const rows = await redis.use((client) =>
    count === undefined ? client.xrange(key, '-', '+') : client.xrange(key, '-', '+', 'COUNT', count),
  );
  return rows.map(([streamId, fields]) => ({ streamId, entry: toEntry(subscriptionId, fields) }));
}
