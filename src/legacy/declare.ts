import { z } from 'zod';
import type { Operation, Prepared, RawInput } from '../api/operation.ts';

/** How an operation differs in the older interface; what is not named is the same. */
export interface Difference {
  /** Under /api/v1. */
  path?: string;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** Reads the current answer, and shows it in the older shape. */
  response?: z.ZodType;
  /** Rewrites what was sent into what the current operation takes; throws what cannot be. */
  read?: (raw: RawInput) => RawInput;
  /** In words, for whoever moves over. */
  says: string;
}

const Json = z.string().transform((text): unknown => JSON.parse(text));

/** `/v1/campaigns` is `/api/v1/campaigns`. */
export const olderPath = (path: string): string => path.replace(/^\/v1\//, '/api/v1/');

/**
 * An operation as the older interface has it. What is kept for an Idempotency-Key is the current answer, so a key that is
 * used on both sides with the same meaning gets one answer, shown in the shape of whoever asks.
 */
export function inOlderShape(operation: Operation, difference: Difference | undefined): Operation {
  const { path = olderPath(operation.path), query, body, response, read = (raw) => raw } = difference ?? {};
  const shown = async (prepared: Prepared, ...asked: Parameters<Prepared['run']>) => {
    const answer = await prepared.run(...asked);
    if (response === undefined || !Buffer.isBuffer(answer)) return answer;
    return Buffer.from(JSON.stringify(response.parse(Json.parse(answer.toString('utf8')))));
  };
  return {
    ...operation,
    ...{ path, query: query ?? operation.query, body: body ?? operation.body, response: response ?? operation.response },
    hasCsv: false,
    prepare: (raw) => {
      const prepared = operation.prepare(read(raw));
      return { ...prepared, run: (...asked) => shown(prepared, ...asked) };
    },
  };
}
