import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { BucketRefusal, type FileStore } from '../../kit/engines/files/store.ts';
import { isHeld } from '../../kit/engines/postgres/home.ts';
import type { Context } from '../../kit/operation/context.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import type { Work } from '../../kit/operation/work.ts';
import { ignoreFailure, validationError } from '../../kit/values/errors.ts';
import { dayIn } from '../../kit/values/time-zone.ts';
import { toStorageKey } from '../../platform/jobs/job-files.ts';
import {
  assertBelowLimit,
  type ClaimedJob,
  createJob,
  JobFailure,
  type JobKind,
  type ListedJob,
  listFiles,
  storeFile,
  type TurnOutcome,
} from '../../platform/jobs/jobs.ts';
import { CLICK_CLAIM, toEnd, toStart } from '../figures/sums.ts';
import { isDayStart } from '../periods.ts';
import { countRows, haveEnded, readServerTime } from './datasets.ts';
import { type ExportCreate, ExportRequest } from './exports.shapes.ts';
import { MIME_TYPES, nextPart, pickColumns } from './files.ts';
import {
  openScheduleBucket,
  recordScheduleDelivery,
  recordScheduleFailure,
  type ScheduleRow,
  schedules,
} from './schedules.ts';

export const EXPORT = 'export';

/** Longer than hosts' clocks differ, so that everything that began to be recorded before a time is visible by then. */
const SETTLE_MS = 30_000;
const LOOK_AGAIN_MS = 500;
const LOOKS = 4;

const toColumnNames = (of: ExportCreate['of'], names: readonly string[] | undefined) =>
  pickColumns(of, names).map(({ name }) => name);

const settledAt = (until: Date) => new Date(until.getTime() + SETTLE_MS);

function assertWholeDays(edges: readonly (Date | undefined)[], timeZone: string): void {
  if (edges.every((at) => at === undefined || isDayStart(at, timeZone))) return;
  const message = 'must be a day, like `to`: performance has whole days.';
  throw validationError([{ field: 'from', code: 'invalid', message }]);
}

/** Creates an export that was requested. It has the rows that were recorded before now. */
export async function createExport(work: Work, body: ExportCreate): Promise<ListedJob> {
  const { db, brandId, now } = work;
  await assertBelowLimit(work);
  const timeZone = body.time_zone ?? (await getTimeZone(db, brandId));
  const { of, format, columns, from, to, by = of === 'performance' ? 'date' : 'recorded' } = body;
  const start = from === undefined ? undefined : toStart(from, timeZone);
  const end = to === undefined ? now : toEnd(to, timeZone);
  // Performance has whole days, including today.
  const until =
    by === 'recorded' && end > now
      ? now
      : of === 'performance' && to === undefined
        ? toEnd(dayIn(timeZone, now), timeZone)
        : end;
  if (of === 'performance') assertWholeDays([start, until], timeZone);
  const request: ExportRequest = {
    of,
    by,
    format,
    columns: toColumnNames(of, columns),
    from: start?.toISOString() ?? null,
    until: until.toISOString(),
    // An export by date includes the rows that were recorded in this very millisecond.
    as_of: new Date(now.getTime() + (by === 'date' ? 1 : 0)).toISOString(),
    time_zone: timeZone,
  };
  const isSettled = by === 'date' || settledAt(until) <= now;
  return await createJob(work, { kind: EXPORT, request, dueAt: isSettled ? now : settledAt(until) });
}

/** Creates the next export of a schedule. */
export async function createScheduledExport(
  work: Work,
  { id, of, format, columns, untilAt, timeZone }: ScheduleRow,
  until: Date,
): Promise<ListedJob> {
  const request: ExportRequest = {
    of,
    by: 'recorded',
    format,
    columns: toColumnNames(of, columns ?? undefined),
    from: untilAt?.toISOString() ?? null,
    until: until.toISOString(),
    as_of: until.toISOString(),
    time_zone: timeZone,
  };
  return await createJob(work, { kind: EXPORT, request, scheduleId: id, dueAt: settledAt(until) });
}

const Cursor = z.object({
  /** The time of the first query by PostgreSQL's clock, and the batch of clicks that was being sent then. */
  checkedAt: z.string().nullable(),
  clicks: z.string().nullable(),
  isSettled: z.boolean(),
  place: z.array(z.union([z.string(), z.number()])).nullable(),
  isLast: z.boolean(),
});
type Cursor = z.output<typeof Cursor>;

const START: Cursor = { checkedAt: null, clicks: null, isSettled: false, place: null, isLast: false };

const clicksOnTheirWay = ({ clicksRedis }: Context) => clicksRedis.use((client) => client.get(CLICK_CLAIM));

/**
 * True once all rows of the window can be read: none is in an open transaction or in a batch of clicks that is being
 * sent.
 */
async function isSettled(context: Context, { of }: ExportRequest, { checkedAt, clicks }: Cursor): Promise<boolean> {
  if (of === 'clicks') return clicks === null || (await clicksOnTheirWay(context)) !== clicks;
  return checkedAt !== null && (await haveEnded(context.postgres.db, checkedAt));
}

/** Looks until all rows of the window can be read, for two seconds at most. */
async function settle(context: Context, request: ExportRequest, cursor: Cursor): Promise<Cursor> {
  if (request.by === 'date' || cursor.isSettled) return { ...cursor, isSettled: true };
  const { checkedAt } = cursor;
  const checkedCursor = checkedAt ? cursor : { ...cursor, checkedAt: await readServerTime(context.postgres.db) };
  const fullCursor = checkedAt ? checkedCursor : { ...checkedCursor, clicks: await clicksOnTheirWay(context) };
  for (let look = 1; ; look += 1) {
    if (await isSettled(context, request, fullCursor)) return { ...fullCursor, isSettled: true };
    if (look === LOOKS) return fullCursor;
    await pause(LOOK_AGAIN_MS);
  }
}

/** The destination of a job's files: the installation's storage, or the bucket of its schedule. */
interface Target {
  store: FileStore;
  /** The folder of a brand's own bucket; null for the installation's storage. */
  folder: string | null;
}

async function findTarget(context: Context, job: ClaimedJob, { of, until }: ExportRequest): Promise<Target> {
  const { brandId, scheduleId } = job;
  if (scheduleId === null) return { store: context.files, folder: null };
  const schedule = await schedules.find(context.postgres.db, brandId, scheduleId);
  if (!schedule) throw new JobFailure('The schedule was deleted.');
  // Named after the end of its window, which no other export of the schedule has.
  const folder = `${of}/${until.replace(/:|\.\d+/g, '')}/`;
  return { store: await openScheduleBucket(context, schedule), folder };
}

type Turn = Parameters<JobKind['run']>[2];

interface FileWrite {
  job: ClaimedJob;
  target: Target;
  number: number;
  name: string;
  mimeType: string;
  signal: AbortSignal;
}

/** Writes a file to the destination of the job. */
async function writeFile({ job, target, number, name, mimeType, signal }: FileWrite, bytes: AsyncIterable<Buffer>) {
  const { store, folder } = target;
  const storageKey = folder === null ? toStorageKey(job.id, number, job.claim) : null;
  try {
    const file = await storeFile(store, { key: storageKey ?? `${folder}${name}`, mimeType, signal }, bytes);
    return { number, name: `${folder ?? ''}${name}`, mimeType, storageKey, ...file };
  } catch (error) {
    if (storageKey !== null) await store.remove(storageKey).catch(ignoreFailure('the next turn removes it'));
    throw error;
  }
}

async function writePart(context: Context, job: ClaimedJob, request: ExportRequest, cursor: Cursor, turn: Turn) {
  const { of, format } = request;
  const span = {
    by: request.by,
    from: request.from === null ? null : new Date(request.from),
    until: new Date(request.until),
    asOf: new Date(request.as_of),
    timeZone: request.time_zone,
  };
  const target = await findTarget(context, job, request);
  const number = (await listFiles(context.postgres.db, job)).length + 1;
  const totalRows =
    job.totalRows ??
    (await countRows(context, job.brandId, of, span).catch(
      ignoreFailure('an export whose rows take too long to count shows no share'),
    ));
  const part = await nextPart(context, {
    brandId: job.brandId,
    of,
    span,
    format,
    columns: pickColumns(of, request.columns),
    after: cursor.place,
    maxRows: context.config.exportFileRows,
    note: (rows) => turn.note(job.rows + rows),
  });
  const name = `${of}-${String(number).padStart(4, '0')}.${format}`;
  const storedFile = await writeFile(
    { job, target, number, name, mimeType: MIME_TYPES[format], signal: turn.signal },
    part.bytes,
  );
  const { rows, place, isLast } = part.end();
  return {
    cursor: { ...cursor, place, isLast },
    rows: job.rows + rows,
    ...(totalRows === undefined ? {} : { totalRows }),
    file: { ...storedFile, rows },
    isDone: false,
  };
}

/** Comes last, so that an export is complete where its manifest is. */
async function writeManifest(context: Context, job: ClaimedJob, request: ExportRequest, cursor: Cursor, turn: Turn) {
  const files = await listFiles(context.postgres.db, job);
  const manifest = {
    job_id: job.id,
    of: request.of,
    by: request.by,
    from: request.from,
    until: request.until,
    format: request.format,
    columns: pickColumns(request.of, request.columns),
    rows: job.rows,
    files: files.map(({ name, rows, sizeBytes, sha256 }) => ({
      name,
      rows,
      size_bytes: sizeBytes,
      sha256: sha256.toString('hex'),
    })),
  };
  async function* bytes(): AsyncGenerator<Buffer> {
    yield Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  }
  const target = await findTarget(context, job, request);
  const file = { number: files.length + 1, name: 'manifest.json', mimeType: 'application/json' };
  const storedFile = await writeFile({ job, target, ...file, signal: turn.signal }, bytes());
  return { cursor, rows: job.rows, file: { ...storedFile, rows: 0 }, isDone: true };
}

const HELD_FOR_MS = 60_000;

async function runExport(context: Context, job: ClaimedJob, turn: Turn): Promise<TurnOutcome> {
  const request = ExportRequest.parse(job.request);
  // A copy writes into no bucket of a brand, and not where its original may have its files.
  const isOutside = job.scheduleId !== null || context.config.assetsUrl !== undefined;
  if (isOutside && (await isHeld(context.postgres.db))) {
    return { waitMs: HELD_FOR_MS, cursor: Cursor.parse(job.cursor ?? START) };
  }
  const cursor = await settle(context, request, Cursor.parse(job.cursor ?? START));
  if (!cursor.isSettled) return { waitMs: LOOK_AGAIN_MS, cursor };
  try {
    return cursor.isLast
      ? await writeManifest(context, job, request, cursor, turn)
      : await writePart(context, job, request, cursor, turn);
  } catch (error) {
    throw error instanceof BucketRefusal ? new JobFailure(error.message) : error;
  }
}

/** Exports are written file by file. A turn that is lost writes its file again, with the same rows. */
export const exportKind: JobKind = {
  run: runExport,
  ended: async (work, job) => await recordScheduleDelivery(work, job, new Date(ExportRequest.parse(job.request).until)),
  failed: recordScheduleFailure,
};
