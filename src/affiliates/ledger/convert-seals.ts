import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { transact } from '../../kit/engines/postgres/transaction.ts';
import { sealNoted } from '../../kit/outbox/outbox.ts';
import type { Clock } from '../../kit/values/clock.ts';
import { verifyRecords } from './verify-ledger.ts';

/** True if seals of a brand from before there were commitments have people's values in clear text. */
export async function hasClearSeals(db: Db, brandId: string): Promise<boolean> {
  const row = await db.selectFrom('clearSeals').select('brandId').where('brandId', '=', brandId).executeTakeFirst();
  return row !== undefined;
}

/**
 * Replaces what a brand's seals have in clear text by commitments, once, and hashes the chain again. It waits for the brand's
 * writers and holds them up until it ends. Throws if the ledger was edited: a chain that is hashed again proves nothing of before.
 */
export async function convertSeals(db: Db, clock: Clock, brandId: string): Promise<void> {
  if (!(await hasClearSeals(db, brandId))) return;
  await transact(db, async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtext(${`seals ${brandId}`}))`.execute(trx);
    await sql`select version from outbox_numbers where brand_id = ${brandId} order by version desc limit 1 for update`.execute(
      trx,
    );
    if (!(await hasClearSeals(trx, brandId))) return;
    const { problems } = await verifyRecords(trx, brandId);
    if (problems.length > 0) {
      throw new Error(`The ledger was edited, so nobody can be erased; see \`ledger verify\`: ${problems[0]}`);
    }
    await sql`select convert_seals(${brandId}, ${clock.now()})`.execute(trx);
    await sealNoted(trx, brandId);
  });
}
