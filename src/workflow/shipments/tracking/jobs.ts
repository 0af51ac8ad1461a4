import type { Context } from '../../../kit/operation/context.ts';
import type { Job } from '../../../kit/operation/job.ts';
import { inWork } from '../../../kit/operation/work.ts';
import { moveTo } from '../actions.ts';
import {
  claimDueParcels,
  type DueParcel,
  getShipment,
  lockShipment,
  type ShipmentRow,
  updateShipment,
} from '../queries.ts';
import { type Refused, type Report, readTracking } from './actions.ts';

const AT_ONCE = 10;
const ASK_EVERY_MS = 2 * 3_600_000;
/** For a provider that does not answer, or a worker that died in the middle. */
const AGAIN_AFTER_MS = 10 * 60_000;
/** Statuses after which a carrier reports nothing more. */
const ENDED: ReadonlySet<string | null> = new Set(['delivered', 'expired']);

/**
 * The columns that the provider's answer changes. A parcel that has ended or that the provider refuses is not queried
 * again.
 */
function columnsOf(answer: Report | Refused, now: Date) {
  if ('refused' in answer) return { trackingError: answer.refused, trackAt: null };
  return {
    trackAt: ENDED.has(answer.status) ? null : new Date(now.getTime() + ASK_EVERY_MS),
    trackingError: null,
    trackingRef: answer.ref,
    trackingStatus: answer.status,
    trackingEvents: JSON.stringify(answer.events),
  };
}

async function note(context: Context, requested: ShipmentRow, answer: Report | Refused): Promise<void> {
  const { postgres, clock } = context;
  const actor = { brandId: requested.brandId, keyId: null, operation: 'track_shipment', requestId: null };
  await inWork(postgres.db, clock, actor, async (work) => {
    const row = await lockShipment(work.db, requested.brandId, requested.id);
    // The tracking number changed in the meantime; the new parcel is queried separately.
    if (row.trackingNumber !== requested.trackingNumber || row.carrier !== requested.carrier) return;
    const columns = { trackingStatus: row.trackingStatus, ...columnsOf(answer, work.now) };
    if (columns.trackingStatus === row.trackingStatus && columns.trackingError === row.trackingError) {
      await updateShipment(work.db, row.brandId, row.id, columns);
      return;
    }
    const hasArrived = columns.trackingStatus === 'delivered' && row.status === 'shipped';
    await moveTo(work, row, hasArrived ? 'delivered' : undefined, columns);
  });
}

async function track(context: Context, { brandId, id }: DueParcel): Promise<void> {
  const row = await getShipment(context.postgres.db, brandId, id);
  if (row.trackingNumber === null) return;
  const parcel = { trackingNumber: row.trackingNumber, carrier: row.carrier, ref: row.trackingRef };
  try {
    await note(context, row, await readTracking(context.config, parcel));
  } catch (error) {
    context.failures.failed('tracking a parcel', error, { brandId, shipment: id });
  }
}

/** One pass over the parcels that are due, if a provider is configured. */
export async function trackDue(context: Context): Promise<void> {
  if (context.config.trackingProviderUrl === undefined) return;
  for (;;) {
    const now = context.clock.now();
    const due = await claimDueParcels(context.postgres.db, now, new Date(now.getTime() + AGAIN_AFTER_MS), AT_ONCE);
    await Promise.all(due.map((parcel) => track(context, parcel)));
    if (due.length < AT_ONCE) return;
  }
}

export const trackParcels: Job = {
  name: 'track-parcels',
  everyMs: 5_000,
  asksFor: 'parcels in transit whose status is older than two hours',
  run: trackDue,
};
