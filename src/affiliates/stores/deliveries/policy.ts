import { ZodError } from 'zod';
import { HOUR_MS } from '../../../kit/values/duration.ts';
import { ApiError } from '../../../kit/values/errors.ts';
import { problemsOf } from '../../../kit/values/problems.ts';
import { isToReconnect, retryAfterMsOf } from '../formats/provider.ts';
import type { Reason } from './schema.ts';

const SECOND_MS = 1_000;

/** The waits before the next attempts, then an hour each. */
const FIRST_WAITS_MS = [10, 30, 60, 120, 300, 600, 1_800].map((seconds) => seconds * SECOND_MS);
/** The last is 24 hours after the first. */
const MAX_ATTEMPTS = 31;

/** When a delivery is tried again after its n-th attempt, or when its store wants the next call; null after the last. */
export function nextAttemptAfter(attempts: number, error: unknown, now: Date): Date | null {
  if (attempts >= MAX_ATTEMPTS) return null;
  const waitMs = Math.max(FIRST_WAITS_MS[attempts - 1] ?? HOUR_MS, retryAfterMsOf(error) ?? 0);
  return new Date(now.getTime() + waitMs);
}

export interface Failure {
  reason: Reason;
  /** Whether a later attempt may succeed with the same delivery. */
  mayPass: boolean;
}

const MESSAGE_LENGTH = 300;

/** On one line: the store has a part in the words. */
const lineOf = (text: string) =>
  text
    .replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ')
    .trim()
    .slice(0, MESSAGE_LENGTH)
    .toWellFormed();

const causeOf = ({ cause, message }: ApiError) => lineOf(cause instanceof Error ? cause.message : message);

/** Undefined where PostgreSQL or another engine of ours failed: that says nothing of the delivery. */
export function failureOf(error: unknown): Failure | undefined {
  if (error instanceof ZodError) {
    const [problem] = problemsOf({ success: false, error });
    const { field = 'body', code = 'invalid', message = 'is not what the store documents.' } = problem ?? {};
    return { reason: { field: lineOf(field), code, message: lineOf(message) }, mayPass: false };
  }
  if (!(error instanceof ApiError)) {
    const message = 'Something went wrong on our side.';
    return { reason: { code: 'internal_error', field: null, message }, mayPass: true };
  }
  const [problem] = error.details ?? [];
  if (problem) return { reason: { ...problem, message: lineOf(problem.message) }, mayPass: false };
  if (isToReconnect(error)) {
    return { reason: { code: 'reauth_required', field: null, message: lineOf(error.message) }, mayPass: true };
  }
  if (error.engine !== 'The store') return undefined;
  const message = `The store is unavailable. ${causeOf(error)}`;
  return { reason: { code: 'store_unavailable', field: null, message: message.trim() }, mayPass: true };
}
