import { sql } from 'kysely';
import type { Db } from '../kit/engines/postgres/open.ts';
import { toChunks } from '../kit/values/chunks.ts';
import { type Problem, validationError } from '../kit/values/errors.ts';
import type { Group } from './figures/breakdown.ts';

const LABELLED_TOGETHER = 5_000;

/** Labels rows of figures, thousands of them in a few statements. */
export async function* labelInChunks<Row, Labelled>(
  rows: readonly Row[],
  label: (some: Row[]) => Promise<Labelled[]>,
): AsyncGenerator<Labelled> {
  for (const some of toChunks(rows, LABELLED_TOGETHER)) yield* await label(some);
}

/** A creator's own name, else the name given with their newest link, else their handle, else their address. */
export async function listCreatorNames(
  db: Db,
  brandId: string,
  ids: readonly string[],
): Promise<Map<string, string | null>> {
  const ofLink = sql<string | null>`(select link.creator_name from links as link
    where link.brand_id = creators.brand_id and link.creator_id = creators.id and link.creator_name is not null
    order by link.created_at desc, link.id desc limit 1)`;
  const rows = await db
    .selectFrom('creators')
    .select(['id', sql<string | null>`coalesce(name, ${ofLink}, ig_handle, tt_handle, email)`.as('name')])
    .where('brandId', '=', brandId)
    .where('id', '=', sql<string>`any(${ids})`)
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Groups links by their campaign or platform, or by the group that their creator is in now. */
export async function listLinkGroups(
  db: Db,
  brandId: string,
  column: 'links.campaignId' | 'links.platform' | 'member.groupId',
): Promise<readonly Group[]> {
  return await db
    .selectFrom('links')
    .leftJoin('groupMemberships as member', (join) =>
      join
        .onRef('member.brandId', '=', 'links.brandId')
        .onRef('member.creatorId', '=', 'links.creatorId')
        .on('member.until', 'is', null),
    )
    .select([sql<string>`${sql.ref(column)}`.as('key'), sql<string[]>`array_agg(links.id)`.as('linkIds')])
    .where('links.brandId', '=', brandId)
    .where(column, 'is not', null)
    .groupBy(column)
    .execute();
}

const RECORDS = {
  creator: { table: 'creators', noun: 'a creator' },
  campaign: { table: 'campaigns', noun: 'a campaign' },
  link: { table: 'links', noun: 'a code or link' },
  store: { table: 'integrations', noun: 'a store' },
  group: { table: 'creatorGroups', noun: 'a group' },
} as const;
type RecordField = keyof typeof RECORDS;
const FIELDS = ['creator', 'campaign', 'link', 'store', 'group'] as const satisfies readonly RecordField[];

/** The problem of an id that no record of the brand has. */
export async function findUnknownId(db: Db, brandId: string, field: RecordField, id: string): Promise<Problem[]> {
  const { table, noun } = RECORDS[field];
  const row = await db
    .selectFrom(table)
    .select('id')
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row ? [] : [{ field, code: 'not_found', message: `is not ${noun} of this brand; got ${JSON.stringify(id)}.` }];
}

/** Refuses ids that no record of the brand has: a mistyped one would look like a record without figures. */
export async function assertKnown(
  db: Db,
  brandId: string,
  ids: { [field in RecordField]?: string | undefined },
): Promise<void> {
  const problems = await Promise.all(
    FIELDS.map(async (field) => {
      const id = ids[field];
      return id === undefined ? [] : await findUnknownId(db, brandId, field, id);
    }),
  );
  if (problems.flat().length > 0) throw validationError(problems.flat());
}

/** A store as its commissions show it: `generic:shop.example`. */
export const storeSource = sql<string>`(integrations.provider || ':' ||
  rtrim(regexp_replace(integrations.storefront_url, '^https?://', ''), '/'))`;

/** The id of the brand's store that commissions show like this. */
export async function findStoreOfSource(db: Db, brandId: string, source: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('integrations')
    .select('id')
    .where('brandId', '=', brandId)
    .where(storeSource, '=', source)
    .executeTakeFirst();
  return row?.id;
}

/** Looks up the names of links, campaigns, stores or groups. */
export async function listNames(
  db: Db,
  brandId: string,
  table: 'links' | 'campaigns' | 'integrations' | 'creatorGroups',
  ids: readonly string[],
): Promise<Map<string, string>> {
  const column = { links: 'value', campaigns: 'title', integrations: 'name', creatorGroups: 'name' }[table];
  const rows = await db
    .selectFrom(table)
    .select(['id', sql<string>`${sql.ref(column)}`.as('name')])
    .where('brandId', '=', brandId)
    .where('id', '=', sql<string>`any(${ids})`)
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}
