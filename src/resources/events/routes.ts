import { nothing, operation, RawJson } from '../../operation/operation.ts';
import { readFeed, renderFeed } from './feed.ts';
import { EventFeed, EventFilter } from './schema.ts';

const listEvents = operation({
  id: 'list_events',
  method: 'GET',
  path: '/v1/events',
  tag: 'Webhooks',
  summary: "The brand's events in order",
  description:
    'What webhooks are sent, of the last 30 days, whether or not there is any webhook. Send `next_after` as `after` to go ' +
    'on; with `wait` an answer without events waits for one. An `after` that is older than 30 days is 409 CONFLICT, with ' +
    'the id of the `oldest` event.',
  callers: ['brand'],
  params: nothing,
  query: EventFilter,
  body: nothing,
  response: EventFeed,
  errors: ['CONFLICT'],
  hints: { readOnly: true, idempotent: true, destructive: false },
  handler: async (context, { caller, query }) =>
    new RawJson(renderFeed(await readFeed(context, caller.brandId, query))),
});

export const eventOperations = [listEvents] as const;
