import { z } from 'zod';
import type { RawInput } from '../../kit/operation/input.ts';
import type { Operation, PreparedOperation } from '../../kit/operation/operation.ts';
import { type Problem, validationError } from '../../kit/values/errors.ts';

/** The differences of an operation in the older interface. Omitted parts are the same. */
export interface Difference {
  /** Under /api/v1. */
  path?: string;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** Parses the current response and converts it to the older shape. */
  response?: z.ZodType;
  /** Rewrites the input to that of the current operation; throws if that is impossible. */
  read?: (raw: RawInput) => RawInput;
  /** Parameters of the current operation that the older interface does not know: ignored and named. */
  unknown?: readonly string[];
  /** The difference in words, for the migration guide. */
  says: string;
}

/** Refused, because ignoring the mode would make a change that was meant to be planned. */
const NO_PLANS: Problem = {
  field: 'mode',
  code: 'not_supported',
  message: 'is only supported under /v1.',
};

const Json = z.string().transform((text): unknown => JSON.parse(text));

/** Parameters that lists of `/v1` have since. */
const SINCE = ['updated_after', 'overdue', 'time_zone', 'totals'];

function withoutLater(query: z.ZodObject): z.ZodObject {
  const keptFields = Object.entries(query.shape).filter(([name]) => !SINCE.includes(name));
  return keptFields.length === Object.keys(query.shape).length ? query : z.object(Object.fromEntries(keptFields));
}

/** `/v1/campaigns` is `/api/v1/campaigns`. */
export const olderPath = (path: string): string => path.replace(/^\/v1\//, '/api/v1/');

/**
 * An operation of the older interface. The current response is stored for an Idempotency-Key, so that the same key
 * works in both interfaces, each with its own shape.
 */
export function inOlderShape(operation: Operation, difference: Difference | undefined): Operation {
  const { path = olderPath(operation.path), query, body, response, read = (raw: RawInput) => raw } = difference ?? {};
  const unknown = [...(difference?.unknown ?? []), ...SINCE];
  const whole = response && operation.answeredAs?.(response);
  const source = whole ?? operation;
  const runOlder = async (prepared: PreparedOperation, ...requested: Parameters<PreparedOperation['run']>) => {
    const answer = await prepared.run(...requested);
    if (whole || response === undefined || !Buffer.isBuffer(answer)) return answer;
    return Buffer.from(JSON.stringify(response.parse(Json.parse(answer.toString('utf8')))));
  };
  return {
    ...operation,
    path,
    query: withoutLater(query ?? operation.query),
    body: body ?? operation.body,
    response: response ?? operation.response,
    hasCsv: false,
    csvProfiles: [],
    prepare: (raw) => {
      if (raw.query.mode === 'plan') throw validationError([NO_PLANS]);
      const droppedNames = unknown.filter((name) => Object.hasOwn(raw.query, name));
      const keptQuery = Object.fromEntries(Object.entries(raw.query).filter(([name]) => !droppedNames.includes(name)));
      const preparedSource = source.prepare(read({ ...raw, query: keptQuery, hasUtcDays: true }));
      const ignored = [...preparedSource.ignored, ...droppedNames];
      return { ...preparedSource, ignored, run: (...requested) => runOlder(preparedSource, ...requested) };
    },
  };
}
