import { isCurrency } from './currencies.ts';
import { FIELDS, type Kind } from './kinds.ts';
import { MappingProblem } from './problems.ts';
import type { Mapping } from './shapes.ts';

/** Questions that are answered by constants, with their answers. */
export const ANSWERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['repeated_amounts', ['order', 'lines']],
  ['net_of_refunds', ['yes', 'no']],
  ['refunds_without_amount', ['whole', 'none']],
  ['adjusted_total_zero', ['unadjusted', 'refunded']],
  ['swapped_dates', ['yes', 'no']],
  ['scaled_amounts', ['yes', 'no']],
]);

/** Words that say what is wrong with a constant; undefined if nothing is. */
export function readConstantProblem(name: string, value: string): string | undefined {
  if (name === 'currency') return isCurrency(value) ? undefined : 'must be an ISO currency in use such as USD';
  const answers = ANSWERS.get(name);
  return answers === undefined || answers.includes(value) ? undefined : `must be one of ${answers.join(', ')}`;
}

/** Throws if a constant is of another kind of file: it would change nothing, and nobody would know. */
export function assertConstants(of: Kind, { constants = {} }: Mapping): void {
  for (const name of Object.keys(constants)) {
    if (FIELDS[of][name] !== undefined || ANSWERS.has(name)) continue;
    const fields = Object.keys(FIELDS[of]).join(', ');
    throw new MappingProblem(
      `mapping.constants.${name}`,
      'invalid',
      `is not a field of this kind of file. Its fields are ${fields}.`,
    );
  }
}
