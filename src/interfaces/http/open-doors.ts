import type { FastifyInstance } from 'fastify';
import { openLocalWindows, rateLimited, toSubscriber } from '../../kit/access/rate-limit.ts';
import type { Clock } from '../../kit/values/clock.ts';

/** Paths that need no key and are not pages for creators. `/healthz` is cheap enough to be unlimited. */
const OPEN = /^\/(?:metrics|readyz|openapi\.json|openapi-legacy\.json|llms\.txt|docs|clients)?(?:[/?]|$)/;
const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/;

const CALLS = 300;
const WINDOW_MS = 60_000;

/** Rate-limits public paths per address within this process, because counting must cost less than serving them. */
export function limitOpenDoors(app: FastifyInstance, clock: Clock): void {
  const windowOf = openLocalWindows(WINDOW_MS);
  app.addHook('onRequest', (request, _reply, done) => {
    if (!OPEN.test(request.url) || LOOPBACK.test(request.ip)) return done();
    const now = clock.now().getTime();
    const window = windowOf(toSubscriber(request.ip), now);
    return done(window.calls > CALLS ? rateLimited(window, CALLS, now) : undefined);
  });
}
