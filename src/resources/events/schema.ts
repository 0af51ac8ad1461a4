import { z } from 'zod';
import { integerParameter, MAX_LIMIT } from '../../values/page.ts';
import { fromOutside } from '../../values/untrusted.ts';

const MAX_WAIT_SECONDS = 20;
export const LATEST = 'latest';

export const EventFilter = z.object({
  after: z
    .string()
    .regex(/^(?:evt_[0-9A-Za-z]{20}|latest)$/, `must be an event's id (evt_…) or ${LATEST}`)
    .optional()
    .describe(
      "An event's id, such as `next_after` of the answer before: only what came after it. `latest`: only what comes from " +
        'now on. Omitted: from the oldest that is kept.',
    ),
  types: z
    .string()
    .max(1_000)
    .optional()
    .describe('Names of events, with commas between them. `GET /v1/webhooks/events` lists them.'),
  limit: integerParameter({ min: 1 })
    .transform((limit) => Math.min(limit, MAX_LIMIT))
    .pipe(z.number().int().min(1).max(MAX_LIMIT))
    .default(MAX_LIMIT)
    .describe('Events of one answer; larger values are clamped to 100.'),
  wait: integerParameter({ min: 0, max: MAX_WAIT_SECONDS })
    .default(0)
    .describe('Seconds to wait for an event when there is none. One call of the rate limit, however long it waits.'),
});
export type EventFilter = z.output<typeof EventFilter>;

const FeedEvent = z
  .object({
    id: z.string().describe('The same as `webhook-id` and `X-Service-Event-Id` of its deliveries.'),
    event: z.string().meta({ example: 'commission.approved' }),
    createdAt: z
      .string()
      .describe('When it happened. Neighbours may differ by a moment against the order.')
      .meta({ example: '2026-03-02T09:30:00.000Z' }),
    data: fromOutside(z.unknown())
      .describe('As in the delivery, byte for byte.')
      .meta({ example: { id: 'com_0Uo3xK2mVdT2aXs7LpRb', status: 'approved' } }),
  })
  .meta({ id: 'FeedEvent' });

export const EventFeed = z
  .object({
    data: z.array(FeedEvent).describe('Oldest first, in the order in which they were committed.'),
    has_more: z.boolean(),
    next_after: z.string().nullable().describe('What to send as `after` next; null while there was no event at all.'),
  })
  .meta({ id: 'EventFeed' });
