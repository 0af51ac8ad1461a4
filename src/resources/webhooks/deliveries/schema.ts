import { z } from 'zod';
import { ListQuery, listOf, timestamp } from '../../../values/page.ts';
import { fromOutside } from '../../../values/untrusted.ts';
import { toWire } from '../../../values/wire.ts';
import { renderBody } from '../signature.ts';
import type { AttemptRow, DeliveryRow, DetailedDelivery } from './queries.ts';

const state = z.enum(['pending', 'delivered', 'failed', 'cancelled']);

export const WebhookDelivery = z
  .object({
    id: z.string(),
    webhook_id: z.string(),
    event_id: z.string().describe('The event that it carries.').meta({ example: 'evt_0Uo3xK2mVdT2aXs7LpRb' }),
    event: z.string().meta({ example: 'commission.approved' }),
    state,
    attempts: z.number().int(),
    last_status_code: z.number().int().nullable(),
    last_error: z.string().nullable().describe('Why the newest attempt was not answered.'),
    next_attempt_at: timestamp.nullable().describe('Null once it is over.'),
    created_at: timestamp,
    finished_at: timestamp.nullable(),
  })
  .meta({ id: 'WebhookDelivery' });

const Attempt = z.object({
  n: z.number().int().describe('Counted from 1.'),
  started_at: timestamp,
  duration_ms: z.number().int(),
  status_code: z.number().int().nullable(),
  outcome: z
    .enum(['answered', 'timeout', 'network', 'tls', 'refused', 'unknown'])
    .describe('`refused`: the address is private now, nothing was sent; `unknown`: our process ended meanwhile.'),
  error: fromOutside(z.string().nullable()),
  response_excerpt: fromOutside(z.string().nullable().describe('The first 1,024 bytes of the answer.')),
});

export const WebhookDeliveryDetail = WebhookDelivery.extend({
  body: fromOutside(
    z.string().nullable().describe('The bytes that are sent; null when the event is older than 30 days.'),
  ),
  attempt_log: z.array(Attempt),
}).meta({ id: 'WebhookDeliveryDetail' });

export const DeliveryFilter = z.object({
  state: state.optional(),
  event: z.string().max(100).optional(),
  ...ListQuery,
});
export type DeliveryFilter = z.output<typeof DeliveryFilter>;

export const DeliveryList = listOf(WebhookDelivery);

export const WebhookTest = z
  .object({ event: z.string().max(100).optional().describe("The webhook's first when omitted.") })
  .meta({ id: 'WebhookTest' });

export const WebhookRecover = z
  .object({
    since: z.iso.datetime({ offset: true }).describe('Events from this time on.'),
    until: z.iso.datetime({ offset: true }).optional().describe('Events up to this time; now when omitted.'),
  })
  .meta({ id: 'WebhookRecover' });

export const Recovered = z.object({
  queued: z.number().int().describe('At most 10,000, the oldest first; call again for more.'),
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
