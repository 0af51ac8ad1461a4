import { AsyncLocalStorage } from 'node:async_hooks';
import { pipeline, Readable, Transform } from 'node:stream';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { limit } from '../../values/within.ts';

/** The limits of each request to a storage, whoever runs it. */
export interface StoreLimits {
  connectMs: number;
  /** For the whole of a request and its answer; for the bytes of a file until they begin. */
  wholeMs: number;
  /** How long nothing may move, and in which time at least `MIN_PROGRESS` bytes of a file arrive. */
  idleMs: number;
}

/** A slower storage is one that does not answer. */
const MIN_PROGRESS = 1_024;
/** Answers other than the bytes of a file: errors, and lists of uploads. */
const MAX_ANSWER_BYTES = 1024 * 1024;

type Handler = S3Client['config']['requestHandler'];
type HandlerRequest = Parameters<Handler['handle']>[0];

const current = new AsyncLocalStorage<AbortSignal | undefined>();

/** Runs calls of guarded clients, all of which end when the signal is aborted. */
export const withSignal = <T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> =>
  current.run(signal, work);

const isFile = ({ method, query }: HandlerRequest, status: number): boolean =>
  method === 'GET' && query?.['x-id'] === 'GetObject' && status < 300;

/** The body within its limits: it fails when it grows too large or stands still. A slow reader of ours is no fault. */
function boundBody(body: Readable, { idleMs, maxBytes }: { idleMs: number; maxBytes: number }): Readable {
  let size = 0;
  let seenBytes = 0;
  const boundedBody = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      size += chunk.length;
      if (size > maxBytes) done(new Error(`The storage answered more than ${maxBytes} bytes.`));
      else done(null, chunk);
    },
  });
  const watch = setInterval(() => {
    if (size - seenBytes < MIN_PROGRESS && !boundedBody.writableNeedDrain) {
      body.destroy(new Error(`The storage stood still for ${idleMs / 1_000} s.`));
    }
    seenBytes = size;
  }, idleMs).unref();
  pipeline(body, boundedBody, () => clearInterval(watch));
  return boundedBody;
}

/** Wraps the SDK's own handler. Its `requestTimeout` only warns, and it reads whatever is sent for as long as it takes. */
function guard(inner: Handler, { wholeMs, idleMs }: StoreLimits): Handler {
  async function handle(...[request, options = {}]: Parameters<Handler['handle']>) {
    const late = new AbortController();
    const caller = current.getStore();
    const signal = caller ? AbortSignal.any([late.signal, caller]) : late.signal;
    const end = limit(wholeMs, () => late.abort(new Error(`The storage did not answer within ${wholeMs / 1_000} s.`)));
    const toError = (error: unknown) => (signal.aborted ? signal.reason : error);
    try {
      signal.throwIfAborted();
      const { response } = await inner.handle(request, { ...options, abortSignal: signal });
      const { body } = response;
      if (!(body instanceof Readable)) {
        end();
        return { response };
      }
      const isOfFile = isFile(request, response.statusCode);
      if (isOfFile) end();
      const stop = () => void body.destroy(toError(undefined));
      signal.addEventListener('abort', stop, { once: true });
      body.once('close', () => {
        end();
        signal.removeEventListener('abort', stop);
      });
      response.body = boundBody(body, {
        idleMs,
        maxBytes: isOfFile ? Number.POSITIVE_INFINITY : MAX_ANSWER_BYTES,
      });
      return { response };
    } catch (error) {
      end();
      throw toError(error);
    }
  }
  return Object.assign(Object.create(inner), { handle });
}

/** The only way to make a client of S3: all that it sends has limits, and ends with the signal of its caller. */
export function createGuardedClient(
  config: S3ClientConfig,
  limits: StoreLimits,
  agents: { httpAgent?: unknown; httpsAgent?: unknown } = {},
): S3Client {
  const client = new S3Client({
    ...config,
    requestHandler: {
      ...agents,
      connectionTimeout: limits.connectMs,
      socketTimeout: limits.idleMs,
      requestTimeout: limits.wholeMs,
      throwOnRequestTimeout: true,
    },
  });
  client.config.requestHandler = guard(client.config.requestHandler, limits);
  return client;
}
