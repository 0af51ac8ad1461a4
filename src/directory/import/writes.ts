import { z } from 'zod';
import { postBulk } from '../../engines/elastic/bulk.ts';
import { countDocuments, indexBehind, mappingVersionOf, refreshIndex } from '../../engines/elastic/indices.ts';
import { ignoreFailure } from '../../values/errors.ts';
import { newId } from '../../values/ids.ts';
import { documentFor, documentOf } from '../document.ts';
import { DirectoryCreator } from '../schema.ts';
import { contentHashOf } from './content-hash.ts';
import { type DirectoryWrite, finishWrite, highestVersion, insertWrite, updateWrite } from './queries.ts';
import { assertRejectsPlace, defaultRejectsFile, openRejects } from './rejects.ts';
import { checkRecord, type Reject, rejectOf } from './rows.ts';
import type { Source, SourceRecord } from './source.ts';
import { asWriter, type DirectoryEngines, type WaitOptions } from './writer.ts';

const BATCH_ROWS = 1_000;

export interface WriteRequest extends WaitOptions {
  source: Source;
  rejectsFile?: string | undefined;
  onProgress?: (rows: number) => void;
  onNotice?: (notice: string) => void;
}

export interface WriteReport {
  index: string;
  written: number;
  rejected: number;
  rejectsFile: string;
  /** Unknown field names, with the number of rows that had them. */
  unknownFields: Record<string, number>;
  interrupted: boolean;
}

/** A record as lines of a bulk body, or why it was rejected. */
type ToLines = (record: SourceRecord, version: number) => string | Reject;

/** A write to the live index: its record, and its rows in batches. */
async function openWrite(
  engines: DirectoryEngines,
  kind: DirectoryWrite['kind'],
  index: string,
  request: WriteRequest,
) {
  const { elastic, db, clock, alias } = engines;
  await refreshIndex(elastic, index);
  const before = await countDocuments(elastic, index);
  const startedAt = clock.now();
  // In microseconds: above every row number of an import, and above every earlier write even if a clock was set back.
  let version = Math.max(startedAt.getTime() * 1_000, await highestVersion(db, alias));
  const id = newId('dwr', startedAt.getTime());
  const file = request.source.files.join(', ');
  const record = {
    id,
    alias,
    indexName: index,
    kind,
    file,
    rows: 0,
    lastVersion: version,
    startedAt,
    finishedAt: null,
  };
  await insertWrite(db, record);
  let written = 0;
  let lines: string[] = [];

  async function send(): Promise<void> {
    if (lines.length === 0) return;
    // Recorded first: after a crash the next write must start above the versions that this one may have used.
    const rows = written + lines.length;
    await updateWrite(db, id, { rows, lastVersion: version });
    await postBulk(elastic, index, lines.join(''), {
      onRetry: (reason) => request.onNotice?.(`Elasticsearch did not accept a batch, trying again: ${reason}`),
    });
    written = rows;
    lines = [];
    request.onProgress?.(written);
  }

  return {
    nextVersion: () => {
      version += 1;
      return version;
    },
    add: async (row: string) => {
      lines.push(row);
      if (lines.length >= BATCH_ROWS) await send();
    },
    send,
    written: () => written,
    /** Makes the rows visible to searches and records the new number of creators. */
    end: async () => {
      await refreshIndex(elastic, index);
      const added = (await countDocuments(elastic, index)) - before;
      await finishWrite(db, { id, indexName: index, added, finishedAt: clock.now() });
    },
  };
}

async function write(
  engines: DirectoryEngines,
  kind: DirectoryWrite['kind'],
  request: WriteRequest,
  toLines: ToLines,
): Promise<Omit<WriteReport, 'unknownFields'>> {
  const { elastic, alias } = engines;
  const { source, onNotice, signal } = request;
  const index = await indexBehind(elastic, alias);
  if (index === undefined) throw new Error(`There is no directory yet: the alias ${alias} has no index.`);
  const rejectsFile = request.rejectsFile ?? (await defaultRejectsFile(`rejects-${kind}.ndjson`, onNotice));
  await assertRejectsPlace(rejectsFile, source.files);
  const rejects = openRejects(rejectsFile);
  const rows = await openWrite(engines, kind, index, request);
  let rejected = 0;
  let interrupted = false;
  try {
    for await (const records of source.read()) {
      for (const record of records) {
        const made = toLines(record, rows.nextVersion());
        if (typeof made === 'string') await rows.add(made);
        else {
          rejects.add(made);
          rejected += made.lines;
        }
      }
      rejects.flush();
      interrupted = signal?.aborted ?? false;
      if (interrupted) break;
    }
    await rows.send();
  } catch (error) {
    rejects.flush();
    await rows.end().catch(ignoreFailure('the original error is the one to report'));
    const why = error instanceof Error ? error.message : String(error);
    const part = `${rows.written().toLocaleString('en')} rows, which searches see`;
    throw new Error(`${why}\nOnly part of the ${kind} is done: ${part}.`, { cause: error });
  }
  await rows.end();
  return { index, written: rows.written(), rejected, rejectsFile, interrupted };
}

const actionLine = (action: 'index' | 'delete', pk: number, version: number) =>
  `{"${action}":{"_id":"${pk}","version":${version},"version_type":"external_gte"}}\n`;

/** Adds or replaces creators in the live directory. Searches see them when this resolves. */
export async function upsertCreators(engines: DirectoryEngines, request: WriteRequest): Promise<WriteReport> {
  const unknownFields = new Map<string, number>();
  const importedAt = engines.clock.now().getTime();
  const report = await asWriter(engines, 'upsert', request, async () => {
    const live = await indexBehind(engines.elastic, engines.alias);
    const mapping = live === undefined ? 1 : await mappingVersionOf(engines.elastic, live);
    return await write(engines, 'upsert', request, (record, version) => {
      const { row, reject } = checkRecord(record, unknownFields);
      if (reject) return reject;
      const document = documentFor(mapping, documentOf(row, { importedAt, hash: contentHashOf(row) }));
      return `${actionLine('index', row.pk, version)}${JSON.stringify(document)}\n`;
    });
  });
  return { ...report, unknownFields: Object.fromEntries(unknownFields) };
}

const Deletion = z.union([
  z.object({ pk: DirectoryCreator.shape.pk }).transform(({ pk }) => pk),
  DirectoryCreator.shape.pk,
]);

const NO_PK = { code: 'invalid_type', reason: 'must be a whole number from 0 to 9007199254740991.' };

/** Removes creators from the live directory: rows with a `pk`, or one number per line. Unknown ones are ignored. */
export async function deleteCreators(engines: DirectoryEngines, request: WriteRequest): Promise<WriteReport> {
  const report = await asWriter(engines, 'delete', request, () =>
    write(engines, 'delete', request, (record, version) => {
      const parsed = record.problem ? undefined : Deletion.safeParse(record.value);
      if (parsed?.success) return actionLine('delete', parsed.data, version);
      const { code, reason } = record.problem ?? NO_PK;
      return rejectOf(record, record.problem ? null : 'pk', code, reason);
    }),
  );
  return { ...report, unknownFields: {} };
}
