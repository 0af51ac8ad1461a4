import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { toChunks } from '../../kit/values/chunks.ts';
import { listForms } from '../../kit/values/email.ts';
import { type Problem, validationError } from '../../kit/values/errors.ts';
import type { Clause, ListClauses } from '../search/query.ts';
import { NumbersText } from '../search/request-body.ts';
import type { CreatorSearchQuery } from '../search/search.shapes.ts';
import type { WorkGate } from '../search/search-work.ts';

const Texts = z.array(z.string());

export async function findVersions(db: Db, brandId: string, ids: readonly string[]) {
  return await db
    .selectFrom('creatorLists')
    .select(['id', 'version', 'creators'])
    .where('brandId', '=', brandId)
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .execute();
}

/**
 * A list with its creators, both as of one moment. PostgreSQL writes them as text, because this process would read each
 * number only to write it again, while searches of others wait.
 */
async function findList(db: Db, brandId: string, id: string): Promise<List | undefined> {
  const { rows } = await sql<{ id: string; version: number; text: string | null; size: number }>`
    with own as (select id, version from creator_lists where brand_id = ${brandId} and id = ${id}),
    numbered as (
      select pk, (row_number() over (order by pk) - 1) / ${sql.lit(TERMS)} as part
      from listed_creators where list_id = (select id from own)
    )
    select own.id, own.version, '[' || string_agg(pk::text, ',' order by pk) || ']' as text, count(pk)::int as size
    from own left join numbered on true group by own.id, own.version, part order by part`.execute(db);
  const [row] = rows;
  if (!row) return undefined;
  return {
    id: row.id,
    version: row.version,
    size: rows.reduce((sum, { size }) => sum + size, 0),
    parts: rows.flatMap(({ text }) => (text === null ? [] : new NumbersText(text))),
  };
}

const onRoster = (db: Db, brandId: string) =>
  db
    .selectFrom('rosterEntries as entry')
    .innerJoin('creators as creator', 'creator.id', 'entry.creatorId')
    .where('entry.brandId', '=', brandId)
    .where('entry.status', '<>', 'removed');

interface Card {
  username: string;
  extracted_email: string | null;
}

/** The creators of a page of the directory who are on the roster, by username or email address. */
export async function listOnRoster(db: Db, brandId: string, cards: ReadonlyMap<number, Card>): Promise<Set<number>> {
  const usernames = [...cards.values()].map(({ username }) => username.toLowerCase());
  const emails = [...cards.values()].flatMap(({ extracted_email: email }) => email?.toLowerCase() ?? []);
  const rows = await onRoster(db, brandId)
    .select([
      sql<string | null>`lower(creator.ig_handle)`.as('username'),
      sql<string | null>`lower(creator.email)`.as('email'),
    ])
    .where(
      sql<boolean>`(lower(creator.ig_handle) = any(${usernames}::text[]) or lower(creator.email) = any(${emails}::text[]))`,
    )
    .execute();
  const known = new Set(rows.flatMap(({ username, email }) => [username ?? [], email ?? []].flat()));
  const isKnown = ({ username, extracted_email: email }: Card) =>
    known.has(username.toLowerCase()) || (email !== null && known.has(email.toLowerCase()));
  return new Set([...cards].flatMap(([pk, card]) => (isKnown(card) ? [pk] : [])));
}

async function hashRoster(db: Db, brandId: string): Promise<string> {
  const { hash } = await onRoster(db, brandId)
    .select(
      sql<string>`count(*) || '/' || coalesce(sum(hashtextextended(
        coalesce(creator.ig_handle, '') || ' ' || coalesce(creator.email, ''), 0)), 0)`.as('hash'),
    )
    .executeTakeFirstOrThrow();
  return hash;
}

async function readRoster(db: Db, brandId: string) {
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

/** Elasticsearch's maximum for one clause. */
const TERMS = 65_536;
/** Creators on the lists of one search, so that no search is larger than about 6 MB. */
const MAX_LISTED = 500_000;
/** Creators in memory, about 12 bytes each. */
const CACHED = 2_000_000;
/** A roster and a list's version are cached this long. */
const MAX_AGE_MS = 500;
const CACHED_ROSTERS = 200;
const CACHED_VERSIONS = 10_000;
/** Creators that are read from PostgreSQL for the work of a plain search; a brand reads lists of so many at once. */
const READ_PER_UNIT = 2_500;

type Query = Pick<CreatorSearchQuery, 'in_list' | 'not_in_list' | 'exclude_pks' | 'exclude_roster'>;

interface List {
  id: string;
  version: number;
  size: number;
  /** Its creators, in parts of what one clause holds. */
  parts: readonly NumbersText[];
}

interface Roster {
  /** Changes with its content. */
  hash: string;
  usernames: readonly string[];
  emails: readonly string[];
  readAtMs: number;
}

type ListVersion = Awaited<ReturnType<typeof findVersions>>[number];

const toTerms = (field: string, values: readonly (string | number)[]): Clause[] =>
  toChunks(values, TERMS).map((some) => ({ terms: { [field]: some } }));

const PARAMETERS = ['in_list', 'not_in_list'] as const;

function assertFound(query: Query, lists: ReadonlyMap<string, { creators: number }>): void {
  const missing = PARAMETERS.flatMap((field): Problem[] =>
    (query[field] ?? [])
      .filter((id) => !lists.has(id))
      .map((id) => ({ field, code: 'not_found', message: `${JSON.stringify(id)} is not a list of this brand.` })),
  );
  if (missing.length > 0) throw validationError(missing);
  const count = [...lists.values()].reduce((sum, { creators }) => sum + creators, 0);
  if (count <= MAX_LISTED) return;
  const field = query.not_in_list ? 'not_in_list' : 'in_list';
  const message = `The lists of a search must have at most ${MAX_LISTED} creators in total; these have ${count}.`;
  throw validationError([{ field, code: 'too_big', message }]);
}

function toListed(query: Query, lists: ReadonlyMap<string, List>, roster: Roster | undefined): ListClauses {
  const toPkClauses = (ids: readonly string[] = []) =>
    ids.flatMap((id) => (lists.get(id)?.parts ?? []).map((part): Clause => ({ terms: { 'card.pk': part } })));
  const versions = (ids: readonly string[] = []) => ids.map((id) => `${id}@${lists.get(id)?.version}`).sort();
  const { in_list, not_in_list, exclude_pks = [] } = query;
  const excludedClauses = [
    ...toPkClauses(not_in_list),
    ...toTerms('card.pk', exclude_pks),
    ...toTerms('card.username', roster?.usernames ?? []),
    ...toTerms('card.extracted_email', roster?.emails.flatMap(listForms) ?? []),
  ];
  const key = [versions(in_list), versions(not_in_list), exclude_pks.toSorted(), in_list !== undefined, roster?.hash];
  return {
    clauses: [
      // Empty lists match no one: a `bool` without clauses would match everyone.
      ...(in_list
        ? [{ bool: { should: [...toPkClauses(in_list), { match_none: {} }], minimum_should_match: 1 } }]
        : []),
      ...(excludedClauses.length > 0 ? [{ bool: { must_not: excludedClauses } }] : []),
    ],
    creators:
      [...lists.values()].reduce((sum, { size }) => sum + size, 0) +
      (roster ? roster.usernames.length + roster.emails.length : 0),
    toJSON: () => key,
  };
}

/**
 * Reads the lists and the roster that searches name. A list's version is read at most twice a second, so a change counts
 * within a second in every process, and at once in the one that made it. Its creators are cached by version. `work` bounds
 * what a brand reads at once.
 */
export function openLists(db: Db, work: WorkGate) {
  const cache = new LRUCache<string, List>({ maxSize: CACHED, sizeCalculation: ({ size }) => size + 1 });
  const versions = new LRUCache<string, ListVersion>({ max: CACHED_VERSIONS, ttl: MAX_AGE_MS });
  const rosters = new LRUCache<string, Roster>({ max: CACHED_ROSTERS });

  async function readVersions(brandId: string, ids: readonly string[]): Promise<ListVersion[]> {
    const cached = ids.flatMap((id) => versions.get(`${brandId}/${id}`) ?? []);
    if (cached.length === ids.length) return cached;
    const rows = await findVersions(db, brandId, ids);
    for (const row of rows) versions.set(`${brandId}/${row.id}`, row);
    return rows;
  }

  async function readList(brandId: string, { id, version, creators }: ListVersion): Promise<List | undefined> {
    const cached = cache.get(`${id}@${version}`);
    if (cached) return cached;
    const list = await work.run(brandId, creators / READ_PER_UNIT, () => findList(db, brandId, id));
    if (!list) return undefined;
    cache.set(`${id}@${list.version}`, list);
    return list;
  }

  async function loadRoster(brandId: string): Promise<Roster> {
    const now = performance.now();
    const cached = rosters.get(brandId);
    if (cached && now - cached.readAtMs < MAX_AGE_MS) return cached;
    // Read before the roster: a change in between is found by the next reading.
    const hash = await hashRoster(db, brandId);
    const roster = {
      ...(cached?.hash === hash ? cached : { ...(await readRoster(db, brandId)), hash }),
      readAtMs: now,
    };
    rosters.set(brandId, roster);
    return roster;
  }

  return {
    /** Makes the next search on this process read the list's version again. */
    changed: (brandId: string, id: string): void => void versions.delete(`${brandId}/${id}`),
    /** The creators that the query includes and excludes. Throws VALIDATION_ERROR if the brand has no such list. */
    read: async (brandId: string, query: Query): Promise<ListClauses | undefined> => {
      const { in_list = [], not_in_list = [], exclude_pks, exclude_roster } = query;
      const ids = [...in_list, ...not_in_list];
      if (ids.length === 0 && !exclude_pks && !exclude_roster) return undefined;
      const listsById = new Map(ids.length === 0 ? [] : (await readVersions(brandId, ids)).map((row) => [row.id, row]));
      assertFound(query, listsById);
      const lists = await Promise.all([...listsById.values()].map((row) => readList(brandId, row)));
      const byId = new Map(lists.flatMap((list) => (list ? [[list.id, list] as const] : [])));
      return toListed(query, byId, exclude_roster ? await loadRoster(brandId) : undefined);
    },
  };
}

export type Lists = ReturnType<typeof openLists>;
