import type { Insertable } from 'kysely';
import type { PasskeysTable } from '../../../kit/engines/postgres/database.ts';
import { listing } from '../../../kit/engines/postgres/listing.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import { violates } from '../../../kit/engines/postgres/violation.ts';
import { ApiError } from '../../../kit/values/errors.ts';
import type { ListWindow } from '../../../kit/values/page.ts';

interface Whose {
  brandId: string;
  personId: string;
}

export const passkeys = listing({
  noun: 'passkey',
  table: 'passkeys',
  time: 'createdAt',
  changed: ['createdAt'],
  matching: (db, _brandId, { personId }: ListWindow & Pick<Whose, 'personId'>) =>
    db.selectFrom('passkeys').where('personId', '=', personId),
  rows: (db) => db.selectFrom('passkeys').selectAll(),
});

export async function insertPasskey(db: Db, row: Insertable<PasskeysTable>) {
  return await db
    .insertInto('passkeys')
    .values(row)
    .returningAll()
    .executeTakeFirstOrThrow()
    .catch((error: unknown) => {
      if (!violates(error, 'passkeys_credential_id_key')) throw error;
      throw new ApiError('CONFLICT', 'This passkey is already registered.', { cause: error });
    });
}

export async function deletePasskey(db: Db, { brandId, personId }: Whose, id: string) {
  return await db
    .deleteFrom('passkeys')
    .where('brandId', '=', brandId)
    .where('personId', '=', personId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

export async function insertChallenge(
  db: Db,
  challenge: { id: string; challenge: string; personId: string | null; expiresAt: Date },
): Promise<void> {
  await db.insertInto('passkeyChallenges').values(challenge).execute();
}

/** Takes a challenge, which works once, and deletes expired ones. */
export async function takeChallenge(db: Db, id: string, personId: string | null, now: Date) {
  const row = await db
    .deleteFrom('passkeyChallenges')
    .where('id', '=', id)
    .where('personId', personId === null ? 'is' : '=', personId)
    .returning(['challenge', 'expiresAt'])
    .executeTakeFirst();
  await db.deleteFrom('passkeyChallenges').where('expiresAt', '<', now).execute();
  return row && row.expiresAt > now ? row.challenge : undefined;
}

/** Finds a passkey by its credential id, if its person still exists. */
export async function findPasskeyToSignIn(db: Db, credentialId: string) {
  return await db
    .selectFrom('passkeys')
    .innerJoin('people', 'people.id', 'passkeys.personId')
    .selectAll('passkeys')
    .where('passkeys.credentialId', '=', credentialId)
    .where('people.removedAt', 'is', null)
    .executeTakeFirst();
}

export async function updatePasskeyUse(
  db: Db,
  { brandId, id }: { brandId: string; id: string },
  counter: number,
  at: Date,
) {
  await db
    .updateTable('passkeys')
    .set({ counter, lastUsedAt: at })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .execute();
}
