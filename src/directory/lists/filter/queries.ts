import { sql } from 'kysely';
import { z } from 'zod';
import type { Db } from '../../../kit/engines/postgres/open.ts';

const Pks = z.array(z.number());
const Texts = z.array(z.string());

export async function findVersions(db: Db, brandId: string, ids: readonly string[]) {
  return await db
    .selectFrom('creatorLists')
    .select(['id', 'version', 'creators'])
    .where('brandId', '=', brandId)
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .execute();
}

/** A list with its creators, both as of one moment. */
export async function findList(db: Db, brandId: string, id: string) {
  const row = await db
    .selectFrom('creatorLists')
    .select([
      'id',
      'version',
      sql<unknown>`to_json(array(select pk from listed_creators where list_id = creator_lists.id order by pk))`.as(
        'pks',
      ),
    ])
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && { ...row, pks: Pks.parse(row.pks) };
}

const onRoster = (db: Db, brandId: string) =>
  db
    .selectFrom('rosterEntries as entry')
    .innerJoin('creators as creator', 'creator.id', 'entry.creatorId')
    .where('entry.brandId', '=', brandId)
    .where('entry.status', '<>', 'removed');

export async function hashOf(db: Db, brandId: string): Promise<string> {
  const { hash } = await onRoster(db, brandId)
    .select(
      sql<string>`count(*) || '/' || coalesce(sum(hashtextextended(
        coalesce(creator.ig_handle, '') || ' ' || coalesce(creator.email, ''), 0)), 0)`.as('hash'),
    )
    .executeTakeFirstOrThrow();
  return hash;
}

export async function readRoster(db: Db, brandId: string) {
  const { usernames, emails } = await onRoster(db, brandId)
    .select([
      sql<unknown>`coalesce(json_agg(creator.ig_handle) filter (where creator.ig_handle is not null), '[]')`.as(
        'usernames',
      ),
      sql<unknown>`coalesce(json_agg(creator.email) filter (where creator.email is not null), '[]')`.as('emails'),
    ])
    .executeTakeFirstOrThrow();
  return { usernames: Texts.parse(usernames), emails: Texts.parse(emails) };
}
