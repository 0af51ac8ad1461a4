import { randomUUID } from 'node:crypto';
import type { ClickHouse } from '../../../kit/engines/clickhouse/open.ts';
import type { Db } from '../../../kit/engines/postgres/open.ts';
import { chunksOf } from '../../../kit/values/chunks.ts';
import { foldDaysOf, foldMonths, insertCustomerOrders } from './queries.ts';
import { type Line, listPageOfLines, pagesOfLines } from './rows/queries.ts';

const ROWS_AT_ONCE = 50_000;
const DAYS_AT_ONCE = 1_000;
/** An insert of fewer waits for more. */
const ENOUGH_ROWS = 20_000;

/** Rows replace each other by their version, so each insert has its own token and none is left out. */
async function insertRows(clickhouse: ClickHouse, lines: readonly Line[], versions: ReadonlyMap<string, number>) {
  for (const some of chunksOf(lines, ROWS_AT_ONCE)) {
    const rows = some.map(({ brandId, line }) => `${brandId}\t${versions.get(brandId) ?? 0}\t${line}\n`);
    await insertCustomerOrders(clickhouse, rows.join(''), `customers:${randomUUID()}`);
  }
}

/** Inserts rows of orders in the versions of their brands, and sums their days again. */
export async function insertCustomers(
  clickhouse: ClickHouse,
  lines: readonly Line[],
  versions: ReadonlyMap<string, number>,
): Promise<void> {
  await insertRows(clickhouse, lines, versions);
  const days = new Map(lines.map(({ brandId, day }) => [`${brandId} ${day}`, { brandId, day }]));
  for (const some of chunksOf([...days.values()], DAYS_AT_ONCE)) await foldDaysOf(clickhouse, some);
}

/** Inserts all orders of brands, of which ClickHouse has none, in these versions: some of them while the next are read. */
export async function rebuildCustomers(
  clickhouse: ClickHouse,
  db: Db,
  versions: ReadonlyMap<string, number>,
): Promise<void> {
  let lines: Line[] = [];
  for (const brandId of versions.keys()) {
    for await (const page of pagesOfLines(db, brandId)) {
      const enough = lines.length < ENOUGH_ROWS ? [] : lines;
      const [next] = await Promise.all([listPageOfLines(db, brandId, page), insertRows(clickhouse, enough, versions)]);
      lines = [...(enough === lines ? [] : lines), ...next];
    }
  }
  await insertRows(clickhouse, lines, versions);
  await foldMonths(clickhouse, [...versions.keys()]);
}
