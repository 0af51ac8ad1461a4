import { z } from 'zod';
import type { Redis } from '../../engines/redis/open.ts';
import type { ChargeEntry } from './entries.ts';

/** The keys of one subscription share a hash tag, so that one script can use them on a cluster. */
export const accessKey = (subscriptionId: string) => `access:{${subscriptionId}}`;
export const rateKey = (subscriptionId: string, keyId: string) => `rate:{${subscriptionId}}:${keyId}`;
export const chargesKey = (subscriptionId: string) => `charges:{${subscriptionId}}`;
/** Counts the paid blocks of a walk. */
export const blocksKey = (subscriptionId: string, walkId: string) => `blocks:{${subscriptionId}}:${walkId}`;
/** Says that a call with an id of its caller's was paid. */
export const markKey = (subscriptionId: string, id: string) => `paid:{${subscriptionId}}:${id}`;
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

const parseEntries = (subscriptionId: string, rows: readonly [string, string[]][]): StreamedEntry[] =>
  rows.map(([streamId, fields]) => ({ streamId, entry: toEntry(subscriptionId, fields) }));

/** Entries that the ledger may not hold yet, oldest first. */
export async function readCharges(redis: Redis, subscriptionId: string): Promise<StreamedEntry[]> {
  const rows = await redis.use((client) => client.xrange(chargesKey(subscriptionId), '-', '+'));
  return parseEntries(subscriptionId, rows);
}

export interface Charges {
  subscriptionId: string;
  entries: StreamedEntry[];
}

/** The oldest `count` entries of each subscription, by separate commands, because a cluster keeps them on several nodes. */
export async function readChargesOfMany(redis: Redis, ids: readonly string[], count: number): Promise<Charges[]> {
  const readOldest = async (subscriptionId: string) => {
    const rows = await redis.use((client) => client.xrange(chargesKey(subscriptionId), '-', '+', 'COUNT', count));
    return { subscriptionId, entries: parseEntries(subscriptionId, rows) };
  };
  return await Promise.all(ids.map(readOldest));
}

/** Removes entries that are in the ledger from the streams. */
export async function dropCharges(redis: Redis, charges: readonly Charges[]): Promise<void> {
  const nonEmpty = charges.filter(({ entries }) => entries.length > 0);

  await Promise.all(
    nonEmpty.map(({ subscriptionId, entries }) =>
      redis.use((client) => client.xdel(chargesKey(subscriptionId), ...entries.map(({ streamId }) => streamId))),
    ),
  );
}
