/** Every code a client can branch on, with its status. The one place where a code gets its status. */
export const STATUS = {
  INVALID_JSON: 400,
  BAD_REQUEST: 400,
  AUTH_REQUIRED: 401,
  INVALID_API_KEY: 401,
  INVALID_SIGNATURE: 401,
  LINK_USED: 401,
  INVALID_PASSKEY: 401,
  CREDITS_EXHAUSTED: 402,
  BRAND_KEY_REQUIRED: 403,
  SUBSCRIPTION_REQUIRED: 403,
  SESSION_REQUIRED: 403,
  ROLE_REQUIRED: 403,
  POLICY_REFUSED: 403,
  FOREIGN_HOST: 403,
  PLAN_OUTDATED: 409,
  CROSS_SITE: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  NOT_ACCEPTABLE: 406,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  ALREADY_ON_ROSTER: 409,
  DUPLICATE_CODE: 409,
  INVALID_STATE_TRANSITION: 409,
  REVIEW_PERIOD_ACTIVE: 409,
  ORDER_NOT_PAID: 409,
  COMMISSION_PAID: 409,
  IDEMPOTENCY_KEY_REUSED: 409,
  CREATOR_LIMIT_REACHED: 403,
  CONTACT_INFO_BLOCKED: 403,
  WEBHOOK_LIMIT_REACHED: 403,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  VALIDATION_ERROR: 422,
  INVALID_SELECTION: 422,
  RATE_LIMITED: 429,
  REQUEST_TOO_LONG: 431,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof STATUS;

const isErrorCode = (name: string): name is ErrorCode => Object.hasOwn(STATUS, name);
export const ERROR_CODES = Object.keys(STATUS).filter(isErrorCode);

/** One thing wrong with one field; `message` names the value and what would be right. */
export interface Problem {
  field: string;
  code: string;
  message: string;
}

export interface ErrorOptions {
  details?: Problem[];
  /** Facts that stand at the top level of the body, such as `credits_remaining`. */
  facts?: Record<string, unknown>;
  headers?: Record<string, string>;
  /** Overrides the table where one code has two statuses (414 and 431 are both REQUEST_TOO_LONG). */
  status?: number;
  /** The engine that did not answer. */
  engine?: string;
  /** Why, for the log only. */
  cause?: unknown;
}

/** An answer other than success. `message` is public; `cause` goes to the log only. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Problem[] | undefined;
  readonly facts: Record<string, unknown>;
  readonly headers: Record<string, string>;
  readonly engine: string | undefined;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status ?? STATUS[code];
    this.details = options.details;
    this.facts = options.facts ?? {};
    this.headers = options.headers ?? {};
    this.engine = options.engine;
  }
}

export function notFound(what: string): ApiError {
  return new ApiError('NOT_FOUND', `No such ${what}.`);
}

/** A move that the present state does not allow; `allowed` names those that it does. */
export function wrongState(what: string, current: string, target: string, allowed: readonly string[]): ApiError {
  const possible = allowed.length > 0 ? `it may become ${allowed.join(', ')}` : 'nothing changes it any more';
  return new ApiError(
    'INVALID_STATE_TRANSITION',
    `The ${what} is ${current} and cannot become ${target}; ${possible}.`,
    {
      facts: { current_status: current, allowed },
    },
  );
}

export function validationError(details: Problem[]): ApiError {
  const first = details[0];
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : '';
  return new ApiError('VALIDATION_ERROR', first ? `${first.field}: ${first.message}${more}` : 'Invalid request.', {
    details,
  });
}

/** An engine did not answer. The caller may try again after `retryAfterSeconds`. */
export function unavailable(engine: string, cause: unknown, retryAfterSeconds = 2): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', `${engine} is unavailable; try again shortly.`, {
    headers: { 'retry-after': String(retryAfterSeconds) },
    engine,
    cause,
  });
}

export function errorBody(error: ApiError, requestId: string): Record<string, unknown> {
  return {
    error: error.message,
    code: error.code,
    ...(error.details ? { details: error.details } : {}),
    ...error.facts,
    request_id: requestId,
  };
}

/** The public face of anything thrown: what is not an ApiError is our bug, and says nothing of the inside. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  return new ApiError('INTERNAL_ERROR', 'Something went wrong on our side.', { cause: thrown });
}

/** A failure that is deliberately not acted on. `why` is for the reader of the code. */
export function ignoreFailure(_why: string): (cause: unknown) => undefined {
  return () => undefined;
}
