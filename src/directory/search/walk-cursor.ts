import { z } from 'zod';
import { validationError } from '../../kit/values/errors.ts';
import type { Secrets } from '../../kit/values/secrets.ts';

/** The position from which a walk continues. */
const WalkPosition = z.object({
  walkId: z.string(),
  /** The version of the directory. */
  index: z.string(),
  /** A hash of the filters and the order. */
  search: z.string(),
  /** Creators before it, in whole blocks. */
  creators: z.number().int(),
  /** The sort values of the last creator as Elasticsearch wrote them: numbers may be beyond what JavaScript holds. */
  after: z.string(),
});
export type WalkPosition = z.infer<typeof WalkPosition>;

const sealingContext = (brandId: string) => `walk:${brandId}`;

export const sealCursor = (secrets: Secrets, brandId: string, position: WalkPosition): string =>
  secrets.seal(JSON.stringify(position), sealingContext(brandId)).toString('base64url');

function toCursorError(message: string) {
  return validationError([{ field: 'cursor', code: 'invalid', message }]);
}

/** Throws VALIDATION_ERROR if it is forged, or another brand's or another search's. */
export function readCursor(secrets: Secrets, brandId: string, cursor: string, search: string): WalkPosition {
  const position = openPosition(secrets, brandId, cursor);
  if (position.search === search) return position;
  throw toCursorError('belongs to a walk with other filters or another order; send them as for its first call.');
}

function openPosition(secrets: Secrets, brandId: string, cursor: string): WalkPosition {
  try {
    return WalkPosition.parse(JSON.parse(secrets.open(Buffer.from(cursor, 'base64url'), sealingContext(brandId))));
  } catch {
    throw toCursorError('must be a cursor of a walk by this brand, unchanged.');
  }
}
