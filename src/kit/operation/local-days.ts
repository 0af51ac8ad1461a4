import type { Caller } from '../access/keys/callers.ts';
import type { Db } from '../engines/postgres/open.ts';
import { hasLocalDays, inTimeZone } from '../values/local-day.ts';
import { isRecord } from '../values/wire.ts';
import type { Context } from './context.ts';
import type { RawInput } from './input.ts';

/** The zone of the brand's days. */
export async function getTimeZone(db: Db, brandId: string): Promise<string> {
  const row = await db.selectFrom('brands').select('timeZone').where('id', '=', brandId).executeTakeFirst();
  return row?.timeZone ?? 'UTC';
}

const readTimeZone = (part: unknown): string | undefined =>
  isRecord(part) && typeof part.time_zone === 'string' ? part.time_zone : undefined;

/** The input of a call with each day, of the zone that it names or of its brand's, as the moment that it means. */
export async function placeDays<Query, Body, Input extends { query: Query; body: Body }>(
  { postgres }: Pick<Context, 'postgres'>,
  { brandId }: Pick<Caller, 'brandId'>,
  input: Input,
  { hasUtcDays }: Pick<RawInput, 'hasUtcDays'>,
): Promise<Input> {
  if (hasUtcDays || (!hasLocalDays(input.query) && !hasLocalDays(input.body))) return input;
  const namedZone = readTimeZone(input.query) ?? readTimeZone(input.body);
  const timeZone = namedZone ?? (await getTimeZone(postgres.db, brandId));
  return { ...input, query: inTimeZone(input.query, timeZone), body: inTimeZone(input.body, timeZone) };
}
