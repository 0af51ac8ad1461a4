import type { EventPayload } from '../../../src/kit/outbox/events.ts';

/** What a brand's webhooks of the current interface do not receive, with an id that a test tells from others. */
export const rosterEvent = (id: string): EventPayload<'roster.creator_added'> => ({
  ...{ id, creator_id: 'crt_example', creator_email: 'zoe@example.com', creator_name: 'Zoe', status: 'active' },
  added_at: '2026-11-22T09:30:00.123Z',
});
