import { z } from 'zod';
import { postBulk } from '../../../../engines/elastic/bulk.ts';
import { indexBehind, refreshIndex } from '../../../../engines/elastic/indices.ts';
import { newId } from '../../../../ids.ts';
import { documentOf } from '../document.ts';
import { DirectoryCreator } from '../schema.ts';
import { type DirectoryWrite, highestVersion, insertWrite, updateWrite } from './queries.ts';
import { openRejects } from './rejects.ts';
import { checkRecord, type Reject } from './rows.ts';
import type { Source, SourceRecord } from './source.ts';
import { asWriter, type DirectoryEngines, type WaitOptions } from './writer.ts';

const BATCH_ROWS = 1_000;

export interface WriteRequest extends WaitOptions {
  source: Source;
  rejectsFile: string;
  onProgress?: (rows: number) => void;
  onNotice?: (notice: string) => void;
}

export interface WriteReport {
  index: string;
  written: number;
  rejected: number;
  /** Names of fields that are not the API's, with the rows that had them. */
  unknownFields: Record<string, number>;
  interrupted: boolean;
}

/** A record as lines of a bulk body, or why not. */
type ToLines = (record: SourceRecord, version: number) => string | Reject;

async function write(
  engines: DirectoryEngines,
  kind: DirectoryWrite['kind'],
  request: WriteRequest,
  toLines: ToLines,
): Promise<Omit<WriteReport, 'unknownFields'>> {
  const { elastic, db, clock, alias } = engines;
  const index = await indexBehind(elastic, alias);
  if (index === undefined) throw new Error(`There is no directory yet: nothing is behind the alias ${alias}.`);
  const startedAt = clock.now();
  // In microseconds: above every row number of an import, and above every earlier write even if a clock went back.
  let version = Math.max(startedAt.getTime() * 1_000, await highestVersion(db, alias));
  const rejects = openRejects(request.rejectsFile);
  const id = newId('dwr', startedAt.getTime());
  const file = request.source.files.join(', ');
  await insertWrite(db, {
    id,
    alias,
    indexName: index,
    kind,
    file,
    rows: 0,
    lastVersion: version,
    startedAt,
    finishedAt: null,
  });

  const report = { index, written: 0, rejected: 0, interrupted: false };
  let lines: string[] = [];
  async function send(): Promise<void> {
    if (lines.length === 0) return;
    // Recorded first: after a crash the next write must start above what this one may have used.
    const rows = report.written + lines.length;
    await updateWrite(db, id, { rows, lastVersion: version, finishedAt: null });
    await postBulk(elastic, index ?? '', lines.join(''), {
      onRetry: (reason) => request.onNotice?.(`Elasticsearch did not take a batch, trying again: ${reason}`),
    });
    report.written = rows;
    lines = [];
    request.onProgress?.(report.written);
  }

  for await (const records of request.source.read()) {
    for (const record of records) {
      version += 1;
      const made = toLines(record, version);
      if (typeof made === 'string') lines.push(made);
      else {
        rejects.add(made);
        report.rejected += 1;
      }
      if (lines.length >= BATCH_ROWS) await send();
    }
    rejects.flush();
    report.interrupted = request.signal?.aborted ?? false;
    if (report.interrupted) break;
  }
  await send();
  await refreshIndex(elastic, index);
  await updateWrite(db, id, { rows: report.written, lastVersion: version, finishedAt: clock.now() });
  return report;
}

const actionLine = (action: 'index' | 'delete', pk: number, version: number) =>
  `{"${action}":{"_id":"${pk}","version":${version},"version_type":"external_gte"}}\n`;

/** Adds or replaces creators in the live directory; a search sees them when this resolves. */
export async function upsertCreators(engines: DirectoryEngines, request: WriteRequest): Promise<WriteReport> {
  const unknownFields = new Map<string, number>();
  const report = await asWriter(engines, 'upsert', request, () =>
    write(engines, 'upsert', request, (record, version) => {
      const { row, reject } = checkRecord(record, unknownFields);
      return reject ?? `${actionLine('index', row.pk, version)}${JSON.stringify(documentOf(row))}\n`;
    }),
  );
  return { ...report, unknownFields: Object.fromEntries(unknownFields) };
}

const Deletion = z.union([
  z.object({ pk: DirectoryCreator.shape.pk }).transform(({ pk }) => pk),
  DirectoryCreator.shape.pk,
]);

/** Removes creators from the live directory: rows with a `pk`, or bare numbers, one a line. Unknown ones are no error. */
export async function deleteCreators(engines: DirectoryEngines, request: WriteRequest): Promise<WriteReport> {
  const report = await asWriter(engines, 'delete', request, () =>
    write(engines, 'delete', request, (record, version) => {
      const parsed = record.problem ? undefined : Deletion.safeParse(record.value);
      if (parsed?.success) return actionLine('delete', parsed.data, version);
      const { file, line, text, problem } = record;
      const reason = problem?.reason ?? 'must be a whole number from 0 to 9007199254740991.';
      return { file, line, field: 'pk', code: problem?.code ?? 'invalid_type', reason, row: text.slice(0, 200) };
    }),
  );
  return { ...report, unknownFields: {} };
}
