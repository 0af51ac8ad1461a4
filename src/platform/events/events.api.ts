import { z } from 'zod';
import { read } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { RawJson } from '../../kit/operation/operation.ts';
import { LATEST } from '../../kit/outbox/events.ts';
import { idField } from '../../kit/values/fields.ts';
import { clampedParameter, integerParameter, MAX_LIMIT } from '../../kit/values/page.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { readFeed, renderFeed } from './feed.ts';

const MAX_WAIT_SECONDS = 20;

export const EventFilter = z.object({
  after: z
    .string()
    .regex(/^(?:evt_[0-9A-Za-z]{20}|latest)$/, `must be an event's id (evt_…) or ${LATEST}`)
    .optional()
    .describe(
      'Only later events: `next_after` of the previous response, or the id of the last event you have. ' +
        '`latest` returns only events from now on. Without it the feed starts at the oldest event kept.',
    ),
  types: z.string().max(1_000).optional().describe('Comma-separated event names, such as `commission.created`.'),
  limit: clampedParameter(MAX_LIMIT)
    .default(MAX_LIMIT)
    .describe('Most events in one response; larger values are clamped to 100.'),
  wait: integerParameter({ min: 0, max: MAX_WAIT_SECONDS })
    .default(0)
    .describe('Seconds to wait for an event if there is none yet. Counts as one call of the rate limit.'),
});
export type EventFilter = z.output<typeof EventFilter>;

const FeedEvent = z
  .object({
    id: idField('evt', 'Event id, the same as `webhook-id` and `X-Service-Event-Id` of its deliveries.'),
    event: z.string().describe('Event name.').meta({ example: 'commission.approved' }),
    createdAt: z
      .string()
      .describe('When the event happened. Times of neighbouring events may be slightly out of order.')
      .meta({ example: '2026-03-02T09:30:00.000Z' }),
    data: fromOutside(z.unknown())
      .describe('Data of the event, byte for byte as webhooks deliver it.')
      .meta({ example: { id: 'com_0Uo3xK2mVdT2aXs7LpRb', status: 'approved' } }),
  })
  .meta({ id: 'FeedEvent' });

const EventFeed = z
  .object({
    data: z.array(FeedEvent).describe('Events in commit order, oldest first.'),
    has_more: z.boolean().describe('Whether more events are ready to be read.').meta({ example: false }),
    next_after: z
      .string()
      .nullable()
      .describe('Position in the feed, to send as `after` in the next call; null while the brand has no events.')
      .meta({ example: 'evt_0Uo3xK2mVdT2aXs7LpRb' }),
  })
  .meta({ id: 'EventFeed' });

const eventOperations = [
  read({
    id: 'list_events',
    path: '/v1/events',
    tag: 'Webhooks',
    summary: 'List events in order',
    description:
      'The events that webhooks deliver, from the last 30 days, even if the brand has no webhook. Send `next_after` as ' +
      '`after` to continue; with `wait` the call waits for an event. An `after` older than 30 days gets 409 CONFLICT with ' +
      'the id of the `oldest` event.',
    forAgents: {
      description:
        'The events that webhooks deliver, from the last 30 days, even if the brand has no webhook. Send `next_after` as `after` to continue; with `wait` the call waits for an event.',
      example: { limit: 20 },
    },
    query: EventFilter,
    response: EventFeed,
    errors: ['CONFLICT'],
    handler: async (context, { caller, query }) =>
      new RawJson(renderFeed(await readFeed(context, caller.brandId, query))),
  }),
] as const;

export const events = noun({
  name: 'events',
  ids: { events: 'evt' },
  operations: eventOperations,
});
