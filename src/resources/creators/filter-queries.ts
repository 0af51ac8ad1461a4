import { sql } from 'kysely';

export interface PersonWhere {
  search?: string | undefined;
  creator_email?: string | undefined;
  handle?: string | undefined;
  tag?: string | undefined;
}

/** An `ilike` pattern that matches the text literally, anywhere. */
export const patternOf = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

const ANYBODY = sql<boolean>`true`;

/** Matches rows whose creator has this e-mail address, ignoring case; every row if it is undefined. */
export function isOfCreator(column: string, brandId: string, email: string | undefined) {
  if (email === undefined) return ANYBODY;
  return sql<boolean>`${sql.ref(column)} in (
    select id from creators where brand_id = ${brandId} and lower(email) = lower(${email}))`;
}

/** Whether the filter has any condition on the creator. */
export const isRequested = ({ search, creator_email, handle, tag }: PersonWhere): boolean =>
  [search, creator_email, handle, tag].some((one) => one !== undefined);

/** The filter as a condition on `creators`. */
export function isPerson({ search, creator_email: email, handle, tag }: PersonWhere) {
  const pattern = patternOf(search ?? '');
  const found =
    search === undefined
      ? ANYBODY
      : sql<boolean>`(creators.name ilike ${pattern} or creators.email ilike ${pattern}
          or creators.ig_handle ilike ${pattern} or creators.tt_handle ilike ${pattern})`;
  const written = email === undefined ? ANYBODY : sql<boolean>`lower(creators.email) = lower(${email})`;
  const called =
    handle === undefined
      ? ANYBODY
      : sql<boolean>`(lower(creators.ig_handle) = lower(${handle}) or lower(creators.tt_handle) = lower(${handle}))`;
  const tagged =
    tag === undefined
      ? ANYBODY
      : sql<boolean>`exists (select from unnest(creators.tags) as one (tag) where lower(one.tag) = lower(${tag}))`;
  return sql<boolean>`(${found} and ${written} and ${called} and ${tagged})`;
}
