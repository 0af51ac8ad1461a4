import { z } from 'zod';
import { act, list, read } from '../../operation/kit.ts';
import { change, noLookUp, nothing } from '../../operation/operation.ts';
import { assertPublic, createSubscription, deleteSubscription, patchSubscription, rotateSecret } from './actions.ts';
import { getListed, webhooks } from './queries.ts';
import {
  knownEvents,
  OlderWebhook,
  OlderWebhookCreate,
  Webhook,
  WebhookCreate,
  WebhookCreated,
  WebhookDeleted,
  WebhookFilter,
  WebhookPatch,
  WebhookRotate,
  WebhookRotated,
  webhookOf,
} from './schema.ts';

const tag = 'Webhooks';
const byId = z.object({ id: z.string().max(100) });

const listWebhooks = list({
  id: 'list_webhooks',
  path: '/v1/webhooks',
  tag,
  summary: "The brand's webhooks",
  description: 'Newest first, with the outcome of the newest attempt. Secrets are shown in part.',
  query: WebhookFilter,
  item: Webhook,
  rows: webhooks,
  itemOf: (row) => webhookOf(row),
});

const getWebhook = read({
  id: 'get_webhook',
  path: '/v1/webhooks/{id}',
  tag,
  summary: 'One webhook',
  description: 'As in the list.',
  response: z.object({ data: Webhook }),
  errors: ['NOT_FOUND'],
  handler: async ({ postgres }, { caller, params }) => ({
    data: webhookOf(await getListed(postgres.db, caller.brandId, params.id)),
  }),
});

/** What both interfaces say of it. */
const subscribing = {
  method: 'POST',
  path: '/v1/webhooks',
  tag,
  summary: 'Subscribe to events',
  description: 'The secret is in this answer in full, and never again. A brand has at most ten webhooks.',
  callers: ['brand'],
  params: nothing,
  query: nothing,
  sealsAnswer: true,
  status: 201,
  errors: ['WEBHOOK_LIMIT_REACHED'],
  hints: { readOnly: false, idempotent: false, destructive: false, dataOut: true },
} as const;

const createWebhook = change({
  ...subscribing,
  id: 'create_webhook',
  body: WebhookCreate,
  response: z.object({ data: WebhookCreated }),
  lookUp: async ({ config, secrets }, { body }) => {
    knownEvents('current', body.events);
    await assertPublic(body.url, config.outboundAllow);
    return secrets;
  },
  apply: async (work, { body: { url, events, description = null } }, secrets) => {
    const { row, secret } = await createSubscription(work, secrets, { variant: 'current', url, events, description });
    return { data: { ...webhookOf(row), secret } };
  },
});

/**
 * What the older interface does at its `POST /api/v1/webhooks`: the webhook has its names, its form and its retries. It is
 * another change than `create_webhook`, so an Idempotency-Key of one is none of the other.
 */
export const createOlderWebhook = change({
  ...subscribing,
  id: 'create_older_webhook',
  body: OlderWebhookCreate,
  response: z.object({ data: OlderWebhook }),
  lookUp: async ({ config, secrets }, { body }) => {
    knownEvents('legacy', body.events);
    await assertPublic(body.url, config.outboundAllow);
    return secrets;
  },
  apply: async (work, { body: { url, events, secret: own, description = null } }, secrets) => {
    const input = { variant: 'legacy' as const, url, events, description, secret: own };
    const { row, secret } = await createSubscription(work, secrets, input);
    return { data: { ...webhookOf(row), secret } };
  },
});

const updateWebhook = change({
  id: 'update_webhook',
  method: 'PATCH',
  path: '/v1/webhooks/{id}',
  tag,
  summary: 'Change a webhook',
  description:
    'A new `url` also holds for what is pending, new `events` for events from now on. `active: false` cancels what is ' +
    'pending; events meanwhile are in `GET /v1/events` only. `active: true` also ends a failing state.',
  callers: ['brand'],
  params: byId,
  query: nothing,
  body: WebhookPatch,
  response: z.object({ data: Webhook }),
  errors: ['NOT_FOUND'],
  hints: { readOnly: false, idempotent: true, destructive: false, dataOut: true },
  lookUp: async ({ config }, { body }) => await assertPublic(body.url, config.outboundAllow),
  apply: async (work, { params, body }) => {
    const { id } = await patchSubscription(work, params.id, body);
    return { data: webhookOf(await getListed(work.db, work.brandId, id)) };
  },
});

const deleteWebhook = change({
  id: 'delete_webhook',
  method: 'DELETE',
  path: '/v1/webhooks/{id}',
  tag,
  summary: 'End a subscription',
  description: 'What is pending is cancelled. The answer is not wrapped in `data`.',
  callers: ['brand'],
  params: byId,
  query: nothing,
  body: nothing,
  response: WebhookDeleted,
  errors: ['NOT_FOUND'],
  hints: { readOnly: false, idempotent: true, destructive: true },
  lookUp: noLookUp,
  apply: async (work, { params }) => {
    await deleteSubscription(work, params.id);
    return { deleted: true as const, id: params.id };
  },
});

const rotateWebhookSecret = act({
  id: 'rotate_webhook_secret',
  path: '/v1/webhooks/{id}/rotate-secret',
  tag,
  summary: 'Give a webhook a new secret',
  description:
    'While the overlap lasts `X-Service-Signature` is keyed with the old secret, `X-Service-Signature-Next` with the new ' +
    'one, and `webhook-signature` carries both; then the new one alone signs. `finish` ends an overlap at once.',
  body: WebhookRotate,
  item: WebhookRotated,
  sealsAnswer: true,
  errors: ['NOT_FOUND', 'CONFLICT'],
  hints: { readOnly: false, idempotent: false, destructive: true },
  lookUp: async ({ secrets }) => secrets,
  apply: async (work, { params, body }, secrets) => await rotateSecret(work, secrets, params.id, body),
});

export const webhookOperations = [
  listWebhooks,
  createWebhook,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhookSecret,
] as const;
