import type { FastifyInstance } from 'fastify';
import { rateLimited } from '../access/rate/headers.ts';
import { openLocalWindows } from '../access/rate/local.ts';
import { subscriberOf } from '../access/rate/subscriber.ts';
import type { Clock } from '../values/clock.ts';

/** What is answered without a key and is no page for creators; `/healthz` costs nothing. */
const OPEN = /^\/(?:metrics|readyz|openapi\.json|openapi-legacy\.json|llms\.txt|docs)?(?:[/?]|$)/;
const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/;

const CALLS = 300;
const WINDOW_MS = 60_000;

/** Limits what is open to everybody, per address and by this process alone: counting it must cost less than it does. */
export function limitOpenDoors(app: FastifyInstance, clock: Clock): void {
  const windowOf = openLocalWindows(WINDOW_MS);
  app.addHook('onRequest', (request, _reply, done) => {
    if (!OPEN.test(request.url) || LOOPBACK.test(request.ip)) return done();
    const now = clock.now().getTime();
    const window = windowOf(subscriberOf(request.ip), now);
    return done(window.calls > CALLS ? rateLimited(window, CALLS, now) : undefined);
  });
}
