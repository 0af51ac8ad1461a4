import { z } from 'zod';
import { createdAt, idField } from '../../../kit/values/fields.ts';
import { ListQuery, listSchema, timestamp } from '../../../kit/values/page.ts';
import { fromOutside } from '../../../kit/values/untrusted.ts';
import { toWire } from '../../../kit/values/wire.ts';
import { renderBody } from '../health.ts';
import { lastStatusCode } from '../webhooks.shapes.ts';
import type { AttemptRow, DeliveryRow, DetailedDelivery } from './queries.ts';

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

export const WebhookDeliveryDetail = WebhookDelivery.extend({
  body: fromOutside(
    z.string().nullable().describe('Request body as sent; null if the event is older than 30 days.'),
  ).meta({
    example: '{"event":"commission.approved","createdAt":"2026-03-02T09:30:00.000Z","data":{}}',
  }),
  attempt_log: z.array(Attempt).describe('All attempts, oldest first.'),
}).meta({ id: 'WebhookDeliveryDetail' });

export const DeliveryFilter = z.object({
  state: state.optional().describe('Only deliveries in this state.'),
  event: z.string().max(100).optional().describe('Only deliveries of the event with this name.'),
  ...ListQuery,
});
export type DeliveryFilter = z.output<typeof DeliveryFilter>;

export const DeliveryList = listSchema(WebhookDelivery);

export const WebhookTest = z
  .object({
    event: z
      .string()
      .max(100)
      .optional()
      .describe('Event name to send an example of; by default the first event of the webhook.')
      .meta({ example: 'commission.approved' }),
  })
  .meta({ id: 'WebhookTest' });

export const WebhookRecover = z
  .object({
    since: z.iso.datetime({ offset: true }).describe('Start of the time range to recover.'),
    until: z.iso.datetime({ offset: true }).optional().describe('End of the time range; now if omitted.'),
  })
  .meta({ id: 'WebhookRecover' });

export const Recovered = z.object({
  queued: z.number().int().describe('Deliveries queued, oldest events first, at most 10,000. Call again for more.'),
});

export const deliveryOf = ({ subscriptionId, ...row }: DeliveryRow) => ({
  ...toWire(row),
  webhook_id: subscriptionId,
  next_attempt_at: row.state === 'pending' ? (row.nextAttemptAt?.toISOString() ?? null) : null,
});

export function detailOf(row: DetailedDelivery, attempts: readonly AttemptRow[]) {
  const { variant, data, announcedAt: createdAt, eventId, event } = row;
  const body = data === null ? null : renderBody({ variant, eventId, event, createdAt, data });
  return { ...deliveryOf(row), body, attempt_log: attempts.map((attempt) => toWire(attempt)) };
}
