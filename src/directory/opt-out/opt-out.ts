import { type Selectable, sql } from 'kysely';
import type { DirectoryForgetRequestsTable, DirectoryForgottenTable } from '../../kit/engines/postgres/database.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { transact } from '../../kit/engines/postgres/transaction.ts';
import type { Kind } from './hashes.ts';

export type ForgetRequest = Selectable<DirectoryForgetRequestsTable>;

export type Forgotten = Selectable<DirectoryForgottenTable>;

export interface HashRow {
  kind: Kind;
  hash: Buffer;
  tag: number;
}

/** The sealed key of all hashes; undefined before anyone opted out. */
export async function findKey(db: Db): Promise<Buffer | undefined> {
  return (await db.selectFrom('directoryForgottenKey').select('key').executeTakeFirst())?.key;
}

/** Stores a sealed key unless there is one. Returns the one that counts. */
export async function insertKeyOnce(db: Db, key: Buffer): Promise<Buffer> {
  await db
    .insertInto('directoryForgottenKey')
    .values({ key })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return (await findKey(db)) ?? key;
}

/** The hashes of everyone who opted out, or of these opt-outs. */
export async function listHashes(db: Db, ids?: readonly string[]): Promise<HashRow[]> {
  const all = db.selectFrom('directoryForgottenHashes').select(['kind', 'hash', 'tag']);
  return await (ids === undefined ? all : all.where('forgottenId', 'in', ids)).execute();
}

/** A text that changes when opt-outs are added. */
export async function stateOfHashes(db: Db): Promise<string> {
  const row = await db
    .selectFrom('directoryForgottenHashes')
    .select(({ fn }) => [fn.countAll<number>().as('total'), fn.max('forgottenId').as('newest')])
    .executeTakeFirstOrThrow();
  return `${row.total} ${row.newest ?? ''}`;
}

/** Records an opt-out with the hash of what was named. Returns the earlier opt-out with this hash, if any. */
export async function insertForgotten(
  db: Db,
  row: Pick<Forgotten, 'id' | 'named' | 'reason' | 'requestedBy' | 'createdAt'>,
  { kind, hash, tag }: HashRow,
): Promise<{ id: string; isNew: boolean }> {
  return await transact(db, async (trx) => {
    await trx.insertInto('directoryForgotten').values(row).execute();
    const insert = await sql`
      insert into directory_forgotten_hashes (forgotten_id, kind, hash, tag, is_named)
      values (${row.id}, ${kind}, ${hash}, ${tag}, true)
      on conflict (kind, hash) where is_named do nothing returning forgotten_id`.execute(trx);
    if (insert.rows.length > 0) return { id: row.id, isNew: true };
    await trx.deleteFrom('directoryForgotten').where('id', '=', row.id).execute();
    const before = await trx
      .selectFrom('directoryForgottenHashes')
      .select('forgottenId')
      .where('kind', '=', kind)
      .where('hash', '=', hash)
      .where('isNamed', '=', true)
      .executeTakeFirstOrThrow();
    return { id: before.forgottenId, isNew: false };
  });
}

/** Adds the other names of the creators that were found, unless the opt-out was withdrawn. */
export async function addHashes(db: Db, forgottenId: string, rows: readonly HashRow[]): Promise<void> {
  for (const { kind, hash, tag } of rows) {
    await sql`
      insert into directory_forgotten_hashes (forgotten_id, kind, hash, tag, is_named)
      select id, ${kind}, ${hash}, ${tag}, false from directory_forgotten where id = ${forgottenId} and remembered_at is null
      for share
      on conflict do nothing`.execute(db);
  }
}

export async function findForgotten(db: Db, id: string): Promise<Forgotten | undefined> {
  return await db.selectFrom('directoryForgotten').selectAll().where('id', '=', id).executeTakeFirst();
}

export async function listForgotten(db: Db, limit: number): Promise<Forgotten[]> {
  return await db
    .selectFrom('directoryForgotten')
    .selectAll()
    .orderBy('createdAt', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Opt-outs that versions may still show: recorded before this time, and never finished. */
export async function listUnfinishedForgotten(db: Db, before: Date): Promise<Forgotten[]> {
  return await db
    .selectFrom('directoryForgotten')
    .selectAll()
    .where('finishedAt', 'is', null)
    .where('rememberedAt', 'is', null)
    .where('createdAt', '<=', before)
    .orderBy('createdAt')
    .execute();
}

/** The number of opt-outs in force. */
export async function countForgotten(db: Db): Promise<number> {
  const row = await db
    .selectFrom('directoryForgotten')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .where('rememberedAt', 'is', null)
    .executeTakeFirstOrThrow();
  return row.total;
}

export async function finishForgotten(
  db: Db,
  id: string,
  { pks, removed, kept, finishedAt }: { pks: Buffer; removed: string; kept: string; finishedAt: Date },
): Promise<void> {
  await db.updateTable('directoryForgotten').set({ pks, removed, kept, finishedAt }).where('id', '=', id).execute();
}

/** Withdraws an opt-out: its hashes no longer count. Returns false if it was withdrawn before. */
export async function takeBack(db: Db, id: string, rememberedAt: Date): Promise<boolean> {
  return await transact(db, async (trx) => {
    const row = await trx
      .updateTable('directoryForgotten')
      .set({ rememberedAt })
      .where('id', '=', id)
      .where('rememberedAt', 'is', null)
      .returning('id')
      .executeTakeFirst();
    await trx.deleteFrom('directoryForgottenHashes').where('forgottenId', '=', id).execute();
    return row !== undefined;
  });
}

/** Counts creators that were taken out of an index, so that `verify` expects fewer. */
export async function countTaken(db: Db, indexName: string, creators: number): Promise<void> {
  await db
    .updateTable('directoryImports')
    .set(({ eb }) => ({ documents: eb('documents', '-', creators), forgotten: eb('forgotten', '+', creators) }))
    .where('indexName', '=', indexName)
    .execute();
}

/** The indices of imports that are complete and not live yet: verified ones, and one that is held. */
export async function listReadyIndices(db: Db, alias: string): Promise<string[]> {
  const rows = await db
    .selectFrom('directoryImports')
    .select('indexName')
    .where('alias', '=', alias)
    .where('state', 'in', ['verified', 'held'])
    .where('indexName', 'is not', null)
    .execute();
  return rows.flatMap(({ indexName }) => indexName ?? []);
}

/** Lists what brands store about these people: creators by their handle on the directory's platform, or by email. */
export async function listKept(
  db: Db,
  { usernames, email }: { usernames: readonly string[]; email: string | undefined },
): Promise<{ brand_id: string; creator_id: string }[]> {
  const rows = await db
    .selectFrom('creators')
    .select(['brandId', 'id'])
    .where(({ or, eb }) =>
      or([
        eb(sql<string>`lower(ig_handle)`, 'in', usernames.length > 0 ? [...usernames] : ['']),
        eb(sql<string>`lower(email)`, '=', email ?? ''),
      ]),
    )
    .orderBy('brandId')
    .orderBy('id')
    .execute();
  return rows.map(({ brandId, id }) => ({ brand_id: brandId, creator_id: id }));
}
