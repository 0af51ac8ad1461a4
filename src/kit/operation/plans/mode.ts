import { validationError } from '../../values/errors.ts';
import type { RawInput } from '../input.ts';

const MODES = ['apply', 'plan'] as const;

/** Reads `mode=plan` from the query, where logs show it and no body needs an extra field. */
export function takeMode(sent: RawInput): { mode: (typeof MODES)[number]; raw: RawInput } {
  const { mode: given = 'apply', ...query } = sent.query;
  const mode = MODES.find((one) => one === given);
  if (mode) return { mode, raw: { ...sent, query } };
  throw validationError([{ field: 'mode', code: 'invalid_value', message: `must be one of ${MODES.join(', ')}.` }]);
}
