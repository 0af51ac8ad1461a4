/** Every error code with its HTTP status. */
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
  SIGN_IN_AGAIN: 403,
  POLICY_REFUSED: 403,
  FOREIGN_HOST: 403,
  ADDRESS_NOT_ALLOWED: 403,
  BRAND_SUSPENDED: 403,
  PLAN_OUTDATED: 409,
  QUESTIONS_OPEN: 409,
  READING_OUTDATED: 409,
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
  MONEY_DUE: 409,
  IDEMPOTENCY_KEY_REUSED: 409,
  CREATOR_LIMIT_REACHED: 403,
  CONTACT_INFO_BLOCKED: 403,
  WEBHOOK_LIMIT_REACHED: 403,
  LIST_LIMIT_REACHED: 403,
  LIST_FULL: 403,
  STORAGE_LIMIT_REACHED: 403,
  SAVED_SEARCH_LIMIT_REACHED: 403,
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

export const ERROR_CODES = Object.keys(STATUS).filter((name: string): name is ErrorCode => Object.hasOwn(STATUS, name));

/** One problem with one field. `message` names the value and what would be valid. */
export interface Problem {
  field: string;
  code: string;
  message: string;
}

export interface ErrorOptions {
  details?: Problem[];
  /** Extra fields at the top level of the body, such as `credits_remaining`. */
  facts?: Record<string, unknown>;
  headers?: Record<string, string>;
  /** Overrides the table, for a code with two statuses (414 and 431 are both REQUEST_TOO_LONG). */
  status?: number;
  /** The engine that did not respond. */
  engine?: string;
  /** The cause, for the log only. */
  cause?: unknown;
  /** The failure as a whole is in the log, so that a line for each call would only hide others. */
  isLogged?: boolean;
}

/** An error response. `message` is public; `cause` goes to the log only. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Problem[] | undefined;
  readonly facts: Record<string, unknown>;
  readonly headers: Record<string, string>;
  readonly engine: string | undefined;
  readonly isLogged: boolean;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status ?? STATUS[code];
    this.details = options.details;
    this.facts = options.facts ?? {};
    this.headers = options.headers ?? {};
    this.engine = options.engine;
    this.isLogged = options.isLogged ?? false;
  }
}

export const keyReused = (): ApiError =>
  new ApiError('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was used for another request; use a new one.');

export function notFound(what: string): ApiError {
  return new ApiError('NOT_FOUND', `No such ${what}.`);
}

/** The error for a change of status that the current status does not allow. `allowed` lists the valid ones. */
export function wrongState(what: string, current: string, target: string, allowed: readonly string[]): ApiError {
  const possible = allowed.length > 0 ? `it may become ${allowed.join(', ')}` : 'this status is final';
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

/** Runs what checks the parts of one field, and names them below it in a VALIDATION_ERROR. */
export async function below<T>(field: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'VALIDATION_ERROR') throw error;
    throw validationError((error.details ?? []).map((one) => ({ ...one, field: `${field}.${one.field}` })));
  }
}

/** The error for an engine that did not respond. The caller may retry after `retryAfterSeconds`. */
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

/** The public error for anything thrown. Anything but an ApiError is a bug of ours, and its details stay internal. */
export function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  return new ApiError('INTERNAL_ERROR', 'Something went wrong on our side.', { cause: thrown });
}

/** Handles a failure that is ignored on purpose. `why` is for the reader of the code. */
export function ignoreFailure(_why: string): (cause: unknown) => undefined {
  return () => undefined;
}
