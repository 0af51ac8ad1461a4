import { pipeline, type Readable, Transform } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { subscriberOf } from '../access/rate/subscriber.ts';
import { ApiError, ignoreFailure } from '../values/errors.ts';

/** Of bodies that nobody has checked yet: what this process holds of all, what of one address, and for how long. */
const LIMITS = {
  bytes: 64 * 1024 * 1024,
  ofAddress: 32 * 1024 * 1024,
  bodies: 500,
  bodiesOfAddress: 100,
  withinMs: 30_000,
};
export type BodyLimits = typeof LIMITS;

const busy = () =>
  new ApiError('SERVICE_UNAVAILABLE', 'More is being sent than can be taken at once; try again shortly.', {
    headers: { 'retry-after': '2', connection: 'close' },
  });
const late = () =>
  new ApiError('REQUEST_TIMEOUT', 'The body did not come to its end in time.', { headers: { connection: 'close' } });

interface Held {
  bytes: number;
  bodies: number;
}

export interface Bodies {
  /** The body as it comes; it breaks off where one of the bounds is passed. */
  bound(request: FastifyRequest, payload: Readable): Readable;
}

/** Of a GET nothing is read, and a form with files goes to disk as it comes, with bounds of its own. */
function isHeld({ method, headers }: FastifyRequest): boolean {
  if (method === 'GET' || method === 'HEAD' || /^multipart\//i.test(headers['content-type'] ?? '')) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

export function openBodies(limits: BodyLimits = LIMITS): Bodies {
  const all: Held = { bytes: 0, bodies: 0 };
  const byAddress = new Map<string, Held>();

  function isPassed(own: Held): boolean {
    return (
      all.bytes > limits.bytes ||
      own.bytes > limits.ofAddress ||
      all.bodies > limits.bodies ||
      own.bodies > limits.bodiesOfAddress
    );
  }

  function hold(address: string): { own: Held; release(bytes: number): void } {
    const own = byAddress.get(address) ?? { bytes: 0, bodies: 0 };
    byAddress.set(address, own);
    for (const held of [all, own]) held.bodies += 1;
    const release = (bytes: number) => {
      for (const held of [all, own]) {
        held.bodies -= 1;
        held.bytes -= bytes;
      }
      if (own.bodies === 0) byAddress.delete(address);
    };
    return { own, release };
  }

  return {
    bound: (request, payload) => {
      if (payload.readableEnded || !isHeld(request)) return payload;
      const { own, release } = hold(subscriberOf(request.ip));
      let bytes = 0;
      const counted = new Transform({
        transform: (chunk: Buffer, _encoding, done) => {
          bytes += chunk.length;
          for (const held of [all, own]) held.bytes += chunk.length;
          done(isPassed(own) ? busy() : null, chunk);
        },
      });
      const timer = setTimeout(() => counted.destroy(late()), limits.withinMs);
      if (isPassed(own)) setImmediate(() => counted.destroy(busy()));
      counted.once('close', () => {
        clearTimeout(timer);
        release(bytes);
      });
      // A request may be answered without a look at its body: nobody listens then, and what came is let go.
      counted.on('error', ignoreFailure('whoever reads the body is told'));
      request.raw.once('close', () => counted.destroy());
      payload.once('end', () => clearTimeout(timer));
      pipeline(payload, counted, ignoreFailure('whoever reads the body is told'));
      return counted;
    },
  };
}
