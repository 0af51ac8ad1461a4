import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { endNamingErased, NO_LINE } from '../imports/erased.ts';
import { KEPT_MS } from '../imports/imports.ts';
import { listRows, type Removed, type TakenRow } from './erase.ts';
import { type Names, patterns, replaceNames } from './names.ts';

/** Imports that have not ended, of which something may still be recorded. */
const UNENDED = sql`('reading', 'needs_answers', 'ready', 'refused', 'running')`;

/** Holds files that are being recorded until the erasure is committed: the next batch knows of it. Call it before any other lock. */
export const holdImports = async ({ db, brandId }: Work) =>
  await sql`select id from imports where brand_id = ${brandId} and status in ${UNENDED} order by id for update`.execute(
    db,
  );

const isNobody = ({ texts, facts }: Names): boolean => texts.length === 0 && facts.length === 0;

/** The facts that count in a file of this source. */
const ofSource = (source: RawBuilder<unknown>, { facts }: Names) => sql`array(
  select one.fact from unnest(${facts.map(({ fact }) => fact)}::text[], ${facts.map((one) => one.source)}::text[])
    as one (fact, source) where one.source is null or one.source = ${source})`;

const IMPORT_SOURCE = sql`own.source`;
const LINE_SOURCE = sql`(select source from imports where imports.id = own.import_id)`;

/** True of a line, or a reading, that names the person. */
function isNaming(content: RawBuilder<unknown>, source: RawBuilder<unknown>, names: Names) {
  const values = names.facts.map(({ fact }) => fact.slice(fact.indexOf(':') + 1));
  const quick = sql`${content}::text ilike ${patterns([...names.texts, ...values])}`;
  return sql`(${quick} and names_person(${content}, ${[...names.expressions]}::text[], ${ofSource(source, names)}))`;
}

/** Rows of imports whose files name a person, and the lines that do. */
export async function listImported(db: Db, brandId: string, names: Names): Promise<Map<string, TakenRow[]>> {
  if (isNobody(names)) return new Map();
  const lines = await listRows(
    db,
    'import_lines',
    sql`own.brand_id = ${brandId} and ${isNaming(sql`own.content`, LINE_SOURCE, names)}`,
  );
  const ids = [...new Set(lines.map(({ import_id: id }) => String(id)))];
  const rows = await listRows(db, 'imports', sql`own.brand_id = ${brandId} and own.id = any(${ids}::text[])`);
  const toShown = ({ id, of, source, file_name: fileName, status, created_at: createdAt }: TakenRow) => ({
    id,
    of,
    source,
    file_name: fileName,
    status,
    created_at: createdAt,
  });
  return new Map([
    ['imports', rows.map(toShown)],
    ['import_lines', lines],
  ]);
}

interface ErasedImports {
  removed: Removed;
  /** The storage keys of files that go. */
  files: string[];
}

/**
 * Takes a person out of imports. A file that names them goes: at once, and with the import if it was not confirmed; of one that is
 * being recorded when it has ended. `hashes` are what a batch that is still to come knows them by, also where their names are
 * another person's as well.
 */
export async function eraseImported(work: Work, names: Names, hashes: readonly string[]): Promise<ErasedImports> {
  const { db, brandId } = work;
  const erased = isNobody(names) ? { removed: {}, files: [] } : await eraseNaming(work, names);
  await sql`
    update imports set erased_hashes = erased_hashes || ${[...hashes]}::text[]
    where brand_id = ${brandId} and status in ${UNENDED}`.execute(db);
  return erased;
}

async function eraseNaming(work: Work, names: Names): Promise<ErasedImports> {
  const { db, brandId, now } = work;
  const { rows: naming } = await sql<{ id: string; storageKey: string | null; status: string }>`
    select id, storage_key, status from imports as own where brand_id = ${brandId} and (
      exists (select from import_lines as line where line.brand_id = ${brandId} and line.import_id = own.id
        and ${isNaming(sql`line.content`, IMPORT_SOURCE, names)})
      or ${isNaming(sql`own.reading`, IMPORT_SOURCE, names)}) order by id for update`.execute(db);
  const taken = naming.filter(({ status }) => status !== 'running');
  const ids = (rows: readonly { id: string }[]) => sql`any(${rows.map(({ id }) => id)}::text[])`;
  await sql`update imports set storage_key = null where brand_id = ${brandId} and id = ${ids(taken)}`.execute(db);
  await sql`update imports set names_erased = true
    where brand_id = ${brandId} and id = ${ids(naming)} and status = 'running'`.execute(db);
  await endNamingErased(
    work,
    taken.map(({ id }) => id),
    new Date(now.getTime() + KEPT_MS),
  );
  await sql`
    update imports as own set reading = ${replaceNames(
      sql`forget_lines(own.reading, ${[...names.expressions]}::text[], ${ofSource(IMPORT_SOURCE, names)})`,
      names,
    )} where own.brand_id = ${brandId} and own.id = ${ids(naming)} and own.reading is not null`.execute(db);
  const columns = ['mapping', 'options', 'plan', 'stored', 'result'].map((name) => sql`own.${sql.ref(name)}`);
  const changes = ['mapping', 'options', 'plan', 'stored', 'result'].map(
    (name) => sql`${sql.ref(name)} = ${replaceNames(sql`own.${sql.ref(name)}`, names)}`,
  );
  await sql`update imports as own set ${sql.join(changes)}
    where own.brand_id = ${brandId} and concat_ws(' ', ${sql.join(columns)}) ilike ${patterns(names.texts)}`.execute(
    db,
  );
  const lines = await sql`
    update import_lines as own set content = ${replaceNames(sql`own.content || ${NO_LINE}`, names)}
    where own.brand_id = ${brandId} and ${isNaming(sql`own.content`, LINE_SOURCE, names)}`.execute(db);
  const counts = { imports: naming.length, import_lines: Number(lines.numAffectedRows ?? 0) };
  return {
    removed: Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)),
    files: taken.flatMap(({ storageKey }) => storageKey ?? []),
  };
}
