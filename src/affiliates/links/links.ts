import { type Insertable, type RawBuilder, type Selectable, sql, type Updateable } from 'kysely';
import type { LinkPastCodesTable, LinksTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { updateOwn } from '../../kit/engines/postgres/own.ts';
import { inWindow, type ShownChanges } from '../../kit/engines/postgres/window.ts';
import { notFound } from '../../kit/values/errors.ts';
import { foldCase } from '../../kit/values/fold.ts';
import type { Page } from '../../kit/values/page.ts';
import { matchesCreator, shownName, toLikePattern } from '../../workflow/creators/creators.ts';
import { selectRegrouped, showCreator } from '../../workflow/creators/renamed.ts';
import { INHERITED } from '../../workflow/terms/inherited.ts';
import { matchesGroup } from '../groups/present-groups.ts';
import type { LinkFilter } from './links.shapes.ts';

export type LinkType = LinksTable['type'];

type LinkSelection = Omit<LinkFilter, keyof Page>;

export type LinkRow = Selectable<LinksTable>;

const withCreator = (db: Db) =>
  db
    .selectFrom('links')
    .innerJoin('creators', 'creators.id', 'links.creatorId')
    .leftJoin('terms', 'terms.id', 'links.termsId')
    .selectAll('links')
    .select(['creators.email as creatorEmail', 'terms.terms', INHERITED.as('inherited'), shownName]);

/** Matches the filter except for its window of time. */
function matches(
  brandId: string,
  { creator_email: email, campaign_id, type, active, search, group_id }: LinkSelection,
) {
  const conditions = [
    matchesCreator('links.creatorId', brandId, email),
    matchesGroup('links.creatorId', brandId, group_id),
  ];
  if (campaign_id !== undefined) conditions.push(sql<boolean>`links.campaign_id = ${campaign_id}`);
  if (type !== undefined) conditions.push(sql<boolean>`links.type = ${type}`);
  if (active !== undefined) conditions.push(sql<boolean>`links.active = ${active}`);
  if (search !== undefined)
    conditions.push(sql<boolean>`fold_code(links.value) like fold_code(${toLikePattern(search)})`);
  return sql<boolean>`(${sql.join(conditions, sql` and `)})`;
}

/** Selects links by what they take from elsewhere: the terms of their creator's group, their campaign or the brand. */
const selectInheriting: ShownChanges = (brandId, after) =>
  sql`select one.id from links as one where one.brand_id = ${brandId} and one.inherits_terms and (
    one.creator_id in (${selectRegrouped(brandId, after)} union all
      select member.creator_id from group_memberships as member
      join creator_groups as grouped on grouped.brand_id = member.brand_id and grouped.id = member.group_id
      where member.brand_id = ${brandId} and member.until is null and grouped.updated_at > ${after})
    or one.campaign_id in (select id from campaigns where brand_id = ${brandId} and updated_at > ${after})
    or exists (select from brands where id = ${brandId} and updated_at > ${after})
    or exists (select from attribution_rules where brand_id = ${brandId} and updated_at > ${after}))`;

const SHOWN = [showCreator('links'), selectInheriting];

export const links = listing({
  noun: 'link',
  table: 'links',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  shown: SHOWN,
  matching: (db, brandId, where: LinkSelection) => db.selectFrom('links').where(matches(brandId, where)),
  rows: withCreator,
});
export const { get: getLink } = links;
export type ListedLink = Awaited<ReturnType<typeof getLink>>;

/** A figure of a link in a currency; an empty currency stands for the link's own. */
interface LinkFigure {
  link_id: string;
  in_currency: string;
  figure: number;
}

/** Lists the ids of matching links by a figure, the largest first. A link that is not among the figures has 0. */
export async function listIdsByFigure(
  db: Db,
  brandId: string,
  where: LinkSelection,
  figures: readonly LinkFigure[],
  part: { offset: number; limit: number },
): Promise<string[]> {
  const figureTable = sql<{ linkId: string; inCurrency: string; figure: number }>`(
    select * from unnest(${figures.map(({ link_id }) => link_id)}::text[],
      ${figures.map(({ in_currency }) => in_currency)}::text[], ${figures.map(({ figure }) => figure)}::bigint[])
      as one (link_id, in_currency, figure))`;
  const rows = await links
    .found(db, brandId, where)
    .leftJoin(figureTable.as('given'), (join) =>
      join.onRef('given.linkId', '=', 'links.id').on(sql<boolean>`given.in_currency in ('', links.currency)`),
    )
    .select('links.id')
    .orderBy(sql`coalesce(given.figure, 0)`, 'desc')
    .orderBy('links.id', 'desc')
    .offset(part.offset)
    .limit(part.limit)
    .execute();
  return rows.map(({ id }) => id);
}

const TIMES = {
  table: 'links',
  time: 'links.createdAt',
  changed: ['links.createdAt', 'links.updatedAt'],
  shown: SHOWN,
};

/**
 * The first and last id that the filter matches, if no other link lies between them in byte order, as in ClickHouse. Ids
 * begin with the time, so that a window of time is such a span.
 */
export async function findSpan(db: Db, brandId: string, where: LinkSelection) {
  const isMatch = sql<boolean>`(${matches(brandId, where)} and ${inWindow(TIMES, brandId, where)})`;
  const { rows } = await sql<{ first: string | null; last: string | null }>`
    with span as (
      select min(id collate "C") as first, max(id collate "C") as last from links
      where links.brand_id = ${brandId} and ${isMatch})
    select first, last from span where not exists (
      select from links
      where links.brand_id = ${brandId} and links.id collate "C" between first and last and not (${isMatch}))`.execute(
    db,
  );
  const { first, last } = rows[0] ?? {};
  return first && last ? { first, last } : undefined;
}

/** In the order of the ids, and without ids of other brands. */
export async function listLinksByIds(db: Db, brandId: string, ids: readonly string[]): Promise<ListedLink[]> {
  if (ids.length === 0) return [];
  const wantedIds = sql`${[...ids]}::text[]`;
  return await withCreator(db)
    .where('links.brandId', '=', brandId)
    .where(sql<boolean>`links.id = any(${wantedIds})`)
    .orderBy(sql`array_position(${wantedIds}, links.id)`)
    .execute();
}

/** Records a code that an assignment had until now, from the time at which it replaced an earlier one, if any. */
export async function insertPastCode(db: Db, row: Omit<Insertable<LinkPastCodesTable>, 'since'>): Promise<void> {
  const since = sql<Date | null>`(
    select max(coalesce(before.replaced_at, before.until)) from link_past_codes as before
    where before.brand_id = ${row.brandId} and before.link_id = ${row.linkId})`;
  await db
    .insertInto('linkPastCodes')
    .values({ ...row, since })
    // A code may come back and be replaced again until the same time.
    .onConflict((conflict) =>
      conflict
        .columns(['linkId', 'code', 'until'])
        .doUpdateSet((eb) => ({ replacedAt: eb.ref('excluded.replacedAt') })),
    )
    .execute();
}

/** Codes that still pay their earlier holder, with the holder's assignment. */
export async function listHeldCodes(db: Db, brandId: string, codes: readonly string[], at: Date) {
  if (codes.length === 0) return [];
  return await db
    .selectFrom('linkPastCodes')
    .select(['linkId', 'code'])
    .where('brandId', '=', brandId)
    .where(sql<boolean>`fold_code(code) = any(select fold_code(one) from unnest(${[...codes]}::text[]) as one)`)
    .where('until', '>', at)
    .execute();
}

/** The earlier codes of assignments. */
export async function listPastCodes(db: Db, brandId: string, linkIds: readonly string[]) {
  if (linkIds.length === 0) return [];
  return await db
    .selectFrom('linkPastCodes')
    .select(['linkId', 'code', 'replacedAt', 'until'])
    .where('brandId', '=', brandId)
    .where(sql<boolean>`link_id = any(${[...linkIds]}::text[])`)
    .execute();
}

/** Codes that were alike before they were compared by their fold: the one as it is written comes first, else the oldest. */
const asWritten = (value: RawBuilder<unknown>, given: RawBuilder<unknown>) =>
  sql`lower(${value}) <> lower(${given}), created_at, id`;

/** Codes, in any case, and links that an order refers to. Its time is between `first` and `last`. */
interface OrderReferences {
  codes: readonly string[];
  linkIds: readonly string[];
  first: Date;
  last: Date;
}

/**
 * Lists the assignments that orders refer to, unordered: each with the order's place, its code as written, or null, and
 * whether it was active at that time. A code belongs to its holder at that time, and to no one before its assignment.
 */
export async function listNamedLinks(db: Db, brandId: string, orders: readonly OrderReferences[]) {
  const toReferences = (kind: 'codes' | 'linkIds') =>
    orders.flatMap((order, place) =>
      order[kind].map((name) => ({ place, name, first: order.first, last: order.last })),
    );
  const [codes, linkIds] = [toReferences('codes'), toReferences('linkIds')];
  if (codes.length === 0 && linkIds.length === 0) return [];
  const toTable = (names: typeof codes) => sql`unnest(${names.map(({ place }) => place)}::int[],
    ${names.map(({ name }) => name)}::text[], ${names.map(({ first }) => first.toISOString())}::timestamptz[],
    ${names.map(({ last }) => last.toISOString())}::timestamptz[])`;
  const all = sql<{ brandId: string; place: number; id: string; code: string | null }>`(
    select ${brandId}::text as brand_id, given.place, coalesce(past.link_id, present.id) as id, given.code, given.first, given.last
    from ${toTable(codes)} as given (place, code, first, last)
    left join lateral (
      select link_id from link_past_codes
      where brand_id = ${brandId} and fold_code(code) = fold_code(given.code)
        and until > given.first and (since is null or since <= given.last) order by until limit 1
    ) as past on true
    left join lateral (
      select own.id from links as own where own.brand_id = ${brandId} and own.type = 'discount_code'
        and fold_code(own.value) = fold_code(given.code) and not exists (
          select from link_past_codes as other
          where other.brand_id = ${brandId} and other.link_id = own.id
            and coalesce(other.replaced_at, other.until) > given.last)
      order by ${asWritten(sql`own.value`, sql`given.code`)} limit 1
    ) as present on true
    union all select ${brandId}, given.place, given.id, null, given.first, given.last
    from ${toTable(linkIds)} as given (place, id, first, last))`;
  const wasActiveAt = (moment: 'first' | 'last') => sql<boolean>`coalesce((
    select state.active from link_states as state
    where state.brand_id = links.brand_id and state.link_id = links.id and state.at <= named.${sql.ref(moment)}
    order by state.at desc limit 1), false)`;
  const wasActive = sql<boolean>`(${wasActiveAt('first')} or ${wasActiveAt('last')})`;
  return await withCreator(db)
    // The brand comes from the named rows, so that PostgreSQL begins with them and not with all links of a new brand.
    .innerJoin(all.as('named'), (join) =>
      join.onRef('named.brandId', '=', 'links.brandId').onRef('named.id', '=', 'links.id'),
    )
    .innerJoin('brands', 'brands.id', 'links.brandId')
    .leftJoin('attributionRules as rules', 'rules.brandId', 'links.brandId')
    .leftJoin('fraudRules', 'fraudRules.brandId', 'links.brandId')
    .leftJoin('codeLeaks', 'codeLeaks.linkId', 'links.id')
    .select('brands.timeZone')
    .select(['named.place', 'named.code', wasActive.as('wasActive')])
    .select(['rules.model', 'rules.couponPolicy', 'rules.minOrderMinor', 'rules.minOrderCurrency'])
    .select('rules.customerPolicy')
    .select(['fraudRules.rules as fraudRules', 'codeLeaks.score as leakScore'])
    .execute();
}
/** An assignment that an order refers to, with the brand's rules. */
export type NamedLink = Awaited<ReturnType<typeof listNamedLinks>>[number];

/** Locks the row until the transaction ends; inserts of rows that only refer to it do not wait. */
export async function lockLink(db: Db, brandId: string, id: string): Promise<LinkRow> {
  const row = await db
    .selectFrom('links')
    .selectAll()
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (!row) throw notFound('link');
  return row;
}

/** Finds the brand's link with this value in any case, active or not. */
export async function findByValue(
  db: Db,
  brandId: string,
  { type, value }: Pick<LinkRow, 'type' | 'value'>,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('links')
    .select('id')
    .where('brandId', '=', brandId)
    .where('type', '=', type)
    .where(sql`fold_code(value)`, '=', sql`fold_code(${value})`)
    .orderBy(asWritten(sql`value`, sql`${value}::text`))
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

type NewLink = Insertable<LinksTable> & { createdAt: Date };

/** Inserts and returns the links whose value is free. A replaced code is taken for as long as it still pays. */
export async function insertLinks(db: Db, links: readonly NewLink[]): Promise<LinkRow[]> {
  const codes = links.filter(({ type }) => type === 'discount_code');
  const values = codes.map(({ value }) => value);
  const [first] = codes;
  const holds = first ? await listHeldCodes(db, first.brandId, values, first.createdAt) : [];
  const heldCodes = new Set(holds.map(({ code }) => foldCase(code)));
  const rows = links.filter(({ type, value }) => type !== 'discount_code' || !heldCodes.has(foldCase(value)));
  if (rows.length === 0) return [];
  return await db
    .insertInto('links')
    .values([...rows])
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .execute();
}

export const updateLink = (db: Db, { brandId, id }: Pick<LinkRow, 'brandId' | 'id'>, change: Updateable<LinksTable>) =>
  updateOwn(db.updateTable('links').set(change).returningAll(), brandId, id);

/**
 * Records since when links are active or inactive, with their rows locked. The time is never before the previous change,
 * even if this process's clock is behind.
 */
export async function insertStates(
  db: Db,
  rows: { brandId: string; linkId: string; at: Date; active: boolean }[],
): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    insert into link_states (brand_id, link_id, at, active)
    select given.brand_id, given.link_id, greatest(given.at, (
      select max(state.at) from link_states as state
      where state.brand_id = given.brand_id and state.link_id = given.link_id)), given.active
    from unnest(
      ${rows.map(({ brandId }) => brandId)}::text[],
      ${rows.map(({ linkId }) => linkId)}::text[],
      ${rows.map(({ at }) => at.toISOString())}::timestamptz[],
      ${rows.map(({ active }) => active)}::boolean[]) as given (brand_id, link_id, at, active)
    on conflict (link_id, at) do update set active = excluded.active`.execute(db);
}

/** Finds the creator on the roster by email address, and keeps them on it until the transaction ends. */
export async function lockOnRoster(db: Db, brandId: string, email: string) {
  return await db
    .selectFrom('creators')
    .innerJoin('rosterEntries', 'rosterEntries.creatorId', 'creators.id')
    .select(['creators.id', 'creators.email', 'creators.name', 'creators.igHandle', 'creators.ttHandle'])
    .where('creators.brandId', '=', brandId)
    .where('rosterEntries.brandId', '=', brandId)
    .where('rosterEntries.status', '<>', 'removed')
    .where(sql`lower(creators.email)`, '=', sql`lower(${email})`)
    .forShare('rosterEntries')
    .executeTakeFirst();
}
