import { z } from 'zod';
import type { Redis } from '../../engines/redis/open.ts';
import type { ChargeEntry } from './queries.ts';

/** The keys of one subscription share a hash tag, so that one script can use them on a cluster. */
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

const Rows = z.array(z.tuple([z.string(), z.array(z.string())]));

const entriesOf = (subscriptionId: string, rows: z.output<typeof Rows>): StreamedEntry[] =>
  rows.map(([streamId, fields]) => ({ streamId, entry: toEntry(subscriptionId, fields) }));

/** Entries that the ledger may not hold yet, oldest first. */
export async function readCharges(redis: Redis, subscriptionId: string): Promise<StreamedEntry[]> {
  const rows = await redis.use((client) => client.xrange(chargesKey(subscriptionId), '-', '+'));
  return entriesOf(subscriptionId, rows);
}

export interface Charges {
  subscriptionId: string;
  entries: StreamedEntry[];
}

/** The results of a pipeline in the order of its commands; throws if a command failed. */
function answersOf(replies: readonly [error: Error | null, answer: unknown][] | null): unknown[] {
  return (replies ?? []).map(([error, answer]) => {
    if (error) throw error;
    return answer;
  });
}

/** The oldest `count` entries of each of several subscriptions, in one round trip. */
export async function readChargesOfMany(redis: Redis, ids: readonly string[], count: number): Promise<Charges[]> {
  return await redis.use(async (client) => {
    const pipeline = client.pipeline();
    for (const id of ids) pipeline.xrange(chargesKey(id), '-', '+', 'COUNT', count);
    const answers = answersOf(await pipeline.exec());
    return ids.map((subscriptionId, i) => ({
      subscriptionId,
      entries: entriesOf(subscriptionId, Rows.parse(answers[i])),
    }));
  });
}

/** Removes entries that are in the ledger from the streams, in one round trip. */
export async function dropCharges(redis: Redis, charges: readonly Charges[]): Promise<void> {
  await redis.use(async (client) => {
    const pipeline = client.pipeline();
    for (const { subscriptionId, entries } of charges) {
      if (entries.length > 0) pipeline.xdel(chargesKey(subscriptionId), ...entries.map(({ streamId }) => streamId));
    }
    answersOf(await pipeline.exec());
  });
}
