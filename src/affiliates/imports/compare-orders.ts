import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Work } from '../../kit/operation/work.ts';
import { mergeMappings } from '../../platform/imports/reading/doubts.ts';
import { assertBelowLimit, type JobRow } from '../../platform/jobs/jobs.ts';
import { listColumns } from '../reconciliations/compare.ts';
import { startReconciliation } from '../reconciliations/reconciliations.ts';
import type { ImportRow } from './imports.ts';
import { isKnown, isNew, selectRecords, type Writer } from './writer.ts';

const foldNumber = (number: string) => number.replace(/^#+/, '').toLowerCase();

async function listOwn(db: Db, { brandId, integrationId }: ImportRow, names: readonly string[]) {
  const { rows } = await sql<{ id: string; orderId: string; orderNumber: string | null }>`
    select id, order_id, order_number from orders where brand_id = ${brandId} and integration_id = ${integrationId}
      and (order_id = any(${names}::text[]) or lower(ltrim(order_number, '#')) = any(${names.map(foldNumber)}::text[]))
    order by id`.execute(db);
  return rows;
}

/** Orders of a store's file that we have, and those that are missing here. The job finds all other differences. */
export const judgeCompared: Writer['judge'] = async (db, row, lines) => {
  const records = selectRecords(lines, 'compared');
  const names = records.flatMap(({ record: { order_id: id, order_number: number } }) =>
    id === null ? [number?.replace(/^#/, '') ?? '', number ?? ''] : [id],
  );
  const own = await listOwn(db, row, names);
  const byId = new Map(own.map((order) => [order.orderId, order.id]));
  const byNumber = new Map(own.map(({ id, orderNumber }) => [foldNumber(orderNumber ?? ''), id]));
  return records.map(({ line, record: { order_id: id, order_number: number } }) => {
    const knownOrder =
      byId.get(id ?? number?.replace(/^#/, '') ?? '') ?? (id === null && byNumber.get(foldNumber(number ?? '')));
    return knownOrder ? isKnown(line, knownOrder) : isNew(line);
  });
};

/** Starts the comparison that a reading was confirmed for. Its job takes the file over. */
export async function startComparison(work: Work, row: ImportRow): Promise<Pick<JobRow, 'id'>> {
  const { integrationId, storageKey, plan, sha256, fileName: name, sizeBytes } = row;
  if (integrationId === null || storageKey === null || plan === null)
    throw new Error('A confirmed comparison has no store, file or plan.');
  await assertBelowLimit(work);
  const request = {
    integration_id: integrationId,
    file: name,
    columns: listColumns(plan),
    mapping: mergeMappings(row.stored ?? {}, row.mapping),
    from: null,
    until: null,
    time_zone: 'UTC',
  };
  const file = { name, mimeType: 'application/octet-stream', storageKey, sizeBytes, sha256 };
  return await startReconciliation(work, request, plan, file);
}
