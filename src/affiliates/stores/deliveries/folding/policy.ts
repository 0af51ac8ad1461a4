import { z } from 'zod';
import { isRecord } from '../../../../kit/values/wire.ts';
import { type Reading, StoreId } from '../../formats/provider.ts';
import { failureOf, nextAttemptAfter } from '../policy.ts';
import type { Claimed, Outcome } from './queries.ts';

const TOPIC_LENGTH = 200;

/** The event of a generic store, whose headers say nothing. */
const topicOf = (body: unknown): string | null =>
  isRecord(body) && typeof body.event === 'string'
    ? body.event.slice(0, TOPIC_LENGTH).replaceAll('\0', '').toWellFormed()
    : null;

/** Where deliveries name an order: refunds by `order_id`, generic stores within `data`. */
const Mentioned = z.union([
  z.object({ order_id: StoreId }).transform(({ order_id }) => order_id),
  z.object({ data: z.object({ order_id: StoreId }) }).transform(({ data }) => data.order_id),
  z.object({ id: StoreId }).transform(({ id }) => id),
]);

const orderOf = (reading: Reading) => (reading.kind === 'deletion' ? reading.orderId : reading.facts.orderId);

/** The outcome of a delivery that was read. Without a reading it is not about orders. */
export function outcomeOfReading({ id, attempts }: Claimed, body: unknown, reading: Reading | undefined): Outcome {
  return {
    ...{ id, attemptsBefore: attempts, attempts: attempts + 1, nextAttemptAt: null, reason: null },
    notes: reading?.notes ?? [],
    state: reading ? 'done' : 'ignored',
    topic: topicOf(body),
    orderId: reading ? orderOf(reading) : null,
  };
}

/**
 * The outcome of a delivery that could not be read or recorded. Throws what says nothing of it. One for which its store was
 * not called has not had its attempt.
 */
export function outcomeOfFailure(
  { id, attempts }: Pick<Claimed, 'id' | 'attempts'>,
  body: unknown,
  { error, wasTried }: { error: unknown; wasTried: boolean },
  now: Date,
): Outcome {
  const failure = failureOf(error);
  if (!failure) throw error;
  const nextAttemptAt = failure.mayPass ? nextAttemptAfter(attempts + 1, error, now) : null;
  return {
    ...{ id, attemptsBefore: attempts, attempts: wasTried ? attempts + 1 : attempts, nextAttemptAt, notes: [] },
    state: nextAttemptAt === null ? 'failed' : 'waiting',
    reason: failure.reason,
    topic: topicOf(body),
    orderId: Mentioned.safeParse(body).data ?? null,
  };
}
