import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Cells } from '../../kit/operation/csv.ts';
import type { Page } from '../../kit/values/page.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { isRecord } from '../../kit/values/wire.ts';
import { ImportLine, type LineFilter } from './imports.shapes.ts';
import type { ImportRow } from './imports.ts';
import { maskRecord, toShownFault } from './tallies.ts';

type Where = Pick<LineFilter, 'outcome' | 'kind'>;

/** A line as it is stored; one of an earlier version says nothing of the cell. */
function toLine(content: unknown): ImportLine {
  const line = ImportLine.parse(isRecord(content) ? { ...toShownFault(null), ...content } : content);
  return { ...line, record: maskRecord(line.record) };
}

const selectLines = (db: Db, { id, brandId, revision }: ImportRow, { outcome, kind }: Where) =>
  db
    .selectFrom('importLines')
    .where('brandId', '=', brandId)
    .where('importId', '=', id)
    .where('revision', '=', revision)
    .where((eb) => eb.and(omitUndefined({ outcome, kind })));

export async function listLines(db: Db, row: ImportRow, where: Where, { offset, limit }: Page) {
  const total = await countRows(selectLines(db, row, where).select(COUNT));
  const rows = await selectLines(db, row, where)
    .select('content')
    .orderBy('number')
    .offset(offset)
    .limit(limit)
    .execute();
  return { rows: rows.map(({ content }) => toLine(content)), total };
}

const AT_ONCE = 500;

export async function* eachLine(db: Db, row: ImportRow, where: Where): AsyncGenerator<ImportLine> {
  for (let after = 0; ; ) {
    const rows = await selectLines(db, row, where)
      .select(['content', 'number'])
      .where('number', '>', after)
      .orderBy('number')
      .limit(AT_ONCE)
      .execute();
    for (const { content } of rows) yield toLine(content);
    const last = rows.at(-1);
    if (!last) return;
    after = last.number;
  }
}

/** The refused records as a table under the file's own header, with their line and the reason. */
export async function listRefused(db: Db, row: ImportRow, kind?: string): Promise<Cells[]> {
  const headers = (row.reading?.columns ?? []).map(({ header }) => header);
  const table: Cells[] = [[...headers, 'line', 'why']];
  for await (const { cells, line, message, ...refused } of eachLine(db, row, { outcome: 'refused', kind })) {
    const width = Math.max(headers.length, 1);
    for (let at = 0; at < Math.max(cells.length, 1); at += width) {
      const own = cells.slice(at, at + width);
      const paddedCells = [...own, ...Array.from({ length: headers.length - own.length }, () => '')];
      table.push([...paddedCells, line, message ?? refused.kind ?? '']);
    }
  }
  return table;
}
