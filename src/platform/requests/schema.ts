import { z } from 'zod';
import { idField } from '../../kit/values/fields.ts';
import { clampedParameter, throughInput, timestamp, timestampInput } from '../../kit/values/page.ts';

const MOST = 1_000;
const DEFAULT = 100;

const TEXT = z.string().max(200);

/** Where a page ends: the sort values of its last call. */
export interface Position {
  atMs: number;
  requestId: string;
  micros: number;
}

const CURSOR = /^(\d{1,15})\.(\d{1,15})\.(.{1,200})$/s;

export const cursorOf = ({ atMs, requestId, micros }: Position): string =>
  Buffer.from(`${atMs}.${micros}.${requestId}`).toString('base64url');

/** Undefined if it cannot be read. */
export function readCursor(cursor: string): Position | undefined {
  const [, atMs, micros, requestId] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  return requestId === undefined ? undefined : { atMs: Number(atMs), micros: Number(micros), requestId };
}

const cursor = z
  .string()
  .max(400)
  .refine((text) => readCursor(text) !== undefined, 'must be the `next_after` of an earlier answer');

export const RequestFilter = z.object({
  request_id: TEXT.describe('Only calls with this `X-Request-Id`.').optional(),
  key: TEXT.describe('Only calls with the key of this id.').optional(),
  operation: TEXT.describe('Only calls of this operation, such as `search_creators`.').optional(),
  status: z
    .string()
    .regex(/^[1-5](?:[0-9]{2}|[xX]{2})$/, 'must be a status such as 404, or a class of statuses such as 4xx')
    .describe('Only calls that were answered with this status, such as `404`, or class of statuses, such as `4xx`.')
    .optional(),
  from: timestampInput.describe('Only calls at or after this time.').optional(),
  to: throughInput.describe('Only calls at or before this time; a date includes the whole day.').optional(),
  after: cursor.describe('`next_after` of the previous page, to send with the same filters.').optional(),
  limit: clampedParameter(MOST)
    .default(DEFAULT)
    .describe('Most calls in one answer; larger values are clamped to 1,000.'),
});
export type RequestFilter = z.output<typeof RequestFilter>;

export const KeyRequest = z
  .object({
    request_id: z.string().describe('`X-Request-Id` of the call.').meta({ example: 'req_0Uo3xK2mVdT2aXs7LpRb' }),
    at: timestamp.describe('When the call began.').meta({ example: '2026-03-02T09:30:00.000Z' }),
    key_id: idField('key', 'Id of the key that made the call.'),
    key_name: z.string().nullable().describe('Name of the key that made the call.').meta({ example: 'warehouse' }),
    operation: z
      .string()
      .nullable()
      .describe('Operation that was called; null if there is none at the path.')
      .meta({ example: 'search_creators' }),
    status: z.number().int().describe('HTTP status of the answer.').meta({ example: 200 }),
    code: z
      .string()
      .nullable()
      .describe('Error code of the answer; null if the call succeeded.')
      .meta({ example: null }),
    credits: z.number().int().describe('Credits that the call cost; a walk costs the sum of its blocks.'),
    ms: z
      .number()
      .describe('Milliseconds until the answer was ready, or until a stream ended.')
      .meta({ example: 12.4 }),
    results: z
      .number()
      .int()
      .nullable()
      .describe(
        'Matches of a search or items of a list, on all pages; creators that a walk sent; null for other calls.',
      )
      .meta({ example: 1_284 }),
    search: z
      .object({
        kind: z
          .enum(['page', 'preview', 'look_up', 'walk'])
          .describe('`page`: one page of creators. `look_up`: creators by key, username or e-mail address.'),
        filters: z
          .array(z.string())
          .describe('Names of the parameters that decided who matches. Their values are not kept.')
          .meta({ example: ['category', 'city', 'q'] }),
        fingerprint: z
          .string()
          .describe('The same for all searches with the same filters, whatever their page, order or kind.')
          .meta({ example: '5f0c2a91b7d3e486' }),
      })
      .nullable()
      .describe('The search; null for other calls and for refused ones.'),
  })
  .meta({ id: 'KeyRequest' });

export const KeyRequests = z
  .object({
    data: z.array(KeyRequest).describe('Calls, newest first.'),
    has_more: z.boolean().describe('Whether there are earlier calls.').meta({ example: true }),
    next_after: z
      .string()
      .nullable()
      .describe('Send it as `after` for the calls before these; null if there are none.')
      .meta({ example: 'MTc3MjQ0MzgwMDAwMC4xMjQwMC5yZXE' }),
  })
  .meta({ id: 'KeyRequests' });
