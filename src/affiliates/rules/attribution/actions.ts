import { validationError } from '../../../kit/values/errors.ts';
import { amountProblem, MAX_AMOUNT_MINOR, toMinor } from '../../../kit/values/money.ts';
import type { Rules } from './policy.ts';

/** A minimum in minor units; undefined stays undefined. Throws VALIDATION_ERROR that names `field`. */
export function minOrderOf(
  field: string,
  amount: number | null | undefined,
  currency: string,
): Rules['minOrder'] | undefined {
  if (amount === undefined || amount === null) return amount;
  const minor = toMinor(amount, currency);
  const message = amountProblem(amount, currency, MAX_AMOUNT_MINOR);
  if (message === undefined && minor !== undefined) return { minor, currency };
  throw validationError([{ field, code: 'invalid', message: `${message ?? 'is invalid'}.` }]);
}
