import { ZodError, z } from 'zod';
import { HOUR_MS } from '../../../kit/values/duration.ts';
import { ApiError } from '../../../kit/values/errors.ts';
import { toProblems } from '../../../kit/values/problems.ts';
import { isRecord } from '../../../kit/values/wire.ts';
import { getOrderId, getRetryAfterMs, needsReconnect, type Reading, StoreId } from '../formats/provider.ts';
import type { Reason } from './deliveries.shapes.ts';
import type { ClaimedDelivery, DeliveryOutcome } from './fold.ts';

const SECOND_MS = 1_000;

/** Waits before the next attempts; after these, an hour each. */
const FIRST_WAITS_MS = [10, 30, 60, 120, 300, 600, 1_800].map((seconds) => seconds * SECOND_MS);
/** The last attempt is 24 hours after the first. */
const MAX_ATTEMPTS = 31;

/** Computes the next attempt of a delivery, not before the store wants the next call; null after the last attempt. */
function computeNextAttempt(attempts: number, error: unknown, now: Date): Date | null {
  if (attempts >= MAX_ATTEMPTS) return null;
  const waitMs = Math.max(FIRST_WAITS_MS[attempts - 1] ?? HOUR_MS, getRetryAfterMs(error) ?? 0);
  return new Date(now.getTime() + waitMs);
}

export interface Failure {
  reason: Reason;
  /** A later attempt may succeed with the same delivery. */
  mayPass: boolean;
}

const MESSAGE_LENGTH = 300;

/** Reduces a text to one short line, because the store may have written it. */
const toLine = (text: string) =>
  text
    .replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ')
    .trim()
    .slice(0, MESSAGE_LENGTH)
    .toWellFormed();

/** Converts an error; undefined if an engine of ours failed, which says nothing about the delivery. */
function toFailure(error: unknown): Failure | undefined {
  if (error instanceof ZodError) {
    const [problem] = toProblems({ success: false, error });
    const { field = 'body', code = 'invalid', message = 'is not what the store documents.' } = problem ?? {};
    return { reason: { field: toLine(field), code, message: toLine(message) }, mayPass: false };
  }
  if (!(error instanceof ApiError)) {
    const message = 'Something went wrong on our side.';
    return { reason: { code: 'internal_error', field: null, message }, mayPass: true };
  }
  const [problem] = error.details ?? [];
  if (problem) return { reason: { ...problem, message: toLine(problem.message) }, mayPass: false };
  if (needsReconnect(error)) {
    return { reason: { code: 'reauth_required', field: null, message: toLine(error.message) }, mayPass: true };
  }
  if (error.engine !== 'The store') return undefined;
  const cause = error.cause instanceof Error ? error.cause.message : error.message;
  const message = `The store is unavailable. ${toLine(cause)}`;
  return { reason: { code: 'store_unavailable', field: null, message: message.trim() }, mayPass: true };
}

const TOPIC_LENGTH = 200;

/** Reads the event of a generic store, whose headers do not name it. */
const readTopic = (body: unknown): string | null =>
  isRecord(body) && typeof body.event === 'string'
    ? body.event.slice(0, TOPIC_LENGTH).replaceAll('\0', '').toWellFormed()
    : null;

/** Order ids in unread deliveries: refunds have `order_id`, generic stores nest it in `data`. */
const MentionedOrder = z.union([
  z.object({ order_id: StoreId }).transform(({ order_id }) => order_id),
  z.object({ data: z.object({ order_id: StoreId }) }).transform(({ data }) => data.order_id),
  z.object({ id: StoreId }).transform(({ id }) => id),
]);

/** Returns the outcome of a readable delivery. Without a reading it is not about orders. */
export function toOutcome(
  { id, attempts }: ClaimedDelivery,
  body: unknown,
  reading: Reading | undefined,
): DeliveryOutcome {
  return {
    id,
    attemptsBefore: attempts,
    attempts: attempts + 1,
    nextAttemptAt: null,
    reason: null,
    notes: reading?.notes ?? [],
    state: reading ? 'done' : 'ignored',
    topic: readTopic(body),
    orderId: reading ? getOrderId(reading) : null,
  };
}

/**
 * Returns the outcome of a failed delivery. Rethrows errors that say nothing about it. A delivery for which the store
 * was not called keeps its attempt.
 */
export function toFailedOutcome(
  { id, attempts }: Pick<ClaimedDelivery, 'id' | 'attempts'>,
  body: unknown,
  { error, wasTried }: { error: unknown; wasTried: boolean },
  now: Date,
): DeliveryOutcome {
  const failure = toFailure(error);
  if (!failure) throw error;
  const nextAttemptAt = failure.mayPass ? computeNextAttempt(attempts + 1, error, now) : null;
  return {
    id,
    attemptsBefore: attempts,
    attempts: wasTried ? attempts + 1 : attempts,
    nextAttemptAt,
    notes: [],
    state: nextAttemptAt === null ? 'failed' : 'waiting',
    reason: failure.reason,
    topic: readTopic(body),
    orderId: MentionedOrder.safeParse(body).data ?? null,
  };
}
