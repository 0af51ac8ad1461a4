import { z } from 'zod';
import { ERROR_CODES, type ErrorCode } from '../../../kit/values/errors.ts';

/** The body of every error response. */
export const Refusal = z
  .looseObject({
    error: z
      .string()
      .describe('What went wrong, as a sentence for people.')
      .meta({ example: 'body.name: is required.' }),
    code: z
      .enum(ERROR_CODES)
      .meta({ id: 'ErrorCode', example: 'VALIDATION_ERROR' })
      .describe('Stable error code for programs to branch on.'),
    details: z
      .array(
        z.object({
          field: z.string().describe('Path of the wrong field.').meta({ example: 'body.name' }),
          code: z.string().describe('What is wrong with the field, as a stable code.').meta({ example: 'required' }),
          message: z.string().describe('What the field must be, for people.').meta({ example: 'is required.' }),
        }),
      )
      .optional()
      .describe('Problems with the request, one per field.'),
    request_id: z
      .string()
      .describe('Id of the request, the same as `X-Request-Id`.')
      .meta({ example: 'req_0Uo3xK2mVdT2aXs7LpRb' }),
  })
  .describe('Every error has these fields. Some codes add others, such as `credits_remaining`.')
  .meta({ id: 'Error' });

interface Example {
  code: ErrorCode;
  error: string;
  [fact: string]: unknown;
}

/** The name of each status in the OpenAPI components, and an example. */
const REFUSALS: Readonly<Record<number, readonly [name: string, example: Example]>> = {
  400: ['BadRequest', { code: 'INVALID_JSON', error: 'The body is not UTF-8.' }],
  401: ['NotAuthenticated', { code: 'INVALID_API_KEY', error: 'This API key is unknown, revoked or expired.' }],
  402: [
    'CreditsExhausted',
    { code: 'CREDITS_EXHAUSTED', error: 'The credits of this month are used up.', credits_remaining: 0 },
  ],
  403: [
    'Forbidden',
    {
      code: 'BRAND_KEY_REQUIRED',
      error: 'A data key may only search the directory and read one creator; use a brand key.',
    },
  ],
  404: ['NotFound', { code: 'NOT_FOUND', error: 'No such campaign.' }],
  405: ['MethodNotAllowed', { code: 'METHOD_NOT_ALLOWED', error: 'This is not an HTTP method.' }],
  406: ['NotAcceptable', { code: 'NOT_ACCEPTABLE', error: 'This answers application/json, not "image/png".' }],
  408: ['RequestTimeout', { code: 'REQUEST_TIMEOUT', error: 'The body was not received in time.' }],
  409: [
    'Conflict',
    {
      code: 'IDEMPOTENCY_KEY_REUSED',
      error: 'This Idempotency-Key was used for another request; use a new one.',
    },
  ],
  413: ['TooLarge', { code: 'PAYLOAD_TOO_LARGE', error: 'The body is larger than 1 MB.' }],
  414: ['PathTooLong', { code: 'REQUEST_TOO_LONG', error: 'A part of the path is too long.' }],
  415: [
    'UnsupportedMediaType',
    { code: 'UNSUPPORTED_MEDIA_TYPE', error: 'Send the body as application/json, not "text/plain".' },
  ],
  422: [
    'Invalid',
    {
      code: 'VALIDATION_ERROR',
      error: 'body.title: is required.',
      details: [{ field: 'body.title', code: 'required', message: 'is required.' }],
    },
  ],
  429: ['RateLimited', { code: 'RATE_LIMITED', error: 'More than 100 calls in 60 seconds; try again in 12 s.' }],
  431: ['HeadersTooLong', { code: 'REQUEST_TOO_LONG', error: 'The headers of the request are too long.' }],
  500: ['Internal', { code: 'INTERNAL_ERROR', error: 'Something went wrong on our side.' }],
  503: ['Unavailable', { code: 'SERVICE_UNAVAILABLE', error: 'PostgreSQL is unavailable; try again shortly.' }],
};

export const refusalName = (status: number) => REFUSALS[status]?.[0] ?? `Status${status}`;

export function refusalExample(status: number): Example | undefined {
  const example = REFUSALS[status]?.[1];
  return example && { ...example, request_id: 'req_0Uo3xK2mVdT2aXs7LpRb' };
}
