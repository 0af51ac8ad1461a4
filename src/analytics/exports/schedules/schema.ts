import { z } from 'zod';
import { createdAt, idField } from '../../../kit/values/fields.ts';
import { timestamp } from '../../../kit/values/page.ts';
import { columns, Destination, format, of } from '../schema.ts';

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
    until_at: timestamp
      .nullable()
      .describe('Everything recorded before this time has been delivered; null before the first export is done.')
      .meta({ example: '2026-03-02T00:00:00.000Z' }),
    next_at: timestamp.describe('When the next export starts.').meta({ example: '2026-03-03T00:00:30.000Z' }),
    failing_since: timestamp
      .nullable()
      .describe('When its exports began to fail, which one mail reported; null while they succeed.')
      .meta({ example: null }),
    last_error: z
      .string()
      .nullable()
      .describe('Why its last export failed; null while its exports succeed.')
      .meta({ example: null }),
    created_at: createdAt,
  })
  .meta({ id: 'ExportSchedule' });
