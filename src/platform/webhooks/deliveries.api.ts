import { z } from 'zod';
import { act, create, get, read } from '../../kit/operation/kit.ts';
import { answersWhere, type ListCall } from '../../kit/operation/list.ts';
import { createdAt, idField } from '../../kit/values/fields.ts';
import { ListQuery, listSchema, timestamp } from '../../kit/values/page.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { toWire } from '../../kit/values/wire.ts';
import {
  type AttemptRow,
  type DeliveryRow,
  type DetailedDelivery,
  deliveries,
  getDelivery,
  listAttempts,
  recoverMissed,
  resendDelivery,
  sendTest,
} from './deliveries.ts';
import { CatalogueEntry, listEventCatalogue } from './event-catalogue.ts';
import { renderBody } from './signing.ts';
import { lastStatusCode } from './webhooks.shapes.ts';
import { getWebhook } from './webhooks.ts';

const state = z
  .enum(['pending', 'delivered', 'failed', 'cancelled'])
  .describe('`pending` deliveries wait for the next attempt; `failed` had their last; `cancelled` will not be sent.');

export const WebhookDelivery = z
  .object({
    id: idField('whd', 'Delivery id.'),
    webhook_id: idField('whk', 'Id of the webhook that receives the event.'),
    event_id: idField('evt', 'Id of the delivered event.'),
    event: z.string().describe('Event name.').meta({ example: 'commission.approved' }),
    state,
    attempts: z.number().int().describe('Number of attempts so far.').meta({ example: 1 }),
    last_status_code: lastStatusCode,
    last_error: z
      .string()
      .nullable()
      .describe('Why the newest attempt got no response; null if it got one.')
      .meta({ example: null }),
    next_attempt_at: timestamp
      .nullable()
      .describe('When the next attempt is due; null unless the delivery is pending.')
      .meta({ example: null }),
    created_at: createdAt,
    finished_at: timestamp.nullable().describe('When the delivery left `pending`; null until then.'),
  })
  .meta({ id: 'WebhookDelivery' });

const Attempt = z.object({
  n: z.number().int().describe('Number of the attempt, from 1.'),
  started_at: timestamp.describe('When the attempt started.'),
  duration_ms: z.number().int().describe('Duration of the attempt in milliseconds.').meta({ example: 87 }),
  status_code: z
    .number()
    .int()
    .nullable()
    .describe('HTTP status of the response; null if there was none.')
    .meta({ example: 200 }),
  outcome: z
    .enum(['answered', 'timeout', 'network', 'tls', 'refused', 'unknown'])
    .describe(
      '`refused`: the host now resolves to a private address, so nothing was sent. `unknown`: our process stopped during the attempt.',
    ),
  error: fromOutside(
    z.string().nullable().describe('Why there was no response; null if there was one.').meta({ example: null }),
  ),
  response_excerpt: fromOutside(
    z.string().nullable().describe('First 1,024 bytes of the response body.').meta({ example: 'ok' }),
  ),
});

const WebhookDeliveryDetail = WebhookDelivery.extend({
  body: fromOutside(
    z.string().nullable().describe('Request body as sent; null if the event is older than 30 days.'),
  ).meta({
    example: '{"event":"commission.approved","createdAt":"2026-03-02T09:30:00.000Z","data":{}}',
  }),
  attempt_log: z.array(Attempt).describe('All attempts, oldest first.'),
}).meta({ id: 'WebhookDeliveryDetail' });

const DeliveryFilter = z.object({
  state: state.optional().describe('Only deliveries in this state.'),
  event: z.string().max(100).optional().describe('Only deliveries of the event with this name.'),
  ...ListQuery,
});
export type DeliveryFilter = z.output<typeof DeliveryFilter>;

const DeliveryList = listSchema(WebhookDelivery);

const WebhookTest = z
  .object({
    event: z
      .string()
      .max(100)
      .optional()
      .describe('Event name to send an example of; by default the first event of the webhook.')
      .meta({ example: 'commission.approved' }),
  })
  .meta({ id: 'WebhookTest' });

const WebhookRecover = z
  .object({
    since: z.iso.datetime({ offset: true }).describe('Start of the time range to recover.'),
    until: z.iso.datetime({ offset: true }).optional().describe('End of the time range; now if omitted.'),
  })
  .meta({ id: 'WebhookRecover' });

const Recovered = z.object({
  queued: z.number().int().describe('Deliveries queued, oldest events first, at most 10,000. Call again for more.'),
});

const toDelivery = ({ subscriptionId, ...row }: DeliveryRow) => ({
  ...toWire(row),
  webhook_id: subscriptionId,
  next_attempt_at: row.state === 'pending' ? (row.nextAttemptAt?.toISOString() ?? null) : null,
});

function toDeliveryDetail(row: DetailedDelivery, attempts: readonly AttemptRow[]) {
  const { variant, data, announcedAt: createdAt, eventId, event } = row;
  const body = data === null ? null : renderBody({ variant, eventId, event, createdAt, data });
  return { ...toDelivery(row), body, attempt_log: attempts.map((attempt) => toWire(attempt)) };
}

const tag = 'Webhooks';

export const webhookDeliveryOperations = [
  get({
    id: 'list_webhook_events',
    path: '/v1/webhooks/events',
    tag,
    summary: 'List the kinds of events',
    description: 'Says when each event is sent, with the JSON Schema of its `data` and an example.',
    forAgents: { description: 'Says when each event is sent, with its shape and an example.' },
    item: z.array(CatalogueEntry),
    find: async () => listEventCatalogue(),
  }),
  read({
    id: 'list_webhook_deliveries',
    path: '/v1/webhooks/{id}/deliveries',
    tag,
    summary: 'List deliveries of a webhook',
    description: 'Deliveries of the last 30 days, newest first.',
    query: DeliveryFilter,
    response: DeliveryList,
    errors: ['NOT_FOUND'],
    ...answersWhere(
      deliveries,
      async ({ postgres }, { caller, params, query }: ListCall<DeliveryFilter, { id: string }>) => {
        const { id: subscriptionId } = await getWebhook(postgres.db, caller.brandId, params.id);
        return { ...query, subscriptionId };
      },
      WebhookDelivery,
      toDelivery,
    ),
  }),
  get({
    id: 'get_webhook_delivery',
    path: '/v1/webhooks/deliveries/{id}',
    tag,
    summary: 'Get a delivery',
    forAgents: { isListed: false },
    description: 'Includes the request body and every attempt.',
    item: WebhookDeliveryDetail,
    find: async ({ postgres }, { caller, params }) => {
      const row = await getDelivery(postgres.db, caller.brandId, params.id);
      return toDeliveryDetail(row, await listAttempts(postgres.db, row.id));
    },
  }),
  create({
    id: 'resend_webhook_delivery',
    path: '/v1/webhooks/deliveries/{id}/resend',
    tag,
    summary: 'Send an event again',
    forAgents: { isListed: false },
    description:
      'Creates a delivery with the same event id and body, to the current URL, signed with the current secret.',
    item: WebhookDelivery,
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
    apply: async (work, { params }) => toDelivery(await resendDelivery(work, params.id)),
  }),
  create({
    id: 'test_webhook',
    path: '/v1/webhooks/{id}/test',
    tag,
    summary: 'Send a sample event',
    description:
      'Signed like any delivery, with `X-Service-Test: true` and an event id that starts with `evt_test_`. At most 10 a minute.',
    forAgents: { isListed: false, description: 'Signed like any delivery and marked as a test. At most 10 a minute.' },
    body: WebhookTest,
    item: WebhookDelivery,
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
    lookUp: async ({ olderItem }) => olderItem,
    apply: async (work, { params: { id }, body: { event } }, olderItem) =>
      toDelivery(await sendTest(work, olderItem, { id, event })),
  }),
  act({
    id: 'recover_webhook',
    path: '/v1/webhooks/{id}/recover',
    tag,
    summary: 'Recover missed events',
    description: 'Creates a delivery for each matching event in the time range that has no delivered or pending one.',
    forAgents: {
      isListed: false,
      description: 'Sends each matching event of the time range that has no delivered or pending delivery.',
      example: { id: 'whk_…', since: '2026-03-02T09:30:00Z' },
    },
    body: WebhookRecover,
    item: Recovered,
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
    hints: { idempotent: true },
    lookUp: async ({ olderItem }) => olderItem,
    apply: async (work, { params: { id }, body }, olderItem) => {
      const since = new Date(body.since);
      const until = body.until === undefined ? work.now : new Date(body.until);
      return { queued: await recoverMissed(work, olderItem, { id, since, until }) };
    },
  }),
] as const;
