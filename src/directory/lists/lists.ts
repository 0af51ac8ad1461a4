import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream';
import { parse } from 'csv-parse';
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import { z } from 'zod';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { CreatorListsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { updateOwn } from '../../kit/engines/postgres/own.ts';
import { violates } from '../../kit/engines/postgres/violation.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { FilePart } from '../../kit/operation/upload.ts';
import type { Work } from '../../kit/operation/work.ts';
import { ApiError, below, validationError } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import type { ListWindow, Page } from '../../kit/values/page.ts';
import { lockBrand } from '../../platform/brands/brands.ts';
import { type Runner, readFilters, withSaved } from '../saved-searches/filters.ts';
import { type CreatorNames, findMatchingPks, findPks } from '../search/pks.ts';
import { neededField } from '../search/plan.ts';
import type { CreatorSearchQuery } from '../search/search.shapes.ts';
import { measureLookUp, measureWork } from '../search/search-work.ts';
import { settlePlan } from '../search/settle-plan.ts';
import { measureLikeness, similarPks } from '../search/similar.ts';

export type CreatorListRow = Selectable<CreatorListsTable>;

export const creatorLists = listing({
  noun: 'list',
  table: 'creator_lists',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  matching: (db, _brandId, _where: ListWindow) => db.selectFrom('creatorLists'),
  rows: (db) => db.selectFrom('creatorLists').selectAll(),
});

const countLists = (db: Db, brandId: string): Promise<number> =>
  countRows(db.selectFrom('creatorLists').select(COUNT).where('brandId', '=', brandId));

const insertList = (db: Db, row: Insertable<CreatorListsTable>) =>
  db.insertInto('creatorLists').values(row).returningAll().executeTakeFirstOrThrow();

export const updateList = (db: Db, brandId: string, id: string, change: Updateable<CreatorListsTable>) =>
  updateOwn(db.updateTable('creatorLists').set(change).returningAll(), brandId, id);

export async function deleteList(db: Db, brandId: string, id: string) {
  await db.deleteFrom('creatorLists').where('brandId', '=', brandId).where('id', '=', id).execute();
}

/** Changes the number of a locked list's creators, and so its version. */
const countCreators = (db: Db, { brandId, id }: CreatorListRow, change: number, now: Date) =>
  db
    .updateTable('creatorLists')
    .set((eb) => ({ creators: eb('creators', '+', change), version: eb('version', '+', 1), updatedAt: now }))
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();

/** Returns how many are new on the list, which the caller locked. */
async function insertCreators(
  db: Db,
  listId: string,
  pks: readonly number[],
  { now, by }: { now: Date; by: string },
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    insert into listed_creators (list_id, pk, added_at, added_by)
    select ${listId}, pk, ${now}, ${by} from unnest(${pks}::bigint[]) as pk
    on conflict do nothing`.execute(db);
  return Number(numAffectedRows);
}

/** Returns how many were on the list, which the caller locked. */
async function deleteCreators(db: Db, listId: string, pks: readonly number[]): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('listedCreators')
    .where('listId', '=', listId)
    .where(sql<boolean>`pk = any(${pks}::bigint[])`)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** One page of a list's creators, last added first. */
export async function listCreators(db: Db, brandId: string, listId: string, { offset, limit }: Page) {
  return await db
    .selectFrom('listedCreators as listed')
    .innerJoin('creatorLists as list', 'list.id', 'listed.listId')
    .leftJoin('apiKeys as key', 'key.id', 'listed.addedBy')
    .leftJoin('people as person', 'person.id', 'key.personId')
    .select(['listed.pk', 'listed.addedAt'])
    .select(sql<string | null>`coalesce(person.email, key.name)`.as('by'))
    .where('list.brandId', '=', brandId)
    .where('listed.listId', '=', listId)
    .orderBy('listed.addedAt', 'desc')
    .orderBy('listed.pk', 'desc')
    .offset(offset)
    .limit(limit)
    .execute();
}

export const MAX_LISTS = 200;
export const MAX_CREATORS = 100_000;
export const MAX_AT_ONCE = 1_000;
/** Reading up to 100,000 pks runs beside no other search of the brand. */
const OF_ALL_MATCHES = 32;

const MAX_CSV_MB = 20;
const MAX_CSV_BYTES = MAX_CSV_MB * 1024 * 1024;
const LONGEST_ROW = 64 * 1024;

type FoundCreators = Awaited<ReturnType<typeof findPks>>;
interface CreatorAddition {
  list: CreatorListRow;
  pks: readonly number[];
  by: string;
}

function listFull(count?: number): ApiError {
  const has = count === undefined ? '' : ` The search finds ${count}.`;
  const message = `A list has at most ${MAX_CREATORS} creators.${has}`;
  return new ApiError('LIST_FULL', message, { facts: { limit: MAX_CREATORS } });
}

/** The row as the audit log shows it. */
const toAuditEntry = ({ version: _version, ...row }: CreatorListRow) => row;

async function add(work: Work, { list, pks, by }: CreatorAddition): Promise<{ list: CreatorListRow; added: number }> {
  const { db, now } = work;
  const addedCount = await insertCreators(db, list.id, pks, { now, by });
  if (addedCount === 0) return { list, added: addedCount };
  const countedList = await countCreators(db, list, addedCount, now).catch((error: unknown) => {
    throw violates(error, 'creator_lists_full') ? listFull() : error;
  });
  return { list: countedList, added: addedCount };
}

/** The pks of every match, as the search itself finds them. */
async function findMatches(context: Context, caller: Runner, sentQuery: CreatorSearchQuery): Promise<number[]> {
  const { directory, postgres } = context;
  const query = await withSaved(postgres.db, caller, sentQuery);
  const snapshot = await directory.snapshot(query.directory_version);
  await directory.assertServes(snapshot, neededField(query));
  const { filter } = await settlePlan(context, caller, query, { snapshot });
  return await directory.work.run(caller.brandId, measureWork(query, filter) + OF_ALL_MATCHES, async () => {
    const { similar_to: seeds } = query;
    if (seeds) {
      const likeness = await measureLikeness(directory, snapshot, { pks: seeds, filter, bound: [] });
      return await similarPks(directory, snapshot, likeness);
    }
    const { total, pks } = await findMatchingPks(directory, snapshot, filter, MAX_CREATORS);
    if (total > MAX_CREATORS) throw listFull(total);
    return pks;
  });
}

/** The pks of every match of a search in a body. */
export async function searchPks(
  context: Context,
  caller: Runner,
  search: Readonly<Record<string, string>>,
): Promise<number[]> {
  const query = readFilters('search', search, ['saved', 'directory_version']);
  return await below('search', () => findMatches(context, caller, query));
}

export async function createList(
  work: Work,
  { name, note = null }: { name: string; note?: string | null | undefined },
  { pks, by }: Omit<CreatorAddition, 'list'>,
): Promise<CreatorListRow> {
  const { db, now, brandId } = work;
  // Concurrent calls count each other's lists.
  await lockBrand(db, brandId);
  const current = await countLists(db, brandId);
  if (current >= MAX_LISTS) {
    const message = `A brand has at most ${MAX_LISTS} lists; delete one first.`;
    throw new ApiError('LIST_LIMIT_REACHED', message, { facts: { limit: MAX_LISTS, current } });
  }
  const row = { id: newId('lst', now.getTime()), brandId, name, note, createdAt: now, updatedAt: null };
  const { list } = await add(work, { list: await insertList(db, row), pks, by });
  const createdList = { ...list, updatedAt: null };
  work.audit({ resourceId: createdList.id, old: null, new: toAuditEntry(createdList) });
  return createdList;
}

/** Finds creators by name or the address of their profile; `@` before a username is ignored. */
export async function findNamed(
  { directory }: Context,
  brandId: string,
  { pks, usernames }: CreatorNames,
): Promise<FoundCreators> {
  const names = { pks, usernames: usernames.map((name) => name.replace(/^@/, '')) };
  return await directory.work.run(brandId, measureLookUp(names), () => findPks(directory, names));
}

export async function addCreators(work: Work, id: string, by: string, { pks, notFound }: FoundCreators) {
  const old = await creatorLists.lock(work.db, work.brandId, id);
  const { list, added } = await add(work, { list: old, pks, by });
  work.audit({ resourceId: id, old: toAuditEntry(old), new: toAuditEntry(list) });
  const not_found = {
    pks: notFound.pks.slice(0, MAX_AT_ONCE),
    usernames: notFound.usernames.slice(0, MAX_AT_ONCE),
  };
  return { id, added, creators: list.creators, not_found };
}

export async function removeCreators({ db, now, brandId, audit }: Work, id: string, pks: readonly number[]) {
  const old = await creatorLists.lock(db, brandId, id);
  const removedCount = await deleteCreators(db, id, pks);
  const list = removedCount === 0 ? old : await countCreators(db, old, -removedCount, now);
  audit({ resourceId: id, old: toAuditEntry(old), new: toAuditEntry(list) });
  return { id, removed: removedCount, creators: list.creators };
}

const Row = z.record(z.string(), z.string());
const badFile = (message: string) => validationError([{ field: 'file', code: 'invalid', message }]);

/** The creators that a CSV names in its columns `pk` and `username`; of a row with both, the `pk` counts. */
async function readNames(bytes: AsyncIterable<Buffer>): Promise<CreatorNames & { sha256: string }> {
  const hash = createHash('sha256');
  const [pks, usernames] = [new Set<number>(), new Set<string>()];
  let receivedBytes = 0;
  async function* limited() {
    for await (const chunk of bytes) {
      receivedBytes += chunk.length;
      if (receivedBytes > MAX_CSV_BYTES) {
        throw new ApiError('PAYLOAD_TOO_LARGE', `The file is larger than ${MAX_CSV_MB} MB.`);
      }
      hash.update(chunk);
      yield chunk;
    }
  }
  const columns = (header: string[]) => {
    const names = header.map((column) => column.trim().toLowerCase());
    if (names.includes('pk') || names.includes('username')) return names;
    throw badFile('must have a header row with a column `pk` or `username`.');
  };
  const parser = parse({ columns, bom: true, relax_column_count: true, max_record_size: LONGEST_ROW });
  // The reader of `parser` gets the error.
  pipeline(limited(), parser, () => undefined);
  try {
    for await (const record of parser) {
      const { pk = '', username = '' } = Row.parse(record);
      if (/^\d{1,15}$/.test(pk.trim())) pks.add(Number(pk.trim()));
      else if (username.trim() !== '') usernames.add(username.trim());
      else if (pk.trim() !== '')
        throw badFile(`has the pk ${JSON.stringify(pk.slice(0, 40))}, which must be a whole number.`);
      if (pks.size + usernames.size > 2 * MAX_CREATORS) throw listFull();
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw badFile(`is not valid CSV: ${error instanceof Error ? error.message : 'unreadable'}.`);
  }
  if (receivedBytes === 0) throw badFile('is empty; it must have a header row with a column `pk` or `username`.');
  return { pks: [...pks], usernames: [...usernames], sha256: hash.digest('hex') };
}

/** Reads a CSV and finds its creators, before the transaction. */
export async function receiveNames(
  context: Context,
  brandId: string,
  { bytes }: FilePart,
): Promise<FoundCreators & { sha256: string }> {
  const { sha256, ...named } = await readNames(bytes);
  return { ...(await findNamed(context, brandId, named)), sha256 };
}
