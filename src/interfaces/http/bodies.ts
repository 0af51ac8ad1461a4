import { type Readable, Transform } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { toSubscriber } from '../../kit/access/rate-limit.ts';
import { ApiError, ignoreFailure } from '../../kit/values/errors.ts';
import { takesForm } from './form.ts';

const MB = 1024 * 1024;

interface PoolLimits {
  bytes: number;
  bytesOfAddress: number;
  bodies: number;
  bodiesOfAddress: number;
}

export const BODY_LIMITS = {
  /** Limits for bodies in this process's memory. */
  buffered: { bytes: 64 * MB, bytesOfAddress: 32 * MB, bodies: 500, bodiesOfAddress: 100 },
  /** Forms are streamed to the storage, so only their number is limited here; `readParts` limits each form. */
  forms: { bytes: Infinity, bytesOfAddress: Infinity, bodies: 200, bodiesOfAddress: 50 },
  /** A buffered body must be complete within this time; a form must send `formBytes` in each such period. */
  withinMs: 30_000,
  formBytes: 64 * 1024,
};
export type BodyLimits = typeof BODY_LIMITS;

const busy = () =>
  new ApiError('SERVICE_UNAVAILABLE', 'Too many requests are being received at once; try again shortly.', {
    headers: { 'retry-after': '2', connection: 'close' },
  });
const late = () =>
  new ApiError('REQUEST_TIMEOUT', 'The body did not arrive in time.', { headers: { connection: 'close' } });

interface Usage {
  bytes: number;
  bodies: number;
}

/** Counts the bodies that are being received, in total and by address. */
function openPool(limits: PoolLimits) {
  const all: Usage = { bytes: 0, bodies: 0 };
  const byAddress = new Map<string, Usage>();
  return (address: string) => {
    const own = byAddress.get(address) ?? { bytes: 0, bodies: 0 };
    byAddress.set(address, own);
    const count = (bytes: number, bodies: number) => {
      for (const usage of [all, own]) {
        usage.bytes += bytes;
        usage.bodies += bodies;
      }
    };
    let receivedBytes = 0;
    count(0, 1);
    return {
      received: () => receivedBytes,
      isOverLimit: () =>
        all.bytes > limits.bytes ||
        own.bytes > limits.bytesOfAddress ||
        all.bodies > limits.bodies ||
        own.bodies > limits.bodiesOfAddress,
      add: (bytes: number) => {
        receivedBytes += bytes;
        count(bytes, 0);
      },
      release: () => {
        count(-receivedBytes, -1);
        if (own.bodies === 0) byAddress.delete(address);
      },
    };
  };
}

export interface Bodies {
  /** The body as a stream, which fails when a limit is exceeded. */
  bound(request: FastifyRequest, reply: FastifyReply, payload: Readable): Readable;
  /** Discards the rest of the body after the response, and closes the connection if that takes too long. */
  discardRest(request: FastifyRequest): void;
}

const hasBody = ({ method, headers }: FastifyRequest): boolean =>
  method !== 'GET' &&
  method !== 'HEAD' &&
  (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0);

export function openBodies(limits: BodyLimits = BODY_LIMITS): Bodies {
  const [buffered, forms] = [openPool(limits.buffered), openPool(limits.forms)];

  return {
    bound: (request, reply, payload) => {
      if (payload.readableEnded || !hasBody(request)) return payload;
      const isForm = takesForm(request);
      const body = (isForm ? forms : buffered)(toSubscriber(request.ip));
      const counter = new Transform({
        transform: (chunk: Buffer, _encoding, done) => {
          body.add(chunk.length);
          done(body.isOverLimit() ? busy() : null, chunk);
        },
      });
      let before = 0;
      const timer = setInterval(() => {
        if (!isForm || body.received() - before < limits.formBytes) counter.destroy(late());
        before = body.received();
      }, limits.withinMs);
      if (body.isOverLimit()) setImmediate(() => counter.destroy(busy()));
      counter.once('close', () => {
        clearInterval(timer);
        body.release();
      });
      // A response may be sent before the body is read; then nothing else listens for errors.
      counter.on('error', ignoreFailure('the reader of the body receives it too'));
      // Not `pipeline`, which would destroy the socket that the error response needs.
      payload.once('error', (error) => counter.destroy(error));
      payload.once('end', () => clearInterval(timer));
      payload.once('close', () => {
        if (!payload.readableEnded) counter.destroy();
      });
      reply.raw.once('close', () => counter.destroy());
      return payload.pipe(counter);
    },
    discardRest: ({ raw }) => {
      if (raw.readableEnded) return;
      raw.unpipe();
      raw.resume();
      if (raw.complete) return;
      const timer = setTimeout(() => raw.destroy(), limits.withinMs).unref();
      raw.once('close', () => clearTimeout(timer)).once('end', () => clearTimeout(timer));
    },
  };
}
