import { z } from 'zod';
import { act, get, list, patch, write } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { change, nothing } from '../../kit/operation/operation.ts';
import { assertFresh } from '../people/sessions.ts';
import { webhookDeliveryOperations } from './deliveries.api.ts';
import { parseEventNames } from './event-catalogue.ts';
import { forgetOldDeliveries, webhookConsumer } from './fan-out.ts';
import { webhookMails } from './webhooks.mails.ts';
import {
  OlderWebhook,
  OlderWebhookCreate,
  toWebhook,
  Webhook,
  WebhookCreate,
  WebhookCreated,
  WebhookDeleted,
  WebhookPatch,
  WebhookRotate,
  WebhookRotated,
} from './webhooks.shapes.ts';
import {
  assertPublic,
  createSubscription,
  deleteSubscription,
  getWebhook,
  patchSubscription,
  rotateSecret,
  webhooks,
} from './webhooks.ts';

const tag = 'Webhooks';

/** Shared by both interfaces. */
const CREATE_WEBHOOK = {
  method: 'POST',
  path: '/v1/webhooks',
  tag,
  summary: 'Subscribe to events',
  description: 'The response contains the full secret, which is never shown again. A brand has at most ten webhooks.',
  callers: ['brand'],
  params: nothing,
  query: nothing,
  sealsAnswer: true,
  status: 201,
  errors: ['WEBHOOK_LIMIT_REACHED', 'SIGN_IN_AGAIN'],
  hints: { readOnly: false, idempotent: false, destructive: false, dataOut: true },
} as const;

/**
 * `POST /api/v1/webhooks` of the older interface: the webhook gets its event names, body format and retries. It is a
 * separate operation from `create_webhook`, so the two do not share idempotency keys.
 */
export const createOlderWebhook = change({
  ...CREATE_WEBHOOK,
  id: 'create_older_webhook',
  body: OlderWebhookCreate,
  response: z.object({ data: OlderWebhook }),
  lookUp: async ({ config, secrets }, { body }) => {
    parseEventNames('legacy', body.events);
    await assertPublic(body.url, config.outboundAllow);
    return secrets;
  },
  apply: async (work, { caller, body: { url, events, secret: own, description = null } }, secrets) => {
    await assertFresh(work, caller);
    const input = { variant: 'legacy' as const, url, events, description, secret: own };
    const { row, secret } = await createSubscription(work, secrets, input);
    return { data: { ...toWebhook(row), secret } };
  },
});

const webhookOperations = [
  list({
    id: 'list_webhooks',
    path: '/v1/webhooks',
    tag,
    summary: 'List webhooks',
    description: 'Newest first, with the outcome of the newest attempt. Secrets are shortened.',
    item: Webhook,
    rows: webhooks,
    itemOf: (row) => toWebhook(row),
  }),
  change({
    ...CREATE_WEBHOOK,
    id: 'create_webhook',
    forAgents: { example: { url: 'https://example.com/hooks', events: ['payout.created'] } },
    body: WebhookCreate,
    response: z.object({ data: WebhookCreated }),
    lookUp: async ({ config, secrets }, { body }) => {
      parseEventNames('current', body.events);
      await assertPublic(body.url, config.outboundAllow);
      return secrets;
    },
    apply: async (work, { caller, body: { url, events, description = null } }, secrets) => {
      await assertFresh(work, caller);
      const { row, secret } = await createSubscription(work, secrets, { variant: 'current', url, events, description });
      return { data: { ...toWebhook(row), secret } };
    },
  }),
  get({
    id: 'get_webhook',
    path: '/v1/webhooks/{id}',
    tag,
    summary: 'Get a webhook',
    description: 'The same fields as in the list.',
    item: Webhook,
    find: async ({ postgres }, { caller, params }) =>
      toWebhook(await getWebhook(postgres.db, caller.brandId, params.id)),
  }),
  patch({
    id: 'update_webhook',
    path: '/v1/webhooks/{id}',
    tag,
    summary: 'Change a webhook',
    description:
      'A new `url` also applies to pending deliveries, new `events` to events from now on. `active: false` cancels pending ' +
      'deliveries; events in the meantime are only in `GET /v1/events`. `active: true` also ends a failing state.',
    forAgents: {
      description:
        'A new `url` also applies to pending deliveries, new `events` to events from now on. `active: false` cancels pending deliveries; list_events keeps the events.',
      example: { id: 'whk_…', active: false },
    },
    body: WebhookPatch,
    item: Webhook,
    errors: ['NOT_FOUND', 'SIGN_IN_AGAIN'],
    hints: { dataOut: true },
    lookUp: async ({ config }, { body }) => await assertPublic(body.url, config.outboundAllow),
    apply: async (work, { caller, params, body }) => {
      if (body.url !== undefined) await assertFresh(work, caller);
      const { id } = await patchSubscription(work, params.id, body);
      return toWebhook(await getWebhook(work.db, work.brandId, id));
    },
  }),
  write({
    id: 'delete_webhook',
    method: 'DELETE',
    path: '/v1/webhooks/{id}',
    tag,
    summary: 'Delete a webhook',
    description: 'Cancels pending deliveries. The response is not wrapped in `data`.',
    forAgents: { description: 'Cancels pending deliveries.' },
    response: WebhookDeleted,
    errors: ['NOT_FOUND'],
    hints: { idempotent: true, destructive: true },
    apply: async (work, { params }) => {
      await deleteSubscription(work, params.id);
      return { deleted: true as const, id: params.id };
    },
  }),
  act({
    id: 'rotate_webhook_secret',
    path: '/v1/webhooks/{id}/rotate-secret',
    tag,
    summary: 'Rotate the secret of a webhook',
    description:
      'During the overlap `X-Service-Signature` uses the old secret, `X-Service-Signature-Next` the new one, and ' +
      '`webhook-signature` carries both. After it only the new secret signs. `finish` ends an overlap at once.',
    forAgents: {
      isListed: false,
      description:
        'During the overlap deliveries are signed with both secrets, after it with the new one only. `finish` ends an overlap at once.',
      example: { id: 'whk_…' },
    },
    body: WebhookRotate,
    item: WebhookRotated,
    sealsAnswer: true,
    errors: ['NOT_FOUND', 'CONFLICT', 'SIGN_IN_AGAIN'],
    hints: { destructive: true },
    lookUp: async ({ secrets }) => secrets,
    apply: async (work, { caller, params, body }, secrets) => {
      await assertFresh(work, caller);
      return await rotateSecret(work, secrets, params.id, body);
    },
  }),
] as const;

export const webhooksNoun = noun({
  name: 'webhooks',
  tag: {
    name: 'Webhooks',
    about: 'Signed calls to your programs when something happens, and the feed of all events.',
  },
  ids: { webhooks: 'whk', deliveries: 'whd', resend: 'whd', test: 'whd' },
  operations: [...webhookOperations, ...webhookDeliveryOperations],
  jobs: [forgetOldDeliveries],
  consumers: [webhookConsumer],
  mails: webhookMails,
});
