import { z } from 'zod';
import { list, remove } from '../../kit/operation/kit.ts';
import { notFound } from '../../kit/values/errors.ts';
import { createdAt, idField } from '../../kit/values/fields.ts';
import { timestamp } from '../../kit/values/page.ts';
import { columns, Destination, format, of } from './exports.shapes.ts';
import { deleteSchedule, schedules, toSchedule } from './schedules.ts';

export const ExportSchedule = z
  .object({
    id: idField('exs', 'Schedule id.'),
    of,
    format,
    columns: columns.nullable().describe('Columns of the files; null for all of them.').meta({ example: null }),
    bucket: Destination.shape.bucket,
    prefix: z.string().describe('Folder in that bucket; all keys begin with it.').meta({ example: 'rollcall/' }),
    endpoint: z
      .string()
      .describe('Address of the storage that has the bucket.')
      .meta({ example: 'https://s3.eu-central-1.amazonaws.com' }),
    region: Destination.shape.region,
    time_zone: z.string().describe('Time zone at whose midnights it runs.').meta({ example: 'Europe/Berlin' }),
    until_at: timestamp
      .nullable()
      .describe('Everything recorded before this time has been delivered; null before the first export is done.')
      .meta({ example: '2026-03-02T00:00:00.000Z' }),
    next_at: timestamp.describe('When the next export starts.').meta({ example: '2026-03-03T00:00:30.000Z' }),
    failing_since: timestamp
      .nullable()
      .describe('When its exports began to fail, which one email reported; null while they succeed.')
      .meta({ example: null }),
    last_error: z
      .string()
      .nullable()
      .describe('Why its last export failed; null while its exports succeed.')
      .meta({ example: null }),
    created_at: createdAt,
  })
  .meta({ id: 'ExportSchedule' });

const tag = 'Jobs';
const forAgents = { isListed: false };

export const scheduleOperations = [
  list({
    id: 'list_export_schedules',
    path: '/v1/exports/schedules',
    tag,
    item: ExportSchedule,
    forAgents,
    summary: 'List scheduled exports',
    description: 'Exports into your own buckets, newest first. Each of their jobs has the `schedule_id`.',
    rows: schedules,
    itemOf: (row) => toSchedule(row),
  }),
  remove({
    id: 'delete_export_schedule',
    path: '/v1/exports/schedules/{id}',
    tag,
    summary: 'End a scheduled export',
    description: 'Deletes its access key. Delivered files stay in your bucket. A running export fails.',
    forAgents,
    item: ExportSchedule,
    errors: ['NOT_FOUND'],
    apply: async ({ db, now, brandId, audit }, { params: { id } }) => {
      const row = await deleteSchedule(db, brandId, id, now);
      if (!row) throw notFound('export schedule');
      const { credentials: _credentials, ...shown } = row;
      audit({ resourceId: id, old: { ...shown, deletedAt: null }, new: null });
      return toSchedule(row);
    },
  }),
] as const;
