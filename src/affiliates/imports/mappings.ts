import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { newId } from '../../kit/values/ids.ts';
import { mergeMappings } from '../../platform/imports/reading/doubts.ts';
import type { Mapping } from '../../platform/imports/reading/shapes.ts';
import type { ImportRow } from './imports.ts';

declare module '../../kit/engines/postgres/columns.ts' {
  interface ColumnShapes {
    'importMappings.mapping': Mapping;
  }
}

export const mappings = listing({
  noun: 'stored mapping',
  table: 'importMappings',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  matching: (db) => db.selectFrom('importMappings'),
  rows: (db) => db.selectFrom('importMappings').selectAll(),
});
export type MappingRow = Awaited<ReturnType<typeof mappings.get>>;

const hashHeaders = (headers: readonly string[]) =>
  createHash('sha256')
    .update(JSON.stringify(headers.map((header) => header.trim().toLowerCase())))
    .digest('hex');

type Source = Pick<ImportRow, 'brandId' | 'of' | 'source'>;

/** What earlier imports of the source said about files with this header. */
export async function findMapping(
  db: Db,
  { brandId, of, source }: Source,
  headers: readonly string[],
): Promise<Mapping | undefined> {
  const row = await db
    .selectFrom('importMappings')
    .select('mapping')
    .where('brandId', '=', brandId)
    .where('of', '=', of)
    .where('source', '=', source)
    .where('headerHash', '=', hashHeaders(headers))
    .executeTakeFirst();
  return row?.mapping;
}

/** Keeps what was said about a confirmed file for the next one of its source with the same header. */
export async function storeMapping({ db, now, brandId }: Work, row: ImportRow): Promise<void> {
  const headers = (row.reading?.columns ?? []).map(({ header }) => header);
  const said = mergeMappings(row.stored ?? {}, row.mapping);
  const { sheet: _sheet, header_line: _line, separator: _separator, totals: _totals, ...kept } = said;
  // The day on which the payments of a list were made is that list's own.
  const { paid_at: _paidAt, ...constants } = kept.constants ?? {};
  const mapping = { ...kept, ...(kept.constants && { constants }) };
  if (headers.length === 0 || Object.keys(mapping).length === 0) return;
  await db
    .insertInto('importMappings')
    .values({
      id: newId('imm', now.getTime()),
      brandId,
      of: row.of,
      source: row.source,
      headers,
      headerHash: hashHeaders(headers),
      mapping: JSON.stringify(mapping),
      createdAt: now,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['brandId', 'of', 'source', 'headerHash'])
        .doUpdateSet({ mapping: sql<string>`excluded.mapping`, updatedAt: now }),
    )
    .execute();
}
