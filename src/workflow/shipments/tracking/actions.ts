import pThrottle from 'p-throttle';
import { z } from 'zod';
import { callJson } from '../../../kit/engines/http/client.ts';
import type { Config } from '../../../kit/values/config.ts';
import { unavailable } from '../../../kit/values/errors.ts';
import type { TrackingEvent } from '../queries.ts';

const NAME = 'The tracking provider';
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 512 * 1024;
const MAX_EVENTS = 50;
/** The provider's code for a number that it already tracks. */
const FOLLOWED_ALREADY = 4003;

/** Maps the provider's tags to values of `tracking_status`. */
const WORDS: Readonly<Record<string, string>> = {
  Pending: 'pending',
  InfoReceived: 'info_received',
  InTransit: 'in_transit',
  OutForDelivery: 'out_for_delivery',
  AttemptFail: 'attempt_failed',
  Delivered: 'delivered',
  AvailableForPickup: 'available_for_pickup',
  Exception: 'exception',
  Expired: 'expired',
};

const Tracking = z.object({
  id: z.string().min(1).max(200),
  tag: z.string().nullish(),
  checkpoints: z
    .array(
      z.object({
        checkpoint_time: z.string().max(100).nullish(),
        tag: z.string().max(100).nullish(),
        message: z.string().nullish(),
        location: z.string().nullish(),
      }),
    )
    .nullish(),
});
const Answer = z.object({
  meta: z.object({ code: z.number().int(), message: z.string().nullish() }),
  data: z.unknown(),
});

/** What a carrier reported about a parcel. */
export interface Report {
  ref: string;
  status: string | null;
  events: TrackingEvent[];
}

const cut = (text: string | null | undefined): string | null => text?.slice(0, 500) ?? null;

function reportOf({ id, tag, checkpoints }: z.output<typeof Tracking>): Report {
  const events = (checkpoints ?? []).map((point) => ({
    at: point.checkpoint_time ?? null,
    status: WORDS[point.tag ?? ''] ?? null,
    message: cut(point.message),
    location: cut(point.location),
  }));
  return { ref: id, status: WORDS[tag ?? ''] ?? null, events: events.reverse().slice(0, MAX_EVENTS) };
}

/** The provider's rate limit per account. Only one worker at a time tracks parcels. */
const ASKS_PER_SECOND = 5;

async function askNow(config: Config, method: 'GET' | 'POST', path: string, body?: unknown) {
  const base = (config.trackingProviderUrl ?? '').replace(/\/$/, '');
  const headers = config.trackingProviderKey === undefined ? {} : { 'as-api-key': config.trackingProviderKey };
  const call = { url: new URL(`${base}${path}`), name: NAME, method, headers, body };
  const { status, body: answer } = await callJson({ ...call, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
  const parsed = Answer.safeParse(answer);
  if (!parsed.success) throw unavailable(NAME, new Error(`${NAME} answered ${status} in an unknown format.`));
  return { status, ...parsed.data };
}

const ask = pThrottle({ limit: ASKS_PER_SECOND, interval: 1_000, strict: true })(askNow);

const refusal = (status: number, code: number, message: string | null | undefined) =>
  unavailable(NAME, new Error(`${NAME} answered ${status}, code ${code}: ${message ?? 'no reason'}.`));

/** The provider does not track the parcel, and a retry would not help. */
export interface Refused {
  refused: string;
}

const refusedFor = (message: string | null | undefined): Refused => ({
  refused:
    (message ?? '')
      .replace(/[\p{Cc}\s]+/gu, ' ')
      .trim()
      .slice(0, 300) || 'The carrier service does not know this parcel.',
});

/** A parcel's state, through AfterShip's protocol: its number is registered once, then looked up by the provider's id. */
export async function readTracking(
  config: Config,
  parcel: { trackingNumber: string; carrier: string | null; ref: string | null },
): Promise<Report | Refused> {
  const { trackingNumber, carrier, ref } = parcel;
  if (ref === null) {
    const slug = carrier === null ? {} : { slug: carrier.replace(/\s+/g, '-') };
    const { status, meta, data } = await ask(config, 'POST', '/trackings', {
      tracking_number: trackingNumber,
      ...slug,
    });
    if (status < 300) return reportOf(Tracking.parse(data));
    if (meta.code !== FOLLOWED_ALREADY) {
      if (status === 400 || status === 404 || status === 422) return refusedFor(meta.message);
      throw refusal(status, meta.code, meta.message);
    }
    const { id } = z.object({ id: z.string() }).parse(data);
    return await readTracking(config, { ...parcel, ref: id });
  }
  const { status, meta, data } = await ask(config, 'GET', `/trackings/${encodeURIComponent(ref)}`);
  if (status === 404) return refusedFor(meta.message);
  if (status >= 300) throw refusal(status, meta.code, meta.message);
  return reportOf(Tracking.parse(data));
}
