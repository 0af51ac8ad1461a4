import { z } from 'zod';
import { postBulk } from '../../../kit/engines/elastic/bulk.ts';
import { countDocuments, getMappingVersion, indexBehind, refreshIndex } from '../../../kit/engines/elastic/indices.ts';
import { ignoreFailure } from '../../../kit/values/errors.ts';
import { formatNumber } from '../../../kit/values/format.ts';
import { newId } from '../../../kit/values/ids.ts';
import { type Change, listChangedFields, settleChanges, stageChanges } from '../../changes/changes.ts';
import { takeOutForgotten } from '../../opt-out/forget.ts';
import { type ForgottenSet, openForgotten } from '../../opt-out/forgotten.ts';
import { DirectoryCreator } from '../../search/creator.shapes.ts';
import { documentFor, toDocument } from '../../search/document.ts';
import { actionLine } from './action-line.ts';
import { hashContent } from './content-hash.ts';
import {
  type DirectoryWrite,
  findImportByIndex,
  finishWrite,
  highestVersion,
  insertWrite,
  updateWrite,
} from './records.ts';
import { assertRejectsPlace, defaultRejectsFile, openRejects, type RejectReason } from './rejects.ts';
import { checkPatch, checkRecord, type Reject, toReject } from './rows.ts';
import type { Source, SourceRecord } from './source.ts';
import { readStored, type StoredCreator } from './stored-creators.ts';
import { type DirectoryEngines, type WaitOptions, withWriterLock } from './writer.ts';

const BATCH_ROWS = 1_000;

export interface WriteRequest extends WaitOptions {
  source: Source;
  rejectsFile?: string | undefined;
  /** The operator's name for the source of the rows. */
  sourceName?: string | undefined;
  onProgress?: (rows: number) => void;
  onNotice?: (notice: string) => void;
}

export interface WriteReport {
  index: string;
  written: number;
  rejected: number;
  /** Rows that were left out because their creators opted out. */
  forgotten: number;
  rejectsFile: string;
  reasons: RejectReason[];
  /** Unknown field names, with the number of rows that had them. */
  unknownFields: Record<string, number>;
  interrupted: boolean;
}

/** The new row of a creator, given the stored one: undefined if there is none, or if the creator is removed. */
interface Intent {
  pk: number;
  apply(before: StoredCreator | undefined): { after: StoredCreator | undefined } | Reject;
}

/** Reads what a record changes, or why it is rejected. */
type ReadIntent = (record: SourceRecord, now: number) => Intent | Reject;

/** The target of a write. */
interface Target {
  engines: DirectoryEngines;
  kind: DirectoryWrite['kind'];
  index: string;
  /** The version of the index's mapping. */
  mapping: number;
  optedOut: ForgottenSet;
}

/** A write to the live index: its record, and its rows in batches. */
async function openWrite(
  { engines, kind, index, mapping, optedOut }: Target,
  request: WriteRequest,
  onReject: (reject: Reject) => void,
) {
  const { elastic, db, clock, alias } = engines;
  await refreshIndex(elastic, index);
  const forgottenBefore = (await findImportByIndex(db, index))?.forgotten ?? 0;
  const before = await countDocuments(elastic, index);
  const startedAt = clock.now();
  // In microseconds: above every row number of an import, and above every earlier write even if a clock was set back.
  let version = Math.max(startedAt.getTime() * 1_000, await highestVersion(db, alias));
  const id = newId('dwr', startedAt.getTime());
  const file = request.source.files.join(', ');
  const record = { id, alias, indexName: index, kind, file, rows: 0, lastVersion: version };
  await insertWrite(db, { ...record, startedAt, finishedAt: null });
  let [writtenRows, forgotten] = [0, 0];
  let intents: Intent[] = [];

  /** One creator's line of the bulk body, and what it changes. */
  function apply(
    intent: Intent,
    creators: Map<number, StoredCreator>,
  ): { line: string; change?: Change } | Reject | undefined {
    const { pk } = intent;
    const was = creators.get(pk);
    const change = intent.apply(was);
    if ('reason' in change) return change;
    const { after } = change;
    const isOut = after !== undefined && optedOut.has(after.row);
    if (isOut) forgotten += 1;
    if (isOut && !was) return undefined;
    version += 1;
    if (!after || isOut) {
      creators.delete(pk);
      const line = actionLine('delete', pk, version);
      return was ? { line, change: { pk, type: isOut ? 'opted_out' : 'removed', fields: [], version } } : { line };
    }
    const fields = was ? listChangedFields(was.row, after.row) : [];
    const hash = hashContent(after.row);
    const changedAt = was && fields.length === 0 ? was.facts.changedAt : startedAt.getTime();
    const facts = { ...after.facts, hash, changedAt };
    creators.set(pk, { row: after.row, facts });
    const document = JSON.stringify(documentFor(mapping, toDocument(after.row, facts)));
    const line = `${actionLine('index', pk, version)}${document}\n`;
    if (was && fields.length === 0) return { line };
    return { line, change: { pk, type: was ? 'updated' : 'added', fields, version } };
  }

  async function send(): Promise<void> {
    if (intents.length === 0) return;
    const creators = await readStored(
      elastic,
      index,
      intents.map(({ pk }) => pk),
    );
    const [lines, changes]: [string[], Change[]] = [[], []];
    for (const intent of intents) {
      const change = apply(intent, creators);
      if (change === undefined) continue;
      if ('reason' in change) onReject(change);
      else {
        lines.push(change.line);
        if (change.change) changes.push(change.change);
      }
    }
    intents = [];
    if (lines.length === 0) return;
    // Recorded first: after a crash the next write must start above the versions that this one may have used, and
    // report the changes that were made.
    const rows = writtenRows + lines.length;
    await updateWrite(db, id, { rows, lastVersion: version });
    if (changes.length > 0) await stageChanges(db, { alias, kind, version: index }, changes);
    await postBulk(elastic, index, lines.join(''), {
      onRetry: (reason) => request.onNotice?.(`Elasticsearch did not accept a batch, trying again: ${reason}`),
    });
    if (changes.length > 0) await db.transaction().execute((trx) => settleChanges(trx, alias, clock.now()));
    writtenRows = rows;
    request.onProgress?.(writtenRows);
  }

  return {
    startedAt,
    add: async (intent: Intent) => {
      intents.push(intent);
      if (intents.length >= BATCH_ROWS) await send();
    },
    send,
    written: () => writtenRows,
    forgotten: () => forgotten,
    /** Makes the rows visible to searches and records the new number of creators. */
    end: async () => {
      await refreshIndex(elastic, index);
      const addedDocuments = (await countDocuments(elastic, index)) - before;
      await finishWrite(db, { id, indexName: index, added: addedDocuments, forgottenBefore, finishedAt: clock.now() });
    },
  };
}

/** Reads a file to its end once, so that one that is damaged further down is not written in part. */
async function assertWhole({ source, signal }: WriteRequest): Promise<void> {
  if (source.identity === null) return;
  for await (const _ of source.read()) signal?.throwIfAborted();
}

async function write(
  engines: DirectoryEngines,
  kind: DirectoryWrite['kind'],
  request: WriteRequest,
  readIntent: ReadIntent,
): Promise<Omit<WriteReport, 'unknownFields'>> {
  const { elastic, alias } = engines;
  const { source, onNotice, signal } = request;
  const index = await indexBehind(elastic, alias);
  if (index === undefined) throw new Error(`There is no directory yet: the alias ${alias} has no index.`);
  const rejectsFile = request.rejectsFile ?? (await defaultRejectsFile(`rejects-${kind}.ndjson`, onNotice));
  await assertRejectsPlace(rejectsFile, source.files);
  await assertWhole(request);
  const rejects = openRejects(rejectsFile);
  let rejectedRows = 0;
  function reject(row: Reject): void {
    rejects.add(row);
    rejectedRows += row.lines;
  }
  const optedOut = await openForgotten(engines);
  const target = { engines, kind, index, mapping: await getMappingVersion(elastic, index), optedOut };
  const rows = await openWrite(target, request, reject);
  let [isInterrupted, isOutdated] = [false, false];
  try {
    for await (const records of source.read()) {
      isOutdated = (await optedOut.refresh()) || isOutdated;
      for (const record of records) {
        const intent = readIntent(record, rows.startedAt.getTime());
        if ('apply' in intent) await rows.add(intent);
        else reject(intent);
      }
      rejects.flush();
      isInterrupted = signal?.aborted ?? false;
      if (isInterrupted) break;
    }
    await rows.send();
    rejects.flush();
    // Rows that were sent while a creator opted out.
    isOutdated = (await optedOut.refresh()) || isOutdated;
    if (isOutdated) await takeOutForgotten(engines, index, optedOut);
  } catch (error) {
    rejects.flush();
    await rows.end().catch(ignoreFailure('the original error is the one to report'));
    const why = error instanceof Error ? error.message : String(error);
    const part = `${formatNumber(rows.written())} rows, which searches see`;
    throw new Error(`${why}\nOnly part of the ${kind} is done: ${part}.`, { cause: error });
  }
  await rows.end();
  const reasons = rejects.reasons();
  return {
    index,
    written: rows.written(),
    rejected: rejectedRows,
    forgotten: rows.forgotten(),
    rejectsFile,
    reasons,
    interrupted: isInterrupted,
  };
}

/** Adds or replaces creators in the live directory. Searches see them when this resolves. */
export async function upsertCreators(engines: DirectoryEngines, request: WriteRequest): Promise<WriteReport> {
  const unknownFields = new Map<string, number>();
  const { sourceName: source } = request;
  const report = await withWriterLock(engines, 'upsert', request, () =>
    write(engines, 'upsert', request, (record, now) => {
      const { row, reject } = checkRecord(record, unknownFields);
      if (reject) return reject;
      return { pk: row.pk, apply: () => ({ after: { row, facts: { importedAt: now, source } } }) };
    }),
  );
  return { ...report, unknownFields: Object.fromEntries(unknownFields) };
}

/** Changes the given fields of creators in the live directory: null clears one, an absent one stays. */
export async function patchCreators(engines: DirectoryEngines, request: WriteRequest): Promise<WriteReport> {
  const unknownFields = new Map<string, number>();
  const { sourceName } = request;
  const report = await withWriterLock(engines, 'patch', request, () =>
    write(engines, 'patch', request, (record, now) => {
      const { row: patch, reject } = checkPatch(record, unknownFields);
      if (reject) return reject;
      const { pk } = patch;
      const apply: Intent['apply'] = (before) => {
        if (!before) return toReject(record, 'pk', 'not_found', 'is not in the directory; `upsert` adds creators.');
        const { row, facts } = before;
        const importedAt = patch.data_as_of === undefined ? facts.importedAt : now;
        const after = { ...row, ...patch, username: patch.username ?? row.username };
        return { after: { row: after, facts: { importedAt, source: sourceName ?? facts.source } } };
      };
      return { pk, apply };
    }),
  );
  return { ...report, unknownFields: Object.fromEntries(unknownFields) };
}

const Deletion = z.union([
  z.object({ pk: DirectoryCreator.shape.pk }).transform(({ pk }) => pk),
  DirectoryCreator.shape.pk,
]);

const NO_PK = { field: 'pk', code: 'invalid_type', reason: 'must be a whole number from 0 to 9007199254740991.' };

/** Removes creators from the live directory: rows with a `pk`, or one number per line. Unknown ones are ignored. */
export async function deleteCreators(engines: DirectoryEngines, request: WriteRequest): Promise<WriteReport> {
  const report = await withWriterLock(engines, 'delete', request, () =>
    write(engines, 'delete', request, (record) => {
      const parsed = record.problem ? undefined : Deletion.safeParse(record.value);
      if (parsed?.success) return { pk: parsed.data, apply: () => ({ after: undefined }) };
      const { field = null, code, reason } = record.problem ?? NO_PK;
      return toReject(record, field, code, reason);
    }),
  );
  return { ...report, unknownFields: {} };
}
