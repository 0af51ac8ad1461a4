import type { Generated } from 'kysely';
import type { Db } from '../../../kit/engines/postgres/open.ts';

interface CustomerSaltTable {
  onlyOne: Generated<boolean>;
  salt: Buffer;
}

declare module '../../../kit/engines/postgres/tables.ts' {
  interface Database {
    customerSalt: CustomerSaltTable;
  }
}

/** The sealed value; undefined before the first order. */
export async function findSalt(db: Db): Promise<Buffer | undefined> {
  return (await db.selectFrom('customerSalt').select('salt').executeTakeFirst())?.salt;
}

/** Returns the stored one: this, or what another process stored first. */
export async function insertSaltOnce(db: Db, salt: Buffer): Promise<Buffer> {
  await db
    .insertInto('customerSalt')
    .values({ salt })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return (await findSalt(db)) ?? salt;
}
