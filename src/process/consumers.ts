import type { Context } from '../operation/context.ts';
import type { Consumer } from '../outbox/relay.ts';
import { briefCompletion } from '../resources/briefs/consumer.ts';
import { approvedTracking } from '../resources/content/consumer.ts';
import { profileUnknown } from '../resources/creators/jobs.ts';
import { webhookConsumer } from '../resources/webhooks/fan-out.ts';

/** A creator who was just put on the roster is looked up at once, not at the next sweep. */
function profiles(context: Context): Consumer {
  return {
    name: 'profiles',
    deliver: async (events) => {
      if (events.some(({ event }) => event === 'roster.creator_added')) await profileUnknown(context);
    },
  };
}

export const consumersOf = (context: Context): readonly Consumer[] => [
  profiles(context),
  briefCompletion(context),
  approvedTracking(context),
  webhookConsumer(context.clock, context.olderItem),
];
