import { z } from 'zod';
import { change, nothing, type Operation } from '../api/operation.ts';
import { assertPublic, createSubscription } from '../resources/webhooks/actions.ts';
import { knownEvents, LegacyWebhookCreate, webhookOf } from '../resources/webhooks/schema.ts';
import { LegacyWebhookShape } from './items.ts';

/** A subscription belongs to the interface it was made on: its names, its bodies, its retries. */
export const createLegacyWebhook: Operation = change({
  id: 'create_webhook',
  method: 'POST',
  path: '/api/v1/webhooks',
  tag: 'Webhooks',
  summary: 'Subscribe to events',
  description:
    'The secret is in this answer in full, and never again. Deliveries are `{id, type, created_at, data}` with the bare hex ' +
    'digest; what fails is tried again after 1 minute, 5 and 30 minutes, 2 and 24 hours.',
  callers: ['brand'],
  params: nothing,
  query: nothing,
  body: LegacyWebhookCreate,
  response: z.object({ data: LegacyWebhookShape }),
  sealsAnswer: true,
  status: 201,
  errors: ['WEBHOOK_LIMIT_REACHED'],
  hints: { readOnly: false, idempotent: false, destructive: false },
  lookUp: async ({ config, secrets }, { body }) => {
    knownEvents('legacy', body.events);
    await assertPublic(body.url, config.outboundAllow);
    return secrets;
  },
  apply: async (work, { body: { url, events, secret: own } }, secrets) => {
    const wanted = { variant: 'legacy' as const, url, events, description: null, secret: own };
    const { row, secret } = await createSubscription(work, secrets, wanted);
    return { data: { ...webhookOf(row), secret } };
  },
});
