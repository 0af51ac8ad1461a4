import type { Job } from '../../kit/operation/job.ts';
import type { EventConsumer } from '../../kit/operation/noun.ts';
import { type OlderItem, shownAs } from '../../kit/outbox/events.ts';
import type { OutboxEvent } from '../../kit/outbox/relay.ts';
import { newId } from '../../kit/values/ids.ts';
import { forgetDeliveries } from './deliveries.ts';
import { insertDeliveries, lockSubscribers, type Subscriber } from './webhooks.ts';

export const forgetOldDeliveries: Job = {
  name: 'forget-deliveries',
  everyMs: 3_600_000,
  asksFor: 'deliveries of events older than 30 days, and webhooks deleted as long ago',
  run: forgetDeliveries,
};

/** Creates a delivery for each subscription that includes the name of the event and was created before it. */
const toDeliveries = (event: OutboxEvent, subscribers: readonly Subscriber[], olderItem: OlderItem, nowMs: number) =>
  subscribers.flatMap((webhook) => {
    const name = shownAs(webhook.variant, event.event);
    if (name === undefined || event.seq <= webhook.fromSeq || !webhook.events.includes(name)) return [];
    const { id: eventId, seq } = event;
    const ownData = webhook.variant === 'legacy' ? JSON.stringify(olderItem(event.event, event.data)) : null;
    return [{ id: newId('whd', nowMs), subscriptionId: webhook.id, eventId, seq, event: name, ownData }];
  });

/** Inserts the deliveries in the transaction that moves the position. Nothing is sent here. */
export const webhookConsumer: EventConsumer = {
  name: 'webhooks',
  open: ({ clock, olderItem = (_fact, data) => data }) => {
    return async (events, db) => {
      const [first] = events;
      if (!first) return;
      const subscribers = await lockSubscribers(db, first.brandId);
      const now = clock.now();
      const deliveries = events.flatMap((event) => toDeliveries(event, subscribers, olderItem, now.getTime()));
      if (deliveries.length > 0) await insertDeliveries(db, first.brandId, deliveries, now);
    };
  },
};
