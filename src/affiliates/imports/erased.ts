import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { toAsciiAddress, toMailbox } from '../../kit/values/email.ts';
import { keyedHash, type Secrets } from '../../kit/values/secrets.ts';
import type { Line, ReadRecord } from '../../platform/imports/reading/shapes.ts';
import { getSalt, hashEmail } from '../orders/customers.ts';
import type { ImportRow } from './imports.ts';

/** Says why an import ended of which the file named somebody who was erased. */
const FILE_NAMED_ERASED = 'It named somebody who was erased. The file was removed; send it again without them.';

/** The kind and the reason of a line that names somebody who was erased before it was written. */
const ERASED_KIND = 'erased';
const ERASED_REASON = 'It named somebody who was erased before it was recorded.';

/** The rest of a line that names somebody who was erased: the whole line was about them. */
export const NO_LINE = sql`'{"cells": [], "record": null, "value": null}'::jsonb`;

/** A field of a record that names somebody, in files of one source or of any: `instagram:ana`, `order_id:1001`. */
export interface Fact {
  fact: string;
  source: string | null;
}

type FactKind = 'instagram' | 'tiktok' | 'handle' | 'order_id';
export const toFact = (kind: FactKind, value: string): string =>
  `${kind}:${value
    .trim()
    .replace(kind === 'order_id' ? /^#+/ : /^@+/, '')
    .toLowerCase()}`;

const isText = (value: string | null): value is string => value !== null;

/** An address of a creator, as a keyed hash of exactly this spelling. */
const hashName = (salt: Buffer, name: string): string =>
  keyedHash(salt, `person ${toAsciiAddress(name).toLowerCase()}`).toString('hex');

/** An address of a buyer, as keyed hashes by which it is known in every spelling. */
const hashBuyer = (salt: Buffer, email: string): string[] =>
  [email, toMailbox(email)].map((one) => hashEmail(salt, one).toString('hex'));

const hashFact = (salt: Buffer, { fact, source }: Fact): string =>
  keyedHash(salt, `fact ${source ?? ''} ${fact}`).toString('hex');

/** People who are erased: addresses of creators and of buyers, and by what else a record names them. */
interface ErasedPeople {
  creators?: readonly string[];
  buyers?: readonly string[];
  facts?: readonly Fact[];
}

/** Hashes by which an import knows people who were erased since its file was sent. */
export async function hashErased(db: Db, secrets: Secrets, people: ErasedPeople): Promise<string[]> {
  const { creators = [], buyers = [], facts = [] } = people;
  const salt = await getSalt(db, secrets);
  const names = creators.filter((name) => /\S@/.test(name) && !/\s/.test(name));
  return [
    ...new Set([
      ...names.map((name) => hashName(salt, name)),
      ...buyers.flatMap((one) => hashBuyer(salt, one)),
      ...facts.map((fact) => hashFact(salt, fact)),
    ]),
  ];
}

function listFacts(record: ReadRecord): string[] {
  const valuesByKind: Partial<Record<FactKind, string | null>> =
    record.kind === 'order'
      ? { order_id: record.order_id ?? record.order_number }
      : record.kind === 'person'
        ? { instagram: record.instagram, tiktok: record.tiktok }
        : { handle: record.kind === 'paid' ? record.handle : null };
  return (['instagram', 'tiktok', 'handle', 'order_id'] as const).flatMap((kind) => {
    const value = valuesByKind[kind];
    return value ? [toFact(kind, value)] : [];
  });
}

function listHashes(salt: Buffer, source: string, record: ReadRecord): string[] {
  const facts = listFacts(record).flatMap((fact) => [null, source].map((of) => hashFact(salt, { fact, source: of })));
  if (record.kind === 'order') {
    return [...facts, ...[record.customer_email].filter(isText).flatMap((one) => hashBuyer(salt, one))];
  }
  if (record.kind !== 'person' && record.kind !== 'paid') return [];
  const addresses = record.kind === 'person' ? [record.email, record.payment_email] : [record.email];
  return [...facts, ...addresses.filter(isText).map((name) => hashName(salt, name))];
}

/** Asks of lines if they name somebody who was erased since the file was sent. */
interface FindErased {
  inRecord(line: Line): boolean;
  /** Also in a cell that is read as nothing. */
  inLine(line: Line): boolean;
}

export async function openErased(
  db: Db,
  secrets: Secrets,
  { erasedHashes, source }: Pick<ImportRow, 'erasedHashes' | 'source'>,
): Promise<FindErased> {
  if (erasedHashes.length === 0) return { inRecord: () => false, inLine: () => false };
  const salt = await getSalt(db, secrets);
  const hashes = new Set(erasedHashes);
  const has = (some: readonly string[]) => some.some((hash) => hashes.has(hash));
  const inRecord = ({ record }: Line) => record !== null && has(listHashes(salt, source, record));
  const inCell = (cell: string) =>
    /^\s*@/.test(cell)
      ? has([hashFact(salt, { fact: toFact('handle', cell), source: null })])
      : has([hashName(salt, cell.trim()), ...hashBuyer(salt, cell)]);
  return {
    inRecord,
    inLine: (line) => inRecord(line) || line.cells.flat().some((cell) => cell.includes('@') && inCell(cell)),
  };
}

/** The line without whom it names: an order stays, as one of nobody; what else it would record does not. */
function eraseLine(line: Line): Line {
  const nobody = { ...line, cells: [], fault: null };
  if (line.record?.kind === 'order') return { ...nobody, record: { ...line.record, customer_email: null } };
  const message = `Line ${line.line}: ${ERASED_REASON}`;
  return { ...nobody, record: null, known_by: null, outcome: 'refused', kind: ERASED_KIND, message };
}

/**
 * Takes people out of lines who were erased since the file was sent, and says so of lines that are not recorded for it. Call it
 * in the transaction that records them, with the import locked.
 */
export async function takeErased(
  db: Db,
  secrets: Secrets,
  row: Pick<ImportRow, 'id' | 'brandId' | 'revision' | 'source' | 'erasedHashes'>,
  lines: readonly Line[],
): Promise<Line[]> {
  const erased = await openErased(db, secrets, row);
  const leftLines = lines.map((line) => (erased.inRecord(line) ? eraseLine(line) : line));
  if (leftLines.every((line, i) => line === lines[i])) return leftLines;
  await sql`update imports set names_erased = true where brand_id = ${row.brandId} and id = ${row.id}`.execute(db);
  const refusals = leftLines.filter(({ kind }) => kind === ERASED_KIND);
  await sql`
    update import_lines as own set outcome = 'refused', kind = ${ERASED_KIND}, content = own.content || ${NO_LINE}
      || jsonb_build_object('outcome', 'refused', 'kind', ${ERASED_KIND}::text, 'message', given.message, 'known_id', null)
    from unnest(${refusals.map(({ line }) => line)}::int[], ${refusals.map(({ message }) => message)}::text[])
      as given (line, message)
    where own.brand_id = ${row.brandId} and own.import_id = ${row.id} and own.revision = ${row.revision}
      and (own.content ->> 'line')::int = given.line`.execute(db);
  return leftLines;
}

/** The time at which an import's file is removed: at once if it named somebody who was erased. */
export const toFileEnd = (now: Date, keptMs: number) =>
  sql<Date>`case when names_erased then ${now} else ${new Date(now.getTime() + keptMs)} end::timestamptz`;

/** Ends imports that were not confirmed, because their files name somebody who was erased. */
export async function endNamingErased(
  { db, brandId, now }: Work,
  ids: readonly string[],
  fileEndsAt: Date,
): Promise<void> {
  await sql`
    update imports set status = 'failed', error = ${FILE_NAMED_ERASED}, names_erased = true, ended_at = ${now},
      updated_at = ${now}, due_at = ${fileEndsAt}
    where brand_id = ${brandId} and id = any(${[...ids]}::text[])
      and status in ('reading', 'needs_answers', 'ready', 'refused')`.execute(db);
}
