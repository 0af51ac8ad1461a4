import { isDeepStrictEqual } from 'node:util';
import { type Insertable, type Selectable, sql, type Updateable } from 'kysely';
import type { z } from 'zod';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { ImportsTable } from '../../kit/engines/postgres/database.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { updateOwn } from '../../kit/engines/postgres/own.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Work } from '../../kit/operation/work.ts';
import { DAY_MS } from '../../kit/values/duration.ts';
import { ApiError, validationError, wrongState } from '../../kit/values/errors.ts';
import { newId } from '../../kit/values/ids.ts';
import { omitUndefined } from '../../kit/values/patch.ts';
import { toProblems } from '../../kit/values/problems.ts';
import { isRecord } from '../../kit/values/wire.ts';
import { lockBrand } from '../../platform/brands/brands.ts';
import { ImportMapping } from '../../platform/imports/imports.shapes.ts';
import type { Plan } from '../../platform/imports/reading/plan.ts';
import type { Mapping, Option, Question, Reading } from '../../platform/imports/reading/shapes.ts';
import { cancelJob, createJob, type JobRow } from '../../platform/jobs/jobs.ts';
import { claimUpload, type StoredFile } from '../../workflow/assets/uploads.ts';
import { resolveStore } from '../reconciliations/reconciliations.ts';
import { startComparison } from './compare-orders.ts';
import { toFileEnd } from './erased.ts';
import { assertMapping } from './files.ts';
import {
  type ImportCreate,
  type ImportFilter,
  type ImportPatch,
  type ImportStatus,
  type LineOutcome,
  type Of,
  type OptionLine,
  Options,
  type Result,
  type SampleLine,
} from './imports.shapes.ts';
import { assertRoom } from './limits.ts';
import { storeMapping } from './mappings.ts';
import type { Tallies } from './tallies.ts';

/** A reading with what the brand's own records make of it. */
export interface StoredReading extends Omit<Reading, 'counts' | 'sums' | 'sample' | 'questions'> {
  questions: (Omit<Question, 'options' | 'sample'> & {
    options: (Omit<Option, 'mapping' | 'sample'> & { mapping: Record<string, unknown>; sample?: OptionLine[] })[];
  })[];
  sample: (Omit<SampleLine, 'cells'> & Partial<SampleLine>)[];
  counts: Record<LineOutcome | 'lines' | 'records', number>;
  sums: Tallies['sums'];
  /** New creators of a roster. */
  added: number;
}

declare module '../../kit/engines/postgres/columns.ts' {
  interface ColumnShapes {
    'imports.mapping': Mapping;
    'imports.stored': Mapping;
    'imports.options': Options;
    'imports.reading': StoredReading;
    'imports.plan': Plan;
    'imports.result': Result;
  }
}

export type ImportRow = Selectable<ImportsTable>;

/** Undoing is possible for this long. */
export const UNDO_MS = 30 * DAY_MS;
/** Unconfirmed imports expire, and files of ended ones are removed, after this time. */
export const KEPT_MS = 7 * DAY_MS;
const MOST_OPEN = 20;

const DEFAULT_SOURCES = {
  orders: 'Past orders',
  commissions: 'Before Rollcall',
  roster: 'Import',
  payouts: 'Import',
  payment_details: 'Import',
  reconciliation: 'Reconciliation',
} as const;

export const imports = listing({
  noun: 'import',
  table: 'imports',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  matching: (db, _brandId, { of, status }: Omit<ImportFilter, 'page' | 'limit' | 'offset'>) =>
    db.selectFrom('imports').where((eb) => eb.and(omitUndefined({ of, status }))),
  rows: (db) =>
    db
      .selectFrom('imports')
      .selectAll('imports')
      .select((eb) => [
        eb
          .selectFrom('imports as earlier')
          .select('earlier.id')
          .whereRef('earlier.brandId', '=', 'imports.brandId')
          .whereRef('earlier.sha256', '=', 'imports.sha256')
          .whereRef('earlier.id', '<', 'imports.id')
          .orderBy('earlier.id', 'desc')
          .limit(1)
          .as('sameAs'),
        eb
          .selectFrom('importWrites as written')
          .whereRef('written.importId', '=', 'imports.id')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .$asScalar()
          .$notNull()
          .as('writes'),
      ]),
  // Ids are in the order of creation, and break the ties.
  ranks: {
    waiting: {
      at: sql`(imports.status in ('needs_answers', 'ready'))::int`,
      of: ({ status }) => Number(status === 'needs_answers' || status === 'ready'),
    },
  },
});
export type ListedImport = Awaited<ReturnType<typeof imports.get>>;

/** What a job does with an import. */
export type Step = 'read' | 'run' | 'undo';

const startStep = async (
  work: Work,
  { id, of, fileName: file }: Pick<ImportRow, 'id' | 'of' | 'fileName'>,
  step: Step,
) => await createJob(work, { kind: 'import', request: { import_id: id, of, file, step }, dueAt: work.now });

/** The fields of an import that the audit log shows. */
const toAudit = ({ id, of, status, source, fileName, readingId }: ImportRow) => ({
  id,
  of,
  status,
  source,
  file: fileName,
  readingId,
});

/** Options by the only kind of file that they are about. */
const OPTION_KINDS = { pays: 'orders', add_creators: 'commissions', create: 'payouts' } as const;

/** Throws 422 if an option is on that changes nothing for files of a kind. */
function assertOptions(of: Of, options: Options): void {
  const misplaced = (['pays', 'add_creators', 'create'] as const).filter(
    (name) => options[name] === true && OPTION_KINDS[name] !== of,
  );
  if (misplaced.length === 0) return;
  throw validationError(
    misplaced.map((name) => ({
      field: `options.${name}`,
      code: 'not_allowed',
      message: `is only for \`of: ${OPTION_KINDS[name]}\`.`,
    })),
  );
}

const updateImport = (db: Db, brandId: string, id: string, change: Updateable<ImportsTable>) =>
  updateOwn(db.updateTable('imports').set(change).returningAll(), brandId, id);

/** The spelling of a source under which the brand knows it: in another case its records would all be new. */
async function spellSource(db: Db, brandId: string, source: string): Promise<string> {
  const { rows } = await sql<{ source: string }>`
    select source from (
      select source, 1 as place from imports where brand_id = ${brandId} and lower(source) = lower(${source})
      union all select source, 2 from past_commissions where brand_id = ${brandId} and lower(source) = lower(${source})
      union all select source_name, 3 from integrations
        where brand_id = ${brandId} and lower(source_name) = lower(${source})) as known
    order by source = ${source} desc, place limit 1`.execute(db);
  return rows[0]?.source ?? source;
}

/** Takes a file over, and lets a worker read it. */
export async function createImport(
  work: Work,
  { of, source = DEFAULT_SOURCES[of], integration_id, mapping = {}, options = {} }: ImportCreate,
  file: StoredFile,
  keyId: string | null,
): Promise<ListedImport> {
  const { db, now, brandId } = work;
  if (of !== 'reconciliation' && integration_id !== undefined)
    throw validationError([
      { field: 'integration_id', code: 'not_allowed', message: 'is only for `of: reconciliation`.' },
    ]);
  assertOptions(of, options);
  const store = of === 'reconciliation' ? await resolveStore(work, integration_id, true) : null;
  await lockBrand(db, brandId);
  const open = db.selectFrom('imports').where('brandId', '=', brandId);
  const isOpen = open.where('status', 'in', ['reading', 'needs_answers', 'ready']).select(COUNT);
  if ((await countRows(isOpen)) >= MOST_OPEN)
    throw new ApiError('CONFLICT', `A brand has at most ${MOST_OPEN} unconfirmed imports; confirm or delete one.`);
  if (!(await claimUpload(db, brandId, file))) throw new Error('The file was discarded before its import was created.');
  const row: Insertable<ImportsTable> = {
    id: newId('imp', now.getTime()),
    brandId,
    of,
    status: 'reading',
    source: await spellSource(db, brandId, source),
    integrationId: store?.id ?? null,
    fileName: file.name,
    sizeBytes: file.sizeBytes,
    sha256: Buffer.from(file.sha256, 'hex'),
    storageKey: file.storageKey,
    mapping: JSON.stringify(mapping),
    options: JSON.stringify(options),
    revision: 1,
    keyId,
    createdAt: now,
    dueAt: new Date(now.getTime() + KEPT_MS),
  };
  const insertedRow = await db.insertInto('imports').values(row).returningAll().executeTakeFirstOrThrow();
  const job = await startStep(work, insertedRow, 'read');
  await updateImport(db, brandId, insertedRow.id, { jobId: job.id });
  work.audit({ resourceId: insertedRow.id, old: null, new: toAudit(insertedRow) });
  return await imports.get(db, brandId, insertedRow.id);
}

/** RFC 7396: null takes a field back. */
function merge(old: Record<string, unknown>, change: Record<string, unknown>): Record<string, unknown> {
  const mergedRecord = { ...old };
  for (const [name, value] of Object.entries(change)) {
    const before = mergedRecord[name];
    if (value === null) delete mergedRecord[name];
    else mergedRecord[name] = isRecord(value) ? merge(isRecord(before) ? before : {}, value) : value;
  }
  return mergedRecord;
}

function parseMerged<S extends z.ZodType>(field: string, shape: S, value: unknown): z.output<S> {
  const parsed = shape.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw validationError(toProblems(parsed).map((one) => ({ ...one, field: `${field}.${one.field}` })));
}

/** Columns may be taken from a field by null, which a merge would only forget. */
function mergeMapping(old: Mapping, change: Record<string, unknown>): Record<string, unknown> {
  const mergedMapping = merge({ ...old }, change);
  if (!isRecord(change.columns)) return mergedMapping;
  return { ...mergedMapping, columns: { ...old.columns, ...change.columns } };
}

const UNCONFIRMED: readonly ImportStatus[] = ['reading', 'needs_answers', 'ready', 'refused'];

/** Changes how a file is read, and reads it again. */
export async function patchImport(
  work: Work,
  context: Pick<Context, 'files'>,
  id: string,
  patch: ImportPatch,
): Promise<ListedImport> {
  const { db, now, brandId } = work;
  const old = await imports.get(db, brandId, id);
  const mapping = parseMerged('mapping', ImportMapping, mergeMapping(old.mapping, patch.mapping ?? {}));
  const options = parseMerged('options', Options, merge(old.options, patch.options ?? {}));
  assertOptions(old.of, options);
  if (isDeepStrictEqual({ ...old.mapping }, mapping) && isDeepStrictEqual({ ...old.options }, options)) return old;
  await assertMapping(context, { ...old, encoding: old.reading?.text.encoding || undefined }, mapping);
  const job = await startStep(work, old, 'read');
  const row = await db
    .updateTable('imports')
    .set({ mapping: JSON.stringify(mapping), options: JSON.stringify(options), jobId: job.id, updatedAt: now })
    .set({ status: 'reading', readingId: null, revision: sql<number>`revision + 1` })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('status', 'in', [...UNCONFIRMED])
    .where('revision', '=', old.revision)
    .returningAll()
    .executeTakeFirst();
  if (!row) {
    if (old.status === 'failed' && old.error !== null) throw wrongFailed('read again', old.error);
    throw wrongState('import', old.status, 'reading', []);
  }
  work.audit({ resourceId: id, old: toAudit(old), new: toAudit(row) });
  return await imports.get(db, brandId, id);
}

/** Says of an import that failed why nothing more can be done with it. */
const wrongFailed = (done: string, error: string) =>
  new ApiError('INVALID_STATE_TRANSITION', `The import cannot be ${done}. ${error}`, {
    facts: { current_status: 'failed', allowed: [] },
  });

function refuseConfirmation({ status, readingId, reading, error }: ListedImport, wantedReadingId: string): ApiError {
  const isOpen = status === 'reading' || status === 'needs_answers' || status === 'ready';
  if (isOpen && readingId !== wantedReadingId)
    return new ApiError('READING_OUTDATED', 'The file is now read differently; look at the new reading first.', {
      facts: { reading_id: readingId },
    });
  if (status === 'needs_answers') {
    const questions = reading?.questions ?? [];
    const count = questions.length === 1 ? 'A question is' : `${questions.length} questions are`;
    return new ApiError('QUESTIONS_OPEN', `${count} open; answer by PATCH first.`, {
      facts: { questions: questions.map(({ id, message }) => ({ id, message })) },
    });
  }
  if (status === 'failed' && error !== null) return wrongFailed('confirmed', error);
  return wrongState('import', status, 'running', status === 'ready' ? ['running'] : []);
}

/** Counts what the brand has of the kind, and finds when that last changed: a plan of a confirmation shows both. */
async function countKnown(db: Db, { brandId, of }: Pick<ImportRow, 'brandId' | 'of'>) {
  const { table, changedAt } = {
    orders: { table: 'orders', changedAt: 'greatest(created_at, updated_at)' },
    commissions: { table: 'past_commissions', changedAt: 'created_at' },
    roster: { table: 'roster_entries', changedAt: 'greatest(added_at, updated_at)' },
    payouts: { table: 'payouts', changedAt: 'greatest(created_at, updated_at, paid_at)' },
    payment_details: { table: 'payment_profiles', changedAt: 'greatest(created_at, updated_at)' },
    reconciliation: { table: 'orders', changedAt: 'greatest(created_at, updated_at)' },
  }[of];
  const { rows } = await sql<{ records: number; changedAt: Date | null }>`
    select count(*)::int as records, max(${sql.raw(changedAt)}) as changed_at from ${sql.table(table)}
    where brand_id = ${brandId}`.execute(db);
  const [summary] = rows;
  return { records: summary?.records ?? 0, changed_at: summary?.changedAt?.toISOString() ?? null };
}

/** Lets a worker write what exactly this reading says. */
export async function confirmImport(work: Work, id: string, readingId: string): Promise<ListedImport> {
  const { db, now, brandId } = work;
  const row = await db
    .updateTable('imports')
    .set({ status: 'running', confirmedAt: now, updatedAt: now, dueAt: null })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('status', '=', 'ready')
    .where('readingId', '=', readingId)
    .returningAll()
    .executeTakeFirst();
  const current = await imports.get(db, brandId, id);
  if (!row) throw refuseConfirmation(current, readingId);
  await assertRoom(db, brandId, row.reading?.added ?? 0);
  if (row.of === 'reconciliation') {
    const { id: jobId } = await startComparison(work, row);
    // The job has the file from here on.
    await updateImport(db, brandId, id, { jobId, storageKey: null });
  } else await updateImport(db, brandId, id, { jobId: (await startStep(work, row, 'run')).id });
  await storeMapping(work, row);
  const { counts, sums } = row.reading ?? {};
  const auditEntry = { ...toAudit(row), counts, sums, known: await countKnown(db, row) };
  const context = ['counts', 'sums', 'known'];
  work.audit({ resourceId: id, old: { ...auditEntry, status: 'ready' }, new: auditEntry, context });
  return await imports.get(db, brandId, id);
}

/** Discards an unconfirmed import, or stops a running one, which keeps what it wrote. */
export async function removeImport(work: Work, id: string): Promise<ListedImport> {
  const { db, now, brandId } = work;
  const old = await imports.get(db, brandId, id);
  const stoppedImport = await db
    .updateTable('imports')
    .set({ status: 'stopped', endedAt: now, updatedAt: now, dueAt: toFileEnd(now, KEPT_MS) })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('status', '=', 'running')
    .returningAll()
    .executeTakeFirst();
  if (stoppedImport) {
    if (stoppedImport.of === 'reconciliation' && stoppedImport.jobId !== null)
      await cancelJob(db, brandId, stoppedImport.jobId, now);
    work.audit({ resourceId: id, old: toAudit(old), new: toAudit(stoppedImport) });
    return await imports.get(db, brandId, id);
  }
  const expiredRow = await db
    .updateTable('imports')
    .set({ status: 'expired', updatedAt: now, endedAt: now, dueAt: now })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('status', 'in', [...UNCONFIRMED])
    .returningAll()
    .executeTakeFirst();
  if (!expiredRow) throw wrongState('import', old.status, 'stopped', []);
  work.audit({ resourceId: id, old: toAudit(old), new: toAudit(expiredRow) });
  return await imports.get(db, brandId, id);
}

/** Says why an import cannot be undone; null if it can. */
export function findUndoObstacle({ of, status, options, endedAt }: ImportRow, now: Date): string | null {
  if (of === 'payouts') return 'What was paid stays: a payment is locked once it is recorded.';
  if (of === 'reconciliation') return 'It recorded nothing.';
  if (of === 'orders' && options.pays === true) return 'Orders that paid creators stay.';
  if (status !== 'done' && status !== 'stopped' && status !== 'failed') return 'It has not ended, or was undone.';
  if (endedAt !== null && endedAt.getTime() + UNDO_MS < now.getTime()) return 'It ended more than 30 days ago.';
  return null;
}

export async function undoImport(work: Work, id: string): Promise<ListedImport> {
  const { db, now, brandId } = work;
  const old = await imports.get(db, brandId, id);
  const why = findUndoObstacle(old, now);
  if (why !== null) {
    const facts = { current_status: old.status, allowed: [] };
    throw new ApiError('INVALID_STATE_TRANSITION', `The import cannot be undone. ${why}`, { facts });
  }
  const row = await db
    .updateTable('imports')
    .set({ status: 'undoing', updatedAt: now, dueAt: null })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('status', 'in', ['done', 'stopped', 'failed'])
    .returningAll()
    .executeTakeFirst();
  if (!row) throw wrongState('import', old.status, 'undoing', []);
  const job = await startStep(work, row, 'undo');
  await updateImport(db, brandId, id, { jobId: job.id });
  work.audit({ resourceId: id, old: toAudit(old), new: toAudit(row) });
  return await imports.get(db, brandId, id);
}

/** Records that the job of a step failed, in the transaction that ends it. */
export async function failImport(work: Work, { id: jobId, error }: Pick<JobRow, 'id' | 'error'>): Promise<void> {
  const { db, now, brandId } = work;
  await db
    .updateTable('imports')
    .set({ status: 'failed', error, endedAt: now, updatedAt: now, dueAt: toFileEnd(now, KEPT_MS) })
    .where('brandId', '=', brandId)
    .where('jobId', '=', jobId)
    .where('status', 'in', ['reading', 'running', 'undoing'])
    .execute();
}

/** Records that the job of a step was cancelled, in the transaction that ends it. */
export async function stopImport(work: Work, { id: jobId }: Pick<JobRow, 'id'>): Promise<void> {
  const { db, now, brandId } = work;
  await db
    .updateTable('imports')
    .set({ endedAt: now, updatedAt: now, dueAt: toFileEnd(now, KEPT_MS) })
    .set({ status: sql`case status when 'running' then 'stopped' when 'reading' then 'expired' else 'failed' end` })
    .set({ error: sql`case status when 'undoing' then 'Its job was cancelled.' end` })
    .where('brandId', '=', brandId)
    .where('jobId', '=', jobId)
    .where('status', 'in', ['reading', 'running', 'undoing'])
    .execute();
}

/** Records that the comparison of a store's file ended. Its result is the job's. */
export async function endComparison(work: Work, { id: jobId }: Pick<JobRow, 'id'>): Promise<void> {
  const { db, now, brandId } = work;
  await db
    .updateTable('imports')
    .set({ status: 'done', endedAt: now, updatedAt: now, dueAt: new Date(now.getTime() + KEPT_MS) })
    .where('brandId', '=', brandId)
    .where('jobId', '=', jobId)
    .where('status', '=', 'running')
    .execute();
}

/** Imports that expire now, and ended ones whose file and lines are removed. */
export async function listDueImports(db: Db, now: Date, limit: number): Promise<ImportRow[]> {
  return await db.selectFrom('imports').selectAll().where('dueAt', '<=', now).orderBy('dueAt').limit(limit).execute();
}

/** A reading without cells of the file: its counts and sums, and how it was read. */
export const withoutCells = (reading: StoredReading): StoredReading => ({
  ...reading,
  text: { ...reading.text, differing: [] },
  columns: reading.columns.map((column) => ({ ...column, samples: [] })),
  questions: [],
  refusals: [],
  sample: [],
});

/** Removes the file and its lines, and everything else that has cells of it. */
export async function clearImport(context: Pick<Context, 'files' | 'postgres' | 'clock'>, row: ImportRow) {
  const { postgres, files, clock } = context;
  if (row.storageKey !== null) await files.remove(row.storageKey);
  const { brandId, id } = row;
  await postgres.db.deleteFrom('importLines').where('brandId', '=', brandId).where('importId', '=', id).execute();
  const isEnded = !UNCONFIRMED.includes(row.status);
  await postgres.db
    .updateTable('imports')
    .set({
      reading: row.reading && JSON.stringify(withoutCells(row.reading)),
      plan: null,
      dueAt: null,
      storageKey: null,
      ...(isEnded ? {} : { status: 'expired' as const, endedAt: clock.now() }),
    })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('dueAt', 'is not', null)
    .where('dueAt', '<=', clock.now())
    .execute();
}
