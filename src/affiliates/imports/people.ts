import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { foldCase } from '../../kit/values/fold.ts';
import type { Mapping } from '../../platform/imports/reading/shapes.ts';

interface Who {
  email: string | null;
  handle: string | null;
  name: string | null;
  code: string | null;
}

/** The creator of a record; undefined if nobody on the roster is meant, null if several are. */
export type FindPerson = (who: Who) => string | undefined | null;

const fold = (text: string) => text.trim().toLowerCase();
const present = (values: readonly (string | null | undefined)[]) => [
  ...new Set(values.flatMap((value) => (value ? [fold(value)] : []))),
];

async function listPeople(db: Db, brandId: string, records: readonly Who[], ids: readonly string[]) {
  const emails = present(records.map(({ email }) => email));
  const handles = present(records.map(({ handle }) => handle));
  return await db
    .selectFrom('creators')
    .innerJoin('rosterEntries as entry', 'entry.creatorId', 'creators.id')
    .select(['creators.id', 'creators.email', 'creators.igHandle', 'creators.ttHandle', 'entry.id as entryId'])
    .where('creators.brandId', '=', brandId)
    .where(
      sql<boolean>`(lower(creators.email) = any(${emails}::text[]) or lower(creators.ig_handle) = any(${handles}::text[])
        or lower(creators.tt_handle) = any(${handles}::text[]) or creators.id = any(${[...ids]}::text[])
        or entry.id = any(${[...ids]}::text[]))`,
    )
    .execute();
}

async function listCodes(db: Db, brandId: string, codes: readonly string[]): Promise<Map<string, string>> {
  if (codes.length === 0) return new Map();
  const rows = await db
    .selectFrom('links')
    .select(['creatorId', 'value'])
    .where('brandId', '=', brandId)
    .where('type', '=', 'discount_code')
    .where(sql<boolean>`fold_code(value) = any(select fold_code(one) from unnest(${[...codes]}::text[]) as one)`)
    .execute();
  return new Map(rows.map(({ value, creatorId }) => [foldCase(value), creatorId]));
}

/** Finds the creators of records: by address, else handle, else code, else by who the mapping says that a name is. */
export async function findPeople(
  db: Db,
  brandId: string,
  records: readonly Who[],
  { people = {} }: Mapping,
): Promise<FindPerson> {
  const rows = await listPeople(db, brandId, records, Object.values(people));
  const codes = await listCodes(db, brandId, present(records.map(({ code }) => code)));
  const byEmail = new Map(rows.flatMap(({ id, email }) => (email === null ? [] : [[fold(email), id] as const])));
  const byId = new Map(rows.flatMap(({ id, entryId }) => [[id, id] as const, [entryId, id] as const]));
  const byHandle = Map.groupBy(
    rows.flatMap(({ id, igHandle, ttHandle }) => present([igHandle, ttHandle]).map((handle) => ({ id, handle }))),
    ({ handle }) => handle,
  );
  return ({ email, handle, name, code }) => {
    if (email !== null) return byEmail.get(fold(email));
    const owners = handle === null ? [] : (byHandle.get(fold(handle)) ?? []);
    if (owners.length > 1) return null;
    const [owner] = owners;
    if (owner) return owner.id;
    if (code !== null) return codes.get(foldCase(code));
    return name === null ? undefined : byId.get(people[name] ?? '');
  };
}

/** Creators on the roster that a name may mean, to be chosen by a person. */
export async function listNamesakes(db: Db, brandId: string, names: readonly string[]) {
  if (names.length === 0) return [];
  return await db
    .selectFrom('creators')
    .innerJoin('rosterEntries as entry', 'entry.creatorId', 'creators.id')
    .select(['entry.id', 'creators.name', 'creators.email', sql<string>`lower(creators.name)`.as('folded')])
    .where('creators.brandId', '=', brandId)
    .where('entry.status', '<>', 'removed')
    .where(sql<boolean>`lower(creators.name) = any(${names.map(fold)}::text[])`)
    .orderBy('creators.name')
    .limit(500)
    .execute();
}
