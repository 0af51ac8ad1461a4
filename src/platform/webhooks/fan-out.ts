import type { Db } from '../../kit/engines/postgres/open.ts';
import type { Job } from '../../kit/operation/job.ts';
import type { EventConsumer } from '../../kit/operation/noun.ts';
import { type OlderItem, shownAs } from '../../kit/outbox/events.ts';
import type { OutboxEvent } from '../../kit/outbox/relay.ts';
import type { Clock } from '../../kit/values/clock.ts';
import { newId } from '../../kit/values/ids.ts';
import { insertDeliveries, type Listening, lockListening } from './queries.ts';
import { forgetDeliveries } from './attempts.ts';

export const forgetOldDeliveries: Job = {
  name: 'forget-deliveries',
  everyMs: 3_600_000,
  asksFor: 'deliveries of events older than 30 days, and webhooks deleted as long ago',
  run: forgetDeliveries,
};

/** The deliveries of an event: one for each subscription created before it that includes its name. */
const deliveriesOf = (event: OutboxEvent, listening: readonly Listening[], olderItem: OlderItem, nowMs: number) =>
  listening.flatMap((webhook) => {
    const name = shownAs(webhook.variant, event.event);
    if (name === undefined || event.seq <= webhook.fromSeq || !webhook.events.includes(name)) return [];
    const { id: eventId, seq } = event;
    const ownData = webhook.variant === 'legacy' ? JSON.stringify(olderItem(event.event, event.data)) : null;
    return [{ id: newId('whd', nowMs), subscriptionId: webhook.id, eventId, seq, event: name, ownData }];
  });

async function fanOut(db: Db, clock: Clock, olderItem: OlderItem, events: readonly OutboxEvent[]): Promise<void> {
  const [first] = events;
  if (!first) return;
  const listening = await lockListening(db, first.brandId);
  const now = clock.now();
  const deliveries = events.flatMap((event) => deliveriesOf(event, listening, olderItem, now.getTime()));
  if (deliveries.length > 0) await insertDeliveries(db, first.brandId, deliveries, now);
}

/** Inserts the deliveries in the transaction that moves the position. Nothing is sent here. */
export const webhookConsumer: EventConsumer = {
  name: 'webhooks',
  open: ({ clock, olderItem = (_fact, data) => data }) => {
    return (events, db) => fanOut(db, clock, olderItem, events);
  },
};
