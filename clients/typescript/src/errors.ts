import type { ErrorCode } from './generated/types.gen.js';

/** Codes of failures on this side: no answer came, an answer or event is not the API's, or a delivery is not Rollcall's. */
export type ClientErrorCode = 'NETWORK_ERROR' | 'UNREADABLE' | 'WEBHOOK_SIGNATURE' | 'WEBHOOK_SECRET';

/** One problem with one field. */
export interface Problem {
  readonly field: string;
  readonly code: string;
  readonly message: string;
}

interface Refusal {
  error: string;
  code: ErrorCode;
  request_id?: string;
  details?: Problem[];
}

export interface Circumstances {
  status?: number;
  request_id?: string | null;
  body?: Refusal;
  cause?: unknown;
}

/** Anything that failed: a refusal of the API's, a broken connection, a forged delivery. Branch on its `code`. */
export class RollcallError extends Error {
  override readonly name = 'RollcallError';
  readonly code: ErrorCode | ClientErrorCode;
  /** The status of the answer; 0 if none came. */
  readonly status: number;
  /** The fields that are wrong; empty unless the code is VALIDATION_ERROR. */
  readonly details: readonly Problem[];
  /** The id of the answer, or the one that was sent; null if nothing was sent. */
  readonly request_id: string | null;
  /** The whole body: `credits_remaining`, `plan_id` and what else a code adds. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode | ClientErrorCode,
    message: string,
    { status = 0, request_id = null, body, cause }: Circumstances = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.details = body?.details ?? [];
    this.request_id = body?.request_id ?? request_id;
    this.body = { ...body };
  }
}

const isRefusal = (error: unknown): error is Refusal =>
  typeof error === 'object' && error !== null && 'code' in error && 'error' in error;

/** Turns the failure of a call into a RollcallError. `error` is a body, its text if it is not JSON, or what broke. */
export function toRollcallError(error: unknown, status = 0, requestId: string | null = null): RollcallError {
  if (error instanceof RollcallError) return error;
  const known = { status, request_id: requestId };
  if (isRefusal(error)) return new RollcallError(error.code, error.error, { ...known, body: error });
  if (error instanceof Error && !(error instanceof SyntaxError)) {
    const { message } = error.cause instanceof Error && error.cause.message !== '' ? error.cause : error;
    return new RollcallError('NETWORK_ERROR', `No whole answer came: ${message}`, { ...known, cause: error });
  }
  const said = error instanceof Error ? error.message : typeof error === 'string' ? error.slice(0, 200) : '';
  return new RollcallError('UNREADABLE', `The answer ${status} is not the API's: ${said}`, { ...known, cause: error });
}
