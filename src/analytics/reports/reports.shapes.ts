import { z } from 'zod';
import { Email } from '../../kit/values/email.ts';
import { createdAt, idField, updatedAt } from '../../kit/values/fields.ts';
import { ListQuery, timestamp } from '../../kit/values/page.ts';
import { TimeZone } from '../../kit/values/time-zone.ts';
import type { ReportRow } from './reports.ts';

const MAX_PARAMETERS = 20;
const MAX_RECIPIENTS = 20;
const DEFAULT_TIME = '08:00';

const OPERATIONS = ['analytics', 'breakdown', 'customers', 'returns', 'share', 'performance'] as const;
export type ReportOperation = (typeof OPERATIONS)[number];

export const EVERY = ['day', 'week', 'month'] as const;
export type ReportInterval = (typeof EVERY)[number];

const name = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .nullable()
  .describe('Name of the report, in the subject of its emails; null for one such as "Weekly returns".')
  .meta({ example: 'Monday figures' });
const operation = z
  .enum(OPERATIONS)
  .describe('What is read: `/v1/analytics` or one of its reports, or `/v1/affiliates/performance`.')
  .meta({ example: 'breakdown' });
const parameters = z
  .record(z.string().min(1).max(50), z.string().max(300))
  .refine((all) => Object.keys(all).length <= MAX_PARAMETERS, `must have at most ${MAX_PARAMETERS} entries`)
  .describe('Its parameters, as texts. The report sets the period, the comparison and the number of rows itself.')
  .meta({ example: { by: 'creator', sort: 'orders' } });
const every = z
  .enum(EVERY)
  .describe('Length of a period, in the time zone. Weeks begin on Monday.')
  .meta({ example: 'week' });
const at = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time such as 08:00')
  .describe('Time of its emails in the time zone, on the day after the period.')
  .meta({ example: DEFAULT_TIME });
const timezone = TimeZone.describe('IANA time zone of its periods and mails.');

/** The recipients of a report or an alert. */
export const recipients = z
  .array(Email)
  .min(1)
  .max(MAX_RECIPIENTS)
  .meta({ example: ['robin@acme.example'] });
const to = recipients.describe("Addresses of the brand's people who get the report. People who have left get none.");

export const Report = z
  .object({
    id: idField('rep', 'Report id.'),
    name,
    operation,
    parameters,
    every,
    at,
    timezone,
    to,
    next_at: timestamp
      .describe('When its next email is sent or retried.')
      .meta({ example: '2026-03-09T07:00:00.000Z' }),
    last_sent_at: timestamp
      .nullable()
      .describe('When the last period was emailed; null before the first.')
      .meta({ example: '2026-03-02T07:00:00.000Z' }),
    last_error: z
      .string()
      .nullable()
      .describe('Why the figures could not be read; retried every five minutes. Null while it works.')
      .meta({ example: null }),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: 'Report' });

export const ReportCreate = z
  .object({
    name: name.default(null),
    operation,
    parameters: parameters.default({}),
    every,
    at: at.default(DEFAULT_TIME),
    timezone: timezone.optional().describe('IANA time zone of its periods and emails; that of the brand by default.'),
    to,
  })
  .meta({ id: 'ReportCreate' });

export const ReportPatch = z
  .object({
    name: name.optional(),
    operation: operation.optional(),
    parameters: parameters.optional(),
    every: every.optional(),
    at: at.optional(),
    timezone: timezone.optional(),
    to: to.optional(),
  })
  .meta({ id: 'ReportPatch' });

export const ReportFilter = z.object(ListQuery);

export const toReport = (row: ReportRow): z.input<typeof Report> => ({
  id: row.id,
  name: row.name,
  operation: row.operation,
  parameters: row.parameters,
  every: row.every,
  at: row.at,
  timezone: row.timezone,
  to: row.recipients,
  next_at: row.dueAt.toISOString(),
  last_sent_at: row.sentAt?.toISOString() ?? null,
  last_error: row.error,
  created_at: row.createdAt.toISOString(),
  updated_at: row.updatedAt?.toISOString() ?? null,
});

/** A figure of a mail. Money is in minor units of the currency. */
export const Figure = z.object({
  label: z.string(),
  value: z.number().nullable(),
  previous: z.number().nullable(),
  unit: z.enum(['money', 'count', 'percent']),
  currency: z.string(),
});
export type Figure = z.output<typeof Figure>;
