import pThrottle from 'p-throttle';
import { z } from 'zod';
import { callJson } from '../../kit/engines/http/client.ts';
import { claimedWork } from '../../kit/operation/claimed-work.ts';
import type { Context } from '../../kit/operation/context.ts';
import { inWork } from '../../kit/operation/work.ts';
import type { Config } from '../../kit/values/config.ts';
import { unavailable } from '../../kit/values/errors.ts';
import {
  getShipment,
  lockShipment,
  moveShipment,
  type ShipmentRow,
  selectDueParcels,
  type TrackingEvent,
  updateShipment,
} from './shipments.ts';

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

/** A carrier's report about a parcel. */
export interface ParcelReport {
  ref: string;
  status: string | null;
  events: TrackingEvent[];
}

const truncate = (text: string | null | undefined): string | null => text?.slice(0, 500) ?? null;

function toReport({ id, tag, checkpoints }: z.output<typeof Tracking>): ParcelReport {
  const events = (checkpoints ?? []).map((point) => ({
    at: point.checkpoint_time ?? null,
    status: WORDS[point.tag ?? ''] ?? null,
    message: truncate(point.message),
    location: truncate(point.location),
  }));
  return { ref: id, status: WORDS[tag ?? ''] ?? null, events: events.reverse().slice(0, MAX_EVENTS) };
}

/** The provider's rate limit per account. Only one worker at a time tracks parcels. */
const ASKS_PER_SECOND = 5;

async function callUnthrottled(config: Config, method: 'GET' | 'POST', path: string, body?: unknown) {
  const base = (config.trackingProviderUrl ?? '').replace(/\/$/, '');
  const headers = config.trackingProviderKey === undefined ? {} : { 'as-api-key': config.trackingProviderKey };
  const call = { url: new URL(`${base}${path}`), name: NAME, method, headers, body };
  const { status, body: answer } = await callJson({ ...call, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
  const result = Answer.safeParse(answer);
  if (!result.success) throw unavailable(NAME, new Error(`${NAME} answered ${status} in an unknown format.`));
  return { status, ...result.data };
}

const callProvider = pThrottle({ limit: ASKS_PER_SECOND, interval: 1_000, strict: true })(callUnthrottled);

const refusal = (status: number, code: number, message: string | null | undefined) =>
  unavailable(NAME, new Error(`${NAME} answered ${status}, code ${code}: ${message ?? 'no reason'}.`));

/** The provider does not track the parcel, and a retry would not help. */
export interface TrackingRefusal {
  refused: string;
}

const toRefusal = (message: string | null | undefined): TrackingRefusal => ({
  refused:
    (message ?? '')
      .replace(/[\p{Cc}\s]+/gu, ' ')
      .trim()
      .slice(0, 300) || 'The carrier service does not know this parcel.',
});

/** A parcel's state, through AfterShip's protocol: its number is registered once, then looked up by the provider's id. */
async function readTracking(
  config: Config,
  parcel: { trackingNumber: string; carrier: string | null; ref: string | null },
): Promise<ParcelReport | TrackingRefusal> {
  const { trackingNumber, carrier, ref } = parcel;
  if (ref === null) {
    const slug = carrier === null ? {} : { slug: carrier.replace(/\s+/g, '-') };
    const { status, meta, data } = await callProvider(config, 'POST', '/trackings', {
      tracking_number: trackingNumber,
      ...slug,
    });
    if (status < 300) return toReport(Tracking.parse(data));
    if (meta.code !== FOLLOWED_ALREADY) {
      if (status === 400 || status === 404 || status === 422) return toRefusal(meta.message);
      throw refusal(status, meta.code, meta.message);
    }
    const { id } = z.object({ id: z.string() }).parse(data);
    return await readTracking(config, { ...parcel, ref: id });
  }
  const { status, meta, data } = await callProvider(config, 'GET', `/trackings/${encodeURIComponent(ref)}`);
  if (status === 404) return toRefusal(meta.message);
  if (status >= 300) throw refusal(status, meta.code, meta.message);
  return toReport(Tracking.parse(data));
}

const ASK_EVERY_MS = 2 * 3_600_000;
/** For a provider that does not answer. */
const AGAIN_AFTER_MS = 10 * 60_000;
/** Statuses after which a carrier reports nothing more. */
const ENDED: ReadonlySet<string | null> = new Set(['delivered', 'expired']);

/**
 * The columns that the provider's answer changes. A parcel that has ended or that the provider refuses is not queried
 * again.
 */
function toTrackingColumns(answer: ParcelReport | TrackingRefusal, now: Date) {
  if ('refused' in answer) return { trackingError: answer.refused, trackAt: null };
  return {
    trackAt: ENDED.has(answer.status) ? null : new Date(now.getTime() + ASK_EVERY_MS),
    trackingError: null,
    trackingRef: answer.ref,
    trackingStatus: answer.status,
    trackingEvents: JSON.stringify(answer.events),
  };
}

async function note(context: Context, parcel: ShipmentRow, answer: ParcelReport | TrackingRefusal): Promise<void> {
  const { postgres, clock } = context;
  const actor = { brandId: parcel.brandId, keyId: null, operation: 'track_shipment', requestId: null };
  await inWork(postgres.db, clock, actor, async (work) => {
    const row = await lockShipment(work.db, parcel.brandId, parcel.id);
    // The tracking number changed in the meantime; the new parcel is queried separately.
    if (row.trackingNumber !== parcel.trackingNumber || row.carrier !== parcel.carrier) return;
    const columns = { trackingStatus: row.trackingStatus, ...toTrackingColumns(answer, work.now) };
    if (columns.trackingStatus === row.trackingStatus && columns.trackingError === row.trackingError) {
      await updateShipment(work.db, row.brandId, row.id, columns);
      return;
    }
    const hasArrived = columns.trackingStatus === 'delivered' && row.status === 'shipped';
    await moveShipment(work, row, hasArrived ? 'delivered' : undefined, columns);
  });
}

async function track(context: Context, { brandId, id }: { brandId: string; id: string }): Promise<void> {
  const row = await getShipment(context.postgres.db, brandId, id);
  if (row.trackingNumber === null) return;
  const parcel = { trackingNumber: row.trackingNumber, carrier: row.carrier, ref: row.trackingRef };
  await note(context, row, await readTracking(context.config, parcel));
}

export const trackParcels = claimedWork({
  name: 'track-parcels',
  everyMs: 5_000,
  asksFor: 'parcels in transit whose status is older than two hours',
  leaves: true,
  isOn: ({ trackingProviderUrl }) => trackingProviderUrl !== undefined,
  places: 10,
  due: selectDueParcels,
  doing: 'tracking a parcel',
  run: track,
  restMs: () => AGAIN_AFTER_MS,
});
