import type { Clock } from '../../values/clock.ts';
import { ApiError } from '../../values/errors.ts';
import type { Metrics } from '../../values/metrics.ts';
import { type Identified, type Identity, type Request, UNCONFIRMED_AGE_MS } from '../keys/identify.ts';
import type { Caller } from '../keys/queries.ts';
import { unreadRateHeaders } from '../rate/headers.ts';
import { openLocalWindows } from '../rate/local.ts';
import { creditHeaders } from './headers.ts';
import { getRateLimit, type MeterCall, type Metered, RATE_WINDOW_MS } from './meter.ts';

export type MeterOrFallBack = (
  request: Request,
  identified: Identified,
  call: Pick<MeterCall, 'credits' | 'countedAs' | 'block'>,
) => Promise<Metered>;

/** The meter with its fallback: while Redis is down, this process counts free calls by itself and refuses priced ones. */
export function openMetering(
  meter: (call: MeterCall) => Promise<Metered>,
  identity: Identity,
  metrics: Metrics,
  clock: Clock,
): MeterOrFallBack {
  const localWindow = openLocalWindows(RATE_WINDOW_MS);

  function refuseUnread(request: Request, caller: Caller, cause: ApiError): never {
    const now = clock.now();
    const headers = {
      ...unreadRateHeaders(getRateLimit(caller), now.getTime()),
      ...creditHeaders(caller, { credits: undefined, charge: undefined }, 0, now),
    };
    for (const [name, value] of Object.entries(headers)) request.setHeader(name, value);
    throw cause;
  }

  return async (request, { key, caller }, call) => {
    try {
      return await meter({ ...call, caller, requestId: request.requestId });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'SERVICE_UNAVAILABLE') throw error;
      if (call.credits > 0) refuseUnread(request, caller, error);
      metrics.localLimits.inc();
      await identity.identifyAgain(request, key, UNCONFIRMED_AGE_MS);
      const window = localWindow(caller.keyId, clock.now().getTime());
      return { ...window, state: 'ok', credits: undefined, charge: undefined, isPaid: false };
    }
  };
}
