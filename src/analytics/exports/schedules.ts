import type { Readable } from 'node:stream';
import { type Insertable, type Selectable, sql } from 'kysely';
import { z } from 'zod';
import { openOwnBucket } from '../../kit/engines/files/open.ts';
import { BucketRefusal, type FileStore } from '../../kit/engines/files/store.ts';
import { COUNT, countRows } from '../../kit/engines/postgres/count.ts';
import type { ExportSchedulesTable } from '../../kit/engines/postgres/database.ts';
import { assertLive } from '../../kit/engines/postgres/home.ts';
import { listing } from '../../kit/engines/postgres/listing.ts';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { periodicRows } from '../../kit/engines/postgres/periodic.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import type { Context } from '../../kit/operation/context.ts';
import { getTimeZone } from '../../kit/operation/local-days.ts';
import type { Work } from '../../kit/operation/work.ts';
import { ApiError, validationError } from '../../kit/values/errors.ts';
import { newId, randomBase62 } from '../../kit/values/ids.ts';
import type { ListWindow } from '../../kit/values/page.ts';
import { dayIn, daysAfter, timeIn } from '../../kit/values/time-zone.ts';
import { toWire } from '../../kit/values/wire.ts';
import { findContactEmail, lockBrand } from '../../platform/brands/brands.ts';
import type { JobRow } from '../../platform/jobs/jobs.ts';
import { listOwners } from '../../platform/people/people.ts';
import type { Dataset } from './datasets.ts';
import type { Destination, ExportCreate } from './exports.shapes.ts';
import type { ExportSchedule } from './schedules.api.ts';

declare module '../../kit/engines/postgres/columns.ts' {
  interface ColumnShapes {
    'exportSchedules.of': Dataset;
  }
}

export type ScheduleRow = Selectable<ExportSchedulesTable>;

export const schedules = listing({
  noun: 'export schedule',
  table: 'export_schedules',
  time: 'createdAt',
  changed: ['createdAt', 'updatedAt'],
  matching: (db, _brandId, _where: ListWindow) => db.selectFrom('exportSchedules').where('deletedAt', 'is', null),
  rows: (db) => db.selectFrom('exportSchedules').selectAll().where('deletedAt', 'is', null),
});

export const insertSchedule = (db: Db, row: Insertable<ExportSchedulesTable>): Promise<ScheduleRow> =>
  db.insertInto('exportSchedules').values(row).returningAll().executeTakeFirstOrThrow();

/** Ends a schedule and erases its keys. Undefined if it has ended already. */
export async function deleteSchedule(db: Db, brandId: string, id: string, now: Date): Promise<ScheduleRow | undefined> {
  return await db
    .updateTable('exportSchedules')
    .set({ deletedAt: now, updatedAt: now, credentials: Buffer.alloc(0) })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

export const dueSchedules = periodicRows<'nextAt', ScheduleRow>({
  table: 'export_schedules',
  due: 'nextAt',
  where: 'deleted_at is null',
});

/** Records that everything until a time was delivered. */
async function recordDelivery(
  db: Db,
  brandId: string,
  id: string,
  { until, now }: { until: Date; now: Date },
): Promise<void> {
  await db
    .updateTable('exportSchedules')
    .set({
      untilAt: sql<Date>`greatest(until_at, ${until}::timestamptz)`,
      failingSince: null,
      error: null,
      updatedAt: now,
    })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .execute();
}

/** Records a failure. Undefined unless it is the first since an export was delivered. */
async function recordFailure(
  db: Db,
  brandId: string,
  id: string,
  { error, now }: { error: string; now: Date },
): Promise<ScheduleRow | undefined> {
  const row = await db
    .updateTable('exportSchedules')
    .set({ failingSince: sql<Date>`coalesce(failing_since, ${now}::timestamptz)`, error, updatedAt: now })
    .where('brandId', '=', brandId)
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .returningAll()
    .executeTakeFirst();
  return row?.failingSince?.getTime() === now.getTime() ? row : undefined;
}

const MAX_SCHEDULES = 20;
/** After midnight, when transactions that began before it have ended. */
export const AFTER_MIDNIGHT_MS = 30_000;

/** The beginning of a schedule's day, and of the next one. */
export const toMidnights = (timeZone: string, now: Date): { last: Date; next: Date } => {
  const today = dayIn(timeZone, now);
  return { last: timeIn(timeZone, today), next: timeIn(timeZone, daysAfter(today, 1)) };
};

const Credentials = z.object({ accessKeyId: z.string(), secretAccessKey: z.string() });

const toEndpoint = ({ endpoint, region }: Destination) => endpoint ?? `https://s3.${region}.amazonaws.com`;

type BucketContext = Pick<Context, 'config' | 'secrets'>;

/** The bucket of a schedule. Its address is checked again for each use. */
export async function openScheduleBucket({ config, secrets }: BucketContext, row: ScheduleRow): Promise<FileStore> {
  const { bucket, prefix, endpoint, region } = row;
  const keys = Credentials.parse(JSON.parse(secrets.open(row.credentials, row.id)));
  return await openOwnBucket({ bucket, prefix, endpoint, region, ...keys }, config.outboundAllow);
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

const CHECKED_WITHIN_MS = 9_000;

/** The first bytes of a stream, which ends there. */
async function readSome(stream: Readable, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stream) {
      chunks.push(Buffer.from(chunk));
      size += Buffer.byteLength(chunk);
      if (size >= most) break;
    }
  } catch (cause) {
    throw new BucketRefusal('The bucket did not return the whole object.', { cause });
  }
  return Buffer.concat(chunks).subarray(0, most);
}

/** Writes, reads and deletes an object. Throws 422 with what the storage answered, or that it did not in time. */
export async function checkBucket(
  { config, postgres }: Pick<Context, 'config' | 'postgres'>,
  destination: Destination,
): Promise<void> {
  await assertLive(postgres.db);
  const { bucket, prefix, region, access_key_id: accessKeyId, secret_access_key: secretAccessKey } = destination;
  const own = { bucket, prefix, region, endpoint: toEndpoint(destination), accessKeyId, secretAccessKey };
  const key = `rollcall-check-${randomBase62(12)}`;
  const content = Buffer.from('Rollcall checks that it may write, read and delete here.\n');
  const signal = AbortSignal.timeout(CHECKED_WITHIN_MS);
  try {
    const store = await openOwnBucket(own, config.outboundAllow);
    await store.write(key, once(content), 'text/plain', signal);
    const returnedBytes = await readSome(await store.read(key, undefined, signal), content.length + 1);
    await store.remove(key, signal);
    if (!returnedBytes.equals(content)) throw new BucketRefusal('The bucket returned other bytes than it was sent.');
  } catch (error) {
    if (!(error instanceof BucketRefusal) && !(error instanceof ApiError)) throw error;
    const message = signal.aborted
      ? `The bucket did not answer within ${CHECKED_WITHIN_MS / 1_000} s.`
      : error instanceof BucketRefusal
        ? error.message
        : 'The connection to the bucket failed, or what it answered is no answer of S3.';
    throw validationError([{ field: 'destination', code: 'refused', message: `cannot be used: ${message}` }]);
  }
}

/** The row for the audit log. */
const toAuditRow = ({ credentials: _credentials, ...row }: ScheduleRow) => row;

export const toSchedule = ({ error, ...row }: ScheduleRow): z.input<typeof ExportSchedule> => ({
  ...toWire(toAuditRow({ ...row, error })),
  last_error: error,
});

/** Creates a schedule of a bucket that was checked. */
export async function createSchedule(
  work: Work,
  { secrets }: BucketContext,
  body: ExportCreate,
  destination: Destination,
): Promise<ScheduleRow> {
  const { db, now, brandId, audit } = work;
  await lockBrand(db, brandId);
  const count = await countRows(
    db.selectFrom('exportSchedules').select(COUNT).where('brandId', '=', brandId).where('deletedAt', 'is', null),
  );
  if (count >= MAX_SCHEDULES) {
    throw new ApiError('CONFLICT', `A brand has at most ${MAX_SCHEDULES} scheduled exports; delete one first.`);
  }
  const timeZone = body.time_zone ?? (await getTimeZone(db, brandId));
  const id = newId('exs', now.getTime());
  const { bucket, prefix, region, access_key_id: accessKeyId, secret_access_key: secretAccessKey } = destination;
  const row = await insertSchedule(db, {
    id,
    brandId,
    of: body.of,
    format: body.format,
    columns: body.columns ?? null,
    bucket,
    prefix,
    region,
    endpoint: toEndpoint(destination),
    credentials: secrets.seal(JSON.stringify({ accessKeyId, secretAccessKey }), id),
    untilAt: null,
    timeZone,
    nextAt: new Date(toMidnights(timeZone, now).next.getTime() + AFTER_MIDNIGHT_MS),
    failingSince: null,
    error: null,
    createdAt: now,
    updatedAt: null,
    deletedAt: null,
  });
  audit({ resourceId: id, old: null, new: toAuditRow(row) });
  return row;
}

/** Records the delivery of a schedule's export. */
export async function recordScheduleDelivery({ db, brandId, now }: Work, job: JobRow, until: Date): Promise<void> {
  if (job.scheduleId !== null) await recordDelivery(db, brandId, job.scheduleId, { until, now });
}

/** Records that a schedule's export failed, and sends a mail if it is the first failure since a delivery. */
export async function recordScheduleFailure(work: Work, job: JobRow): Promise<void> {
  const { db, brandId, now } = work;
  if (job.scheduleId === null) return;
  const error = job.error ?? '';
  const row = await recordFailure(db, brandId, job.scheduleId, { error, now });
  if (!row) return;
  const owners = (await listOwners(db, brandId)).map(({ email }) => email);
  const contact = await findContactEmail(db, brandId);
  // The owner that a first sign-in makes has an address that nobody reads.
  const addresses = [...owners, ...(contact === null ? [] : [contact])].filter((email) => !email.endsWith('.invalid'));
  const params = { of: row.of, bucket: row.bucket, error };
  for (const to of new Set(addresses)) {
    await queueMail(work, { kind: 'export_failing', to, subjectRow: `${row.id}:${now.toISOString()}`, params });
  }
}
