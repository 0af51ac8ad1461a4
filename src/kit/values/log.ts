import type { FastifyBaseLogger } from 'fastify';
import { ApiError } from './errors.ts';

/** Structured log lines: an object of facts, then a message. */
export type Log = FastifyBaseLogger;

const MAX_REASON = 500;
const MISTAKES = [TypeError, RangeError, ReferenceError, SyntaxError];

/** The errors behind an error, outermost first. Each refused address of a host is one of an `AggregateError`. */
function listCauses(error: unknown): Error[] {
  if (!(error instanceof Error)) return [];
  const inner: unknown = error.cause ?? (error instanceof AggregateError ? error.errors[0] : undefined);
  return [error, ...listCauses(inner)];
}

/** A line on why something did not answer, such as `fetch failed: connect ECONNREFUSED 127.0.0.1:5432`. */
export function toReason(error: unknown): string {
  const messages = listCauses(error).map(({ message, name }) => message || name);
  const line = messages.length === 0 ? String(error) : [...new Set(messages)].join(': ');
  return line.replace(/\s+/g, ' ').slice(0, MAX_REASON);
}

/** True if an engine or a store did not answer; a mistake of ours may have the same status. */
function isUnanswered(error: unknown): boolean {
  const last = listCauses(error).at(-1);
  if (MISTAKES.some((mistake) => last instanceof mistake)) return false;
  return error instanceof ApiError && error.status === 503;
}

/** The facts of a failure for the log: a line on what did not answer, and the stack of everything else. */
export const toLogFacts = (error: unknown): { reason: string } | { err: unknown } =>
  isUnanswered(error) ? { reason: toReason(error) } : { err: error };

/** Logs failures that the caller did not cause: a bug of ours as an error, an unavailable engine as a warning. */
export function logFailure(log: Log, answer: ApiError, requestId: string): void {
  if (answer.isLogged) return;
  if (answer.status === 503) log.warn({ ...toLogFacts(answer), requestId }, answer.message);
  else if (answer.status >= 500) log.error({ err: answer.cause ?? answer, requestId }, answer.message);
}
