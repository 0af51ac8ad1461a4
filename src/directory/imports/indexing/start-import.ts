import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import { createQuietIndex, deleteIndex, indexExists } from '../../../kit/engines/elastic/indices.ts';
import { formatNumber } from '../../../kit/values/format.ts';
import { newId } from '../../../kit/values/ids.ts';
import { Bounds, DEFAULT_BOUNDS } from './bounds.ts';
import { fileName } from './files.ts';
import type { ImportRequest } from './import.ts';
import { readDefinition } from './index-definition.ts';
import { type DirectoryImport, findUnfinished, hasChangedSince, insertImport, updateImport } from './records.ts';
import { assertRejectsPlace, defaultRejectsFile } from './rejects.ts';
import type { Source } from './source.ts';
import type { DirectoryEngines } from './writer.ts';

/** An enqueued import has nothing left to do. */
export class ImportEnded extends Error {}

export const DEFAULT_MAX_REJECTS = '1%';

/** Identifies the files and the mapping together, because a changed mapping needs another index. */
export async function identifySource(source: Source): Promise<string | null> {
  if (source.identity === null) return null;
  const { text } = await readDefinition();
  return createHash('sha256').update(`${source.identity}\n${text}`).digest('hex');
}

/** The recorded options of an import; the newest command's win. */
export type ImportOptions = Pick<ImportRequest, 'maxRejects' | 'rejectsFile' | 'bounds' | 'sourceName' | 'mapping'>;

export const parseBounds = (row: Pick<DirectoryImport, 'bounds'>): Bounds => Bounds.parse(row.bounds ?? DEFAULT_BOUNDS);

export function toImportOptions(
  { maxRejects, rejectsFile, bounds, sourceName }: ImportOptions,
  before: Pick<DirectoryImport, 'bounds'> = { bounds: null },
): Partial<Pick<DirectoryImport, 'maxRejects' | 'rejectsFile' | 'bounds' | 'source'>> {
  return {
    ...(sourceName === undefined ? {} : { source: sourceName }),
    ...(bounds === undefined ? {} : { bounds: { ...parseBounds(before), ...bounds } }),
    ...(maxRejects === undefined ? {} : { maxRejects }),
    ...(rejectsFile === undefined ? {} : { rejectsFile: path.resolve(rejectsFile) }),
  };
}

export async function newImport(
  { alias, clock }: Pick<DirectoryEngines, 'alias' | 'clock'>,
  request: ImportOptions & Pick<ImportRequest, 'source' | 'onNotice'>,
): Promise<DirectoryImport> {
  const now = clock.now();
  const id = newId('imp', now.getTime());
  const {
    maxRejects = DEFAULT_MAX_REJECTS,
    rejectsFile,
    bounds = DEFAULT_BOUNDS,
    source = null,
  } = toImportOptions(request);
  const rejects = rejectsFile ?? (await defaultRejectsFile(`rejects-${id}.ndjson`, request.onNotice));
  await assertRejectsPlace(rejects, request.source.files);
  return {
    id,
    alias,
    state: 'queued',
    indexName: null,
    identity: await identifySource(request.source),
    files: request.source.files,
    maxRejects,
    rejectsFile: rejects,
    enqueued: false,
    position: 0,
    progress: null,
    accepted: 0,
    rejected: 0,
    documents: null,
    failure: null,
    startedAt: now,
    updatedAt: now,
    swappedAt: null,
    retiredAt: null,
    bounds,
    fill: null,
    comparison: null,
    reasons: null,
    forgotten: 0,
    source,
    mapping: request.mapping ?? null,
  };
}

function newIndexName(alias: string, now: Date): string {
  return `${alias}-${now.toISOString().slice(0, 10).replaceAll('-', '')}-${randomBytes(4).toString('hex')}`;
}

/** Gives the import a new, empty index in place of the one that it may have. */
export async function startBuilding(engines: DirectoryEngines, row: DirectoryImport): Promise<DirectoryImport> {
  const { elastic, db, clock, alias } = engines;
  if (row.indexName) await deleteIndex(elastic, row.indexName);
  const now = clock.now();
  const indexName = newIndexName(alias, now);
  const change = { state: 'building' as const, indexName, position: 0, failure: null, startedAt: now, updatedAt: now };
  const { maxRejects, rejectsFile, bounds, source } = row;
  // The row comes first, because an index without a record would never be removed.
  await updateImport(db, row.id, { ...change, maxRejects, rejectsFile, bounds, source });
  await createQuietIndex(elastic, indexName, (await readDefinition(engines.layout)).definition);
  return { ...row, ...change };
}

async function startNew(engines: DirectoryEngines, fresh: DirectoryImport): Promise<DirectoryImport> {
  await insertImport(engines.db, fresh);
  return await startBuilding(engines, fresh);
}

/** The import to continue, or a new one. */
export async function beginImport(engines: DirectoryEngines, request: ImportRequest): Promise<DirectoryImport> {
  const { elastic, db, clock, alias } = engines;
  const identity = await identifySource(request.source);
  const unfinishedImport = identity === null ? undefined : await findUnfinished(db, alias, identity);
  if (request.isEnqueued && !unfinishedImport) throw new ImportEnded('The import has already ended.');
  if (!unfinishedImport) return await startNew(engines, await newImport(engines, request));
  if (unfinishedImport.state !== 'queued' && request.restart) {
    const fresh = await newImport(engines, request);
    if (unfinishedImport.indexName) await deleteIndex(elastic, unfinishedImport.indexName);
    await updateImport(db, unfinishedImport.id, { state: 'failed', failure: 'Started again.', updatedAt: clock.now() });
    return await startNew(engines, fresh);
  }
  const wish = toImportOptions(request, unfinishedImport);
  const row = { ...unfinishedImport, ...wish };
  await assertRejectsPlace(row.rejectsFile, request.source.files);
  // A queued import that has an index was enqueued to start over.
  const isBegun =
    unfinishedImport.state !== 'queued' &&
    unfinishedImport.indexName &&
    (await indexExists(elastic, unfinishedImport.indexName));
  if (!isBegun) return await startBuilding(engines, row);
  if (row.source !== unfinishedImport.source || (await hasChangedSince(db, alias, unfinishedImport.startedAt))) {
    request.onNotice?.('The live directory or --source has changed since this import began, so it starts again.');
    return await startBuilding(engines, row);
  }
  const name = request.source.files.map(fileName).join(', ');
  request.onNotice?.(`resuming at row ${formatNumber(unfinishedImport.position + 1)} of ${name}`);
  const change = { ...wish, state: 'building' as const, failure: null, updatedAt: clock.now() };
  await updateImport(db, unfinishedImport.id, change);
  return { ...row, ...change };
}
