import { read } from '../../operation/kit.ts';
import { RawJson } from '../../operation/operation.ts';
import { readFeed, renderFeed } from './feed.ts';
import { EventFeed, EventFilter } from './schema.ts';

const listEvents = read({
  id: 'list_events',
  path: '/v1/events',
  tag: 'Webhooks',
  summary: "The brand's events in order",
  description:
    'What webhooks are sent, of the last 30 days, whether or not there is any webhook. Send `next_after` as `after` to go ' +
    'on; with `wait` an answer without events waits for one. An `after` that is older than 30 days is 409 CONFLICT, with ' +
    'the id of the `oldest` event.',
  query: EventFilter,
  response: EventFeed,
  errors: ['CONFLICT'],
  handler: async (context, { caller, query }) =>
    new RawJson(renderFeed(await readFeed(context, caller.brandId, query))),
});

export const eventOperations = [listEvents] as const;
