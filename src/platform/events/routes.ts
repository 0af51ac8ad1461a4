import { read } from '../../kit/operation/kit.ts';
import { RawJson } from '../../kit/operation/operation.ts';
import { readFeed, renderFeed } from './actions.ts';
import { EventFeed, EventFilter } from './schema.ts';

export const eventOperations = [
  read({
    id: 'list_events',
    path: '/v1/events',
    tag: 'Webhooks',
    summary: "The brand's events in order",
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
