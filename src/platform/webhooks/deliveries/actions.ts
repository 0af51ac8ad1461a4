import type { Work } from '../../../kit/operation/work.ts';
import { eventNames, eventsShownTo, type OlderItem, shownAs } from '../../../kit/outbox/events.ts';
import { MINUTE_MS } from '../../../kit/values/duration.ts';
import { ApiError, notFound, validationError } from '../../../kit/values/errors.ts';
import { newId } from '../../../kit/values/ids.ts';
import { lockBrand } from '../../brands/queries.ts';
import { lockSubscription, type SubscriptionRow } from '../queries.ts';
import { sampleData } from '../webhooks.shapes.ts';
import { countTests, type DeliveryRow, getDelivery, insertAgain, insertMissed, listMissed } from './queries.ts';

const TESTS_A_MINUTE = 10;
const MAX_RECOVERED = 10_000;

/** Inactive webhooks receive nothing, not even on request. */
async function lockActive({ db, brandId }: Work, id: string): Promise<SubscriptionRow> {
  const row = await lockSubscription(db, brandId, id);
  if (row.active) return row;
  throw new ApiError('INVALID_STATE_TRANSITION', 'The webhook is not active; set `active` to true first.', {
    facts: { current_status: 'disabled', allowed: ['active'] },
  });
}

async function assertMayTest({ db, brandId, now }: Work): Promise<void> {
  await lockBrand(db, brandId);
  const { count, first } = await countTests(db, brandId, new Date(now.getTime() - MINUTE_MS));
  if (count < TESTS_A_MINUTE) return;
  const waitMs = (first ?? now).getTime() + MINUTE_MS - now.getTime();
  throw new ApiError('RATE_LIMITED', `A brand may send ${TESTS_A_MINUTE} test events a minute.`, {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1_000))) },
  });
}

/** Queues a sample. It is not an event, so no feed lists it. */
export async function sendTest(
  work: Work,
  olderItem: OlderItem,
  { id, event }: { id: string; event: string | undefined },
): Promise<DeliveryRow> {
  const { db, now, brandId } = work;
  const webhook = await lockActive(work, id);
  await assertMayTest(work);
  const name = event ?? webhook.events[0] ?? '';
  const ownData = sampleData(webhook.variant, name, olderItem);
  if (ownData === undefined) {
    const message = `${JSON.stringify(name.slice(0, 60))} is not an event; see \`allowed\`.`;
    throw new ApiError('VALIDATION_ERROR', `event: ${message}`, {
      details: [{ field: 'event', code: 'unknown_event', message }],
      facts: { allowed: eventNames(webhook.variant) },
    });
  }
  const [deliveryId, eventId] = [newId('whd', now.getTime()), newId('evt_test', now.getTime())];
  const row = { id: deliveryId, brandId, subscriptionId: id, eventId, seq: null, event: name, ownData, now };
  const delivery = await insertAgain(db, row);
  work.audit({ resourceId: id, old: null, new: { test: deliveryId, event: name }, generated: ['test'] });
  return delivery;
}

/** Sends the same event id and body again, to the current URL of the webhook. */
export async function resendDelivery(work: Work, id: string): Promise<DeliveryRow> {
  const { db, now, brandId } = work;
  const old = await getDelivery(db, brandId, id);
  await lockActive(work, old.subscriptionId);
  if (old.data === null) throw notFound('event: it is older than 30 days');
  const { subscriptionId, eventId, seq, event, testText } = old;
  const row = { id: newId('whd', now.getTime()), brandId, subscriptionId, eventId, seq, event, ownData: testText };
  const delivery = await insertAgain(db, { ...row, now });
  const generated = ['delivery'];
  work.audit({ resourceId: subscriptionId, old: null, new: { resent: id, delivery: delivery.id }, generated });
  return delivery;
}

/** Queues the events of a time range that were not delivered and are not pending. */
export async function recoverMissed(
  work: Work,
  olderItem: OlderItem,
  { id, since, until }: { id: string; since: Date; until: Date },
): Promise<number> {
  const { db, now, brandId } = work;
  const { variant, events } = await lockActive(work, id);
  if (since > until) {
    throw validationError([{ field: 'since', code: 'invalid', message: 'must not be after `until`.' }]);
  }
  const facts = eventsShownTo(variant).flatMap(({ name, shownAs: shown }) => (events.includes(shown) ? [name] : []));
  const missed = await listMissed(db, brandId, id, { facts, since, until, limit: MAX_RECOVERED });
  if (missed.length === 0) return 0;
  const queued = missed.map((one) => ({
    ...one,
    deliveryId: newId('whd', now.getTime()),
    shown: shownAs(variant, one.event) ?? one.event,
    ownData: variant === 'legacy' ? (one.ownData ?? JSON.stringify(olderItem(one.event, one.data))) : null,
  }));
  await insertMissed(db, brandId, id, queued, now);
  work.audit({ resourceId: id, old: null, new: { recovered: missed.length } });
  return missed.length;
}
