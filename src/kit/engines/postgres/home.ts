import { access, rm } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
import { ApiError, ignoreFailure } from '../../values/errors.ts';
import type { Db } from './open.ts';

/** A backup of the folder of embedded engines has this file; the folder itself never has it for long. */
const MARKER = 'is-a-backup';
/** A change on another process holds within this time. */
const READ_EVERY_MS = 1_000;

export const HELD =
  'This is a restored copy: emails, webhooks, exports and calls to stores are off until `npm run cli -- restored --go-live`.';

/** The database itself, wherever it is reached from: a copy by dump and restore has another number, or another server. */
async function readHome(db: Db): Promise<string> {
  const { rows } = await sql<{ oid: string }>`
    select oid::text from pg_database where datname = current_database()`.execute(db);
  const server = await sql<{ id: string }>`select system_identifier::text as id from pg_control_system()`
    .execute(db)
    .catch(ignoreFailure('without the right to read it, the number of the database has to do'));
  return `${server?.rows[0]?.id ?? ''}/${rows[0]?.oid ?? ''}`;
}

const reads = new WeakMap<Db, { at: number; isHeld: Promise<boolean> }>();

/** When a copy that is not live yet was first started; undefined for a live database. */
export async function findHeldSince(db: Db): Promise<Date | undefined> {
  const row = await db.selectFrom('installation').select('heldSince').executeTakeFirst();
  return row?.heldSince ?? undefined;
}

/** True while this database is a copy that must not write to the world. */
export function isHeld(db: Db): Promise<boolean> {
  const now = performance.now();
  const lastRead = reads.get(db);
  if (lastRead && now - lastRead.at < READ_EVERY_MS) return lastRead.isHeld;
  const reading = findHeldSince(db).then((since) => since !== undefined);
  reading.catch(() => reads.delete(db));
  reads.set(db, { at: now, isHeld: reading });
  return reading;
}

/** Throws CONFLICT in a copy that must not write to the world. */
export async function assertLive(db: Db): Promise<void> {
  if (await isHeld(db)) throw new ApiError('CONFLICT', HELD);
}

/** Stops everything that leaves this database, as for a copy that cannot be told from its original. */
export async function hold(db: Db, now: Date): Promise<void> {
  await db
    .insertInto('installation')
    .values({ home: await readHome(db), heldSince: now })
    .onConflict((conflict) => conflict.column('isOnly').doUpdateSet({ heldSince: now }))
    .execute();
  reads.delete(db);
}

/** Lets a copy write to the world; false if it was live. */
export async function goLive(db: Db): Promise<boolean> {
  const row = await db
    .updateTable('installation')
    .set({ home: await readHome(db), heldSince: null })
    .where('heldSince', 'is not', null)
    .returning('home')
    .executeTakeFirst();
  reads.delete(db);
  return row !== undefined;
}

/**
 * Makes this database the live one if it is new, and holds it if it is a copy: by its home, or by the file that a backup of
 * the folder has. True if it is held.
 */
export async function claimHome(db: Db, directory: string, now: Date): Promise<boolean> {
  const home = await readHome(db);
  await db
    .insertInto('installation')
    .values({ home, heldSince: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await db
    .updateTable('installation')
    .set((eb) => ({ home, heldSince: eb.fn.coalesce('heldSince', eb.val(now)) }))
    .where('home', '<>', home)
    .execute();
  const marker = path.join(directory, MARKER);
  const isMarked = await access(marker).then(
    () => true,
    () => false,
  );
  if (isMarked) {
    await hold(db, now);
    await rm(marker);
  }
  reads.delete(db);
  return await isHeld(db);
}
