import { z } from 'zod';
import { act, create, get, read } from '../../../kit/operation/kit.ts';
import { answersWhere, type ListCall } from '../../../kit/operation/list.ts';
import { getListed } from '../queries.ts';
import { CatalogueEntry, catalogue } from '../webhooks.shapes.ts';
import { recoverMissed, resendDelivery, sendTest } from './actions.ts';
import { deliveries, getDelivery, listAttempts } from './queries.ts';
import {
  DeliveryFilter,
  DeliveryList,
  deliveryOf,
  detailOf,
  Recovered,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookRecover,
  WebhookTest,
} from './schema.ts';

const tag = 'Webhooks';

export const webhookDeliveryOperations = [
  get({
    id: 'list_webhook_events',
    path: '/v1/webhooks/events',
    tag,
    summary: 'Events that webhooks can subscribe to',
    description: 'Says when each event is sent, with the JSON Schema of its `data` and an example.',
    forAgents: { description: 'Says when each event is sent, with its shape and an example.' },
    item: z.array(CatalogueEntry),
    find: async () => catalogue(),
  }),
  read({
    id: 'list_webhook_deliveries',
    path: '/v1/webhooks/{id}/deliveries',
    tag,
    summary: 'Deliveries of a webhook',
    description: 'Deliveries of the last 30 days, newest first.',
    query: DeliveryFilter,
    response: DeliveryList,
    errors: ['NOT_FOUND'],
    ...answersWhere(
      deliveries,
      async ({ postgres }, { caller, params, query }: ListCall<DeliveryFilter, { id: string }>) => {
        const { id: subscriptionId } = await getListed(postgres.db, caller.brandId, params.id);
        return { ...query, subscriptionId };
      },
      WebhookDelivery,
      deliveryOf,
    ),
  }),
  get({
    id: 'get_webhook_delivery',
    path: '/v1/webhooks/deliveries/{id}',
    tag,
    summary: 'One delivery',
    description: 'Includes the request body and every attempt.',
    item: WebhookDeliveryDetail,
    find: async ({ postgres }, { caller, params }) => {
      const row = await getDelivery(postgres.db, caller.brandId, params.id);
      return detailOf(row, await listAttempts(postgres.db, row.id));
    },
  }),
  create({
    id: 'resend_webhook_delivery',
    path: '/v1/webhooks/deliveries/{id}/resend',
    tag,
    summary: 'Send an event again',
    description:
      'Creates a delivery with the same event id and body, to the current URL, signed with the current secret.',
    item: WebhookDelivery,
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
    apply: async (work, { params }) => deliveryOf(await resendDelivery(work, params.id)),
  }),
  create({
    id: 'test_webhook',
    path: '/v1/webhooks/{id}/test',
    tag,
    summary: 'Send a sample event',
    description:
      'Signed like any delivery, with `X-Service-Test: true` and an event id that starts with `evt_test_`. At most 10 a minute.',
    forAgents: { description: 'Signed like any delivery and marked as a test. At most 10 a minute.' },
    body: WebhookTest,
    item: WebhookDelivery,
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
    lookUp: async ({ olderItem }) => olderItem,
    apply: async (work, { params: { id }, body: { event } }, olderItem) =>
      deliveryOf(await sendTest(work, olderItem, { id, event })),
  }),
  act({
    id: 'recover_webhook',
    path: '/v1/webhooks/{id}/recover',
    tag,
    summary: 'Recover missed events',
    description: 'Creates a delivery for each matching event in the time range that has no delivered or pending one.',
    forAgents: {
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
