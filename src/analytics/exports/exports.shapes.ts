import { z } from 'zod';
import { timeZoneInput } from '../../kit/values/page.ts';
import { besideOthers } from '../../kit/values/problems.ts';
import { WebAddress } from '../../kit/values/web-address.ts';
import { Boundary, checkOrder } from '../figures/sums.ts';
import { COLUMNS, DATASETS } from './datasets.ts';
import { FORMATS } from './files.ts';

export const of = z
  .enum(DATASETS)
  .describe('What to export. `ledger` has one row for each posting, `performance` one for each day, link and currency.')
  .meta({ example: 'orders' });
export const format = z
  .enum(FORMATS)
  .describe('Format of the files: Parquet, one JSON object a line, or CSV with a header.')
  .meta({ example: 'parquet' });
export const columns = z
  .array(z.string().max(60))
  .min(1)
  .max(60)
  .describe('Only these columns, in the order of the documentation. Omitted: all of them.')
  .meta({ example: ['id', 'order_id', 'currency', 'amount_minor', 'occurred_at'] });

const name = z.string().trim().min(1).max(200);

/** The address of an S3-compatible storage, without path, query and credentials. */
const endpoint = WebAddress.max(300).refine((text) => {
  const url = URL.parse(text);
  return !url || (url.pathname === '/' && url.search === '');
}, 'must have no path and query');

export const Destination = z
  .object({
    bucket: z
      .string()
      .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket')
      .describe('Your bucket.')
      .meta({ example: 'acme-warehouse' }),
    prefix: z
      .string()
      .max(200)
      .regex(/^(?:[\w.=-]+\/)*[\w.=-]*$/, 'must be a path such as rollcall/')
      .transform((text) => (text === '' || text.endsWith('/') ? text : `${text}/`))
      .default('')
      .describe('Folder in the bucket, with which all keys begin; empty for its root.')
      .meta({ example: 'rollcall/' }),
    region: z
      .string()
      .regex(/^[a-z0-9-]{1,40}$/, 'must be a region such as eu-central-1')
      .describe('Region of the bucket.')
      .meta({ example: 'eu-central-1' }),
    endpoint: endpoint
      .optional()
      .describe('Address of an S3-compatible storage other than AWS. It must be public.')
      .meta({ example: 'https://storage.example' }),
    access_key_id: name
      .describe('Access key that may write, read and delete objects below `prefix`.')
      .meta({ example: 'EXAMPLEKEYID' }),
    secret_access_key: name
      .describe('Secret of that access key. It is stored encrypted, and no answer shows it.')
      .meta({ example: 'example-secret' }),
  })
  .meta({ id: 'ExportDestination' });
export type Destination = z.output<typeof Destination>;

interface ExportInput {
  of?: unknown;
  by?: unknown;
  from?: unknown;
  to?: unknown;
  columns?: unknown;
  schedule?: unknown;
  destination?: unknown;
}

type Problem = readonly [field: keyof ExportInput, message: string];

function* listProblems(input: ExportInput): Generator<Problem> {
  const dataset = DATASETS.find((one) => one === input.of);
  if (dataset !== undefined && Array.isArray(input.columns)) {
    const names = Object.keys(COLUMNS[dataset]);
    const unknown = input.columns.filter((column) => !names.includes(String(column)));
    if (unknown.length > 0) yield ['columns', `has no ${unknown.join(', ')}: ${dataset} has ${names.join(', ')}`];
  }
  if (dataset === 'performance') {
    if (input.by === 'recorded') yield ['by', 'must be `date`: performance has sums by day, which later events change'];
  }
  if ((input.schedule === undefined) !== (input.destination === undefined)) {
    yield input.schedule === undefined
      ? ['schedule', 'must be `daily` with a `destination`']
      : ['destination', 'is required with a `schedule`'];
  }
  if (input.schedule === undefined) return;
  if (input.by === 'date') yield ['by', 'must be `recorded` with a `schedule`, so that each row is in one file'];
  if (input.to !== undefined) yield ['to', 'must be omitted with a `schedule`, which has no end'];
}

export const ExportCreate = z
  .object({
    of,
    by: z
      .enum(['recorded', 'date'])
      .optional()
      .describe(
        '`recorded`: rows by the time at which Rollcall recorded them, so that exports of adjoining windows have each row once. ' +
          '`date`: by the time at which they happened, as known now. Omitted: `recorded`, and `date` for `performance`.',
      )
      .meta({ example: 'recorded' }),
    from: Boundary.optional()
      .describe('Start of the exported window: a day or a time. Omitted: everything before `to`.')
      .meta({ example: '2026-03-01' }),
    to: Boundary.optional().describe(
      'End of the exported window: a day, which is included whole, or a time. Omitted, or in the future: now.',
    ),
    time_zone: timeZoneInput.describe(
      "IANA time zone of the dates, of the days of `performance` and of a schedule; the brand's if omitted.",
    ),
    format: format.default('parquet'),
    columns: columns.optional(),
    schedule: z
      .enum(['daily'])
      .optional()
      .describe(
        '`daily`: exports everything recorded so far now, and then what is new after each midnight of its time zone.',
      )
      .meta({ example: 'daily' }),
    destination: Destination.optional().describe(
      'Your S3 bucket, for a schedule. Rollcall checks it at once: it writes, reads and deletes an object.',
    ),
  })
  .superRefine((input: ExportInput, context) => {
    checkOrder(input, context);
    for (const [field, message] of listProblems(input)) {
      context.addIssue({ code: 'custom', path: [field], message, input: input[field] });
    }
  }, besideOthers)
  .meta({
    id: 'ExportCreate',
    example: { of: 'orders', by: 'recorded', from: '2026-03-01', to: '2026-03-31', format: 'parquet' },
  });
export type ExportCreate = z.output<typeof ExportCreate>;

/** The request that a job of an export stores. */
export const ExportRequest = z.object({
  of,
  by: z.enum(['recorded', 'date']),
  format,
  columns: z.array(z.string()),
  from: z.iso.datetime().nullable(),
  until: z.iso.datetime(),
  as_of: z.iso.datetime(),
  time_zone: z.string().default('UTC'),
});
export type ExportRequest = z.output<typeof ExportRequest>;
