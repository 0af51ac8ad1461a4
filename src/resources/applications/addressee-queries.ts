import { sql } from 'kysely';
import type { Db } from '../../engines/postgres/open.ts';
import { type Problem, validationError } from '../../values/errors.ts';

/** A creator whom the brand may write to, with their e-mail address. */
export interface Addressee {
  id: string;
  email: string;
  name: string | null;
}

/**
 * Finds whom a brand may write to at this e-mail address, ignoring case: a creator on its roster, or an applicant of
 * one of its campaigns. Undefined for strangers and for creators removed from the roster, even if they once applied.
 */
export async function findAddressee(db: Db, brandId: string, email: string): Promise<Addressee | undefined> {
  const row = await db
    .selectFrom('creators as creator')
    .leftJoin('rosterEntries as entry', (join) =>
      join.onRef('entry.creatorId', '=', 'creator.id').onRef('entry.brandId', '=', 'creator.brandId'),
    )
    .select(['creator.id', 'creator.email', 'creator.name'])
    .where('creator.brandId', '=', brandId)
    .where(sql`lower(creator.email)`, '=', email.toLowerCase())
    .where((eb) =>
      eb.or([
        eb('entry.status', '<>', 'removed'),
        eb.and([
          eb('entry.status', 'is', null),
          eb.exists(
            eb
              .selectFrom('applications as application')
              .select('application.id')
              .where('application.brandId', '=', brandId)
              .whereRef('application.creatorId', '=', 'creator.id'),
          ),
        ]),
      ]),
    )
    .executeTakeFirst();
  return row && { id: row.id, email: row.email ?? email, name: row.name };
}

/** The problem with a field that names a person whom the brand may not write to. */
export const notOnRoster = (email: string, field = 'creator_email'): Problem => ({
  field,
  code: 'not_on_roster',
  message: `${email} is neither on the roster nor an applicant of a campaign; add them to the roster first.`,
});

/** Like `findAddressee`, but throws 422 not_on_roster for anyone else. */
export async function getAddressee(db: Db, brandId: string, email: string): Promise<Addressee> {
  const addressee = await findAddressee(db, brandId, email);
  if (!addressee) throw validationError([notOnRoster(email)]);
  return addressee;
}
