import type { Context } from './context.ts';
import type { Consumer } from './outbox/relay.ts';
import { profileUnknown } from './resources/creators/jobs.ts';

/** Who follows the outbox, each at its own position. */
export const CONSUMER_NAMES = ['profiles'] as const;

/** A creator who was just put on the roster is looked up at once, not at the next sweep. */
function profiles(context: Context): Consumer {
  return {
    name: 'profiles',
    deliver: async (events) => {
      if (events.some(({ event }) => event === 'roster.creator_added')) await profileUnknown(context);
    },
  };
}

export const consumersOf = (context: Context): readonly Consumer[] => [profiles(context)];
