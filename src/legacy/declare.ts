import { z } from 'zod';
import type { RawInput } from '../operation/input.ts';
import type { Operation, Prepared } from '../operation/operation.ts';
import { type Problem, validationError } from '../values/errors.ts';

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
  /** Parameters of the current operation that the older interface does not know: ignored and named. */
  unknown?: readonly string[];
  /** In words, for whoever moves over. */
  says: string;
}

/** Ignored, it would make the change that was only to be planned. */
const NO_PLANS: Problem = {
  field: 'mode',
  code: 'not_supported',
  message: 'is of /v1: the older interface plans nothing.',
};

const Json = z.string().transform((text): unknown => JSON.parse(text));

/** `/v1/campaigns` is `/api/v1/campaigns`. */
export const olderPath = (path: string): string => path.replace(/^\/v1\//, '/api/v1/');

/**
 * An operation as the older interface has it. What is kept for an Idempotency-Key is the current answer, so a key that is
 * used on both sides with the same meaning gets one answer, shown in the shape of whoever asks.
 */
export function inOlderShape(operation: Operation, difference: Difference | undefined): Operation {
  const { path = olderPath(operation.path), query, body, response, read = (raw: RawInput) => raw } = difference ?? {};
  const unknown = difference?.unknown ?? [];
  const whole = response && operation.answeredAs?.(response);
  const source = whole ?? operation;
  const shown = async (prepared: Prepared, ...requested: Parameters<Prepared['run']>) => {
    const answer = await prepared.run(...requested);
    if (whole || response === undefined || !Buffer.isBuffer(answer)) return answer;
    return Buffer.from(JSON.stringify(response.parse(Json.parse(answer.toString('utf8')))));
  };
  return {
    ...operation,
    ...{
      path,
      query: query ?? operation.query,
      body: body ?? operation.body,
      response: response ?? operation.response,
    },
    hasCsv: false,
    prepare: (raw) => {
      if (raw.query.mode === 'plan') throw validationError([NO_PLANS]);
      const dropped = unknown.filter((name) => Object.hasOwn(raw.query, name));
      const kept = Object.fromEntries(Object.entries(raw.query).filter(([name]) => !dropped.includes(name)));
      const prepared = source.prepare(read({ ...raw, query: kept }));
      const ignored = [...prepared.ignored, ...dropped];
      return { ...prepared, ignored, run: (...requested) => shown(prepared, ...requested) };
    },
  };
}
