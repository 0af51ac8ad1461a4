import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import { readTable } from '../../../platform/imports/reading/read-table.ts';
import type { Reading } from '../../../platform/imports/reading/shapes.ts';
import { DirectoryCreatorDetail } from '../../search/creator.shapes.ts';

/** Columns of a CSV by our fields, and how it is written. */
export const DirectoryMapping = z.strictObject({
  columns: z.partialRecord(
    z.enum([...DirectoryCreatorDetail.keyof().options, 'data_as_of']),
    z.string().trim().min(1).max(500).nullable(),
  ),
  rate: z.enum(['percent', 'fraction']).exactOptional(),
  separator: z.string().length(1).exactOptional(),
  header_line: z.int().min(0).max(1_000).exactOptional(),
  encoding: z.string().max(40).exactOptional(),
});
export type DirectoryMapping = z.output<typeof DirectoryMapping>;

declare module '../../../kit/engines/postgres/columns.ts' {
  interface ColumnShapes {
    'directoryImports.mapping': DirectoryMapping;
    'directoryMappings.mapping': DirectoryMapping;
  }
}

/** A mapping, and the source that keys are made of where rows have none. */
export interface MappedSource {
  mapping: DirectoryMapping;
  source: string;
}

/** Keys that are made lie above all that a platform gives: 2^52 and 52 bits of a digest. */
export function makePk(source: string, username: string): number {
  const digest = createHash('sha256').update(`${source}\n${username.toLowerCase()}`).digest();
  return 2 ** 52 + Number(digest.readBigUInt64BE() >> 12n);
}

/** The reading of the first rows of a file, with a mapping that settles what it leaves open. */
export async function readOpening(name: string, head: Buffer, mapping: Partial<DirectoryMapping>): Promise<Reading> {
  async function* read(range = { start: 0, end: head.length - 1 }) {
    yield head.subarray(range.start, range.end + 1);
  }
  const brand = { currency: 'USD', timeZone: 'UTC', stores: [] };
  const request = { of: 'directory' as const, mapping: { ...mapping }, brand, now: new Date() };
  return (await readTable({ name, sizeBytes: head.length, read }, request)).reading;
}

/** The mapping that a reading comes to. */
export function toMapping({ columns, text }: Reading, { rate }: Partial<DirectoryMapping>): DirectoryMapping {
  const usedColumns = columns.flatMap(({ field, header }) => (field === null ? [] : [[field, header] as const]));
  return DirectoryMapping.parse({
    columns: Object.fromEntries(usedColumns),
    separator: text.separator,
    header_line: text.header_line ?? 0,
    encoding: text.encoding,
    ...(rate === undefined ? {} : { rate }),
  });
}

const hashHeaders = (headers: readonly string[]) =>
  createHash('sha256')
    .update(JSON.stringify(headers.map((header) => header.trim().toLowerCase())))
    .digest('hex');

interface Header {
  alias: string;
  source: string;
  headers: readonly string[];
}

/** The mapping that was accepted for files of the source with this header. */
export async function findMapping(db: Db, { alias, source, headers }: Header): Promise<DirectoryMapping | undefined> {
  const row = await db
    .selectFrom('directoryMappings')
    .select('mapping')
    .where('alias', '=', alias)
    .where('source', '=', source)
    .where('headerHash', '=', hashHeaders(headers))
    .executeTakeFirst();
  return row?.mapping;
}

export async function storeMapping(db: Db, { alias, source, headers }: Header, mapping: DirectoryMapping, now: Date) {
  const change = { mapping: JSON.stringify(mapping), updatedAt: now };
  await db
    .insertInto('directoryMappings')
    .values({ alias, source, headerHash: hashHeaders(headers), ...change })
    .onConflict((conflict) => conflict.columns(['alias', 'source', 'headerHash']).doUpdateSet(change))
    .execute();
}
