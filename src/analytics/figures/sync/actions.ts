import { insertOnce } from '../../../kit/engines/clickhouse/insert.ts';
import type { ClickHouse } from '../../../kit/engines/clickhouse/open.ts';
import { tsvText, tsvTime } from '../../../kit/engines/clickhouse/tsv.ts';
import type { SyncedEntry } from './queries.ts';

const COLUMNS = [
  ...['brand_id', 'seq', 'line', 'kind', 'account', 'amount_minor', 'currency'],
  ...['link_id', 'creator_id', 'at', 'recorded_at'],
];

/** One row per posting of the entry. */
function rowsOf({ brandId, seq, kind, currency, linkId, creatorId, postings, recordedAt }: SyncedEntry): string {
  const recorded = tsvTime(recordedAt);
  return postings
    .map(({ account, amount_minor, at }, line) => {
      const facts = [tsvText(brandId), seq, line, kind, account, amount_minor, currency];
      const where = [tsvText(linkId ?? ''), tsvText(creatorId), tsvTime(new Date(at)), recorded];
      return `${[...facts, ...where].join('\t')}\n`;
    })
    .join('');
}

/** Inserts entries into ClickHouse, which adds them to every rollup. Resolves to whether they were sent more than once. */
export async function insertPostings(
  clickhouse: ClickHouse,
  entries: readonly SyncedEntry[],
  token: string,
): Promise<boolean> {
  return await insertOnce(clickhouse, 'ledger_v1', COLUMNS, entries.map(rowsOf).join(''), token);
}
