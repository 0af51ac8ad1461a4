import { isUtf8 } from 'node:buffer';
import { validationError } from '../../../kit/values/errors.ts';
import { assertShallow } from '../../../kit/values/nesting.ts';

/** A whole number that JavaScript would round, such as a store's id, stays as it was written. */
const exact: Parameters<typeof JSON.parse>[1] = (_name, value, context?: { source?: string }) =>
  typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value) ? context?.source : value;

/** Only such numbers may be rounded; a reviver for every body costs as much as parsing. */
const LONG_NUMBER = /\d{16}/;

/** Parses the JSON of a delivery. Throws VALIDATION_ERROR if the body is not JSON. */
export function parseDelivery(rawBody: Buffer): unknown {
  if (!isUtf8(rawBody)) throw validationError([{ field: 'body', code: 'invalid_json', message: 'is not UTF-8.' }]);
  assertShallow(rawBody);
  try {
    const text = rawBody.toString('utf8');
    return LONG_NUMBER.test(text) ? JSON.parse(text, exact) : JSON.parse(text);
  } catch {
    throw validationError([{ field: 'body', code: 'invalid_json', message: 'is not JSON.' }]);
  }
}
