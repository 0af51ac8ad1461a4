import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';

interface PersonAccess {
  brandId: string;
  personId: string;
  at: Date;
  /** The session that goes on: of a person who ends the others. */
  keptKeyId?: string;
}

/**
 * Ends everything by which a person, or an agent that the person let in, acts for the brand: sessions, links and
 * challenges to sign in, agents' tokens, consents that no token was fetched for, and plans that wait. Other processes see
 * it with the subscription's next version.
 */
export async function endPersonAccess(db: Db, { brandId, personId, at, keptKeyId = '' }: PersonAccess): Promise<void> {
  const keys = sql<string>`(
    select id from api_keys where brand_id = ${brandId} and person_id = ${personId} and id <> ${keptKeyId}
    union all
    select key_id from agent_grants where brand_id = ${brandId} and person_id = ${personId} and key_id is not null)`;
  await db
    .updateTable('plans')
    .set({ expiresAt: at })
    .where('brandId', '=', brandId)
    .where('appliedAt', 'is', null)
    .where('expiresAt', '>', at)
    .where(sql<boolean>`key_id in ${keys}`)
    .execute();
  await db
    .updateTable('apiKeys')
    .set({ revokedAt: at })
    .where('brandId', '=', brandId)
    .where('revokedAt', 'is', null)
    .where(sql<boolean>`id in ${keys}`)
    .execute();
  await db
    .updateTable('agentGrants')
    .set({ codeUsedAt: at })
    .where('brandId', '=', brandId)
    .where('personId', '=', personId)
    .where('codeUsedAt', 'is', null)
    .execute();
  await db
    .updateTable('signInLinks')
    .set({ usedAt: at })
    .where('brandId', '=', brandId)
    .where('personId', '=', personId)
    .where('usedAt', 'is', null)
    .execute();
  await db.deleteFrom('passkeyChallenges').where('personId', '=', personId).execute();
}
