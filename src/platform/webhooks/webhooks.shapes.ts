import { z } from 'zod';
import { eventNames, type Variant } from '../../kit/outbox/events.ts';
import { createdAt, idField, updatedAt } from '../../kit/values/fields.ts';
import { timestamp } from '../../kit/values/page.ts';
import { hasLogin } from '../../kit/values/web-address.ts';
import { toWire } from '../../kit/values/wire.ts';
import { isSuccess } from './health.ts';
import type { ListedSubscription, SubscriptionRow } from './webhooks.ts';

const MAX_URL = 2_048;

/** Why an address cannot receive webhooks: a stable code and a sentence. */
function urlProblem(text: string): [code: string, message: string] | undefined {
  if (!URL.canParse(text)) return ['invalid_url', 'must be a URL that begins with https://'];
  const url = new URL(text);
  if (url.protocol !== 'https:') return ['invalid_scheme', 'must begin with https://'];
  if (hasLogin(url)) return ['has_login', 'must not have a name or password'];
  if (url.hash !== '') return ['has_fragment', 'must not have a fragment (#…)'];
  return undefined;
}

const URL_MEANING = 'HTTPS URL on a public host that receives the deliveries.';
const url = z
  .string()
  .max(MAX_URL)
  .superRefine((text, context) => {
    const problem = urlProblem(text);
    if (problem) context.addIssue({ code: 'custom', params: { code: problem[0] }, message: problem[1], input: text });
  })
  .describe(URL_MEANING)
  .meta({ example: 'https://acme.example/hooks' });
/** Lazy, so that every noun has declared its events when the names are read. */
const createEventsField = (variant: Variant) =>
  z.lazy(() =>
    z
      .array(
        z
          .string()
          .max(100)
          .meta({ enum: eventNames(variant) }),
      )
      .min(1)
      .max(100)
      .describe(`Events to deliver. One or more of ${eventNames(variant).join(', ')}. Repeats count once.`),
  );
const events = createEventsField('current');
const DESCRIPTION = 'Free text about the webhook, for the brand.';
const description = z
  .string()
  .trim()
  .max(200)
  .nullable()
  .optional()
  .describe(DESCRIPTION)
  .meta({ example: 'Order desk' });

export const WebhookCreate = z.object({ url, events, description }).meta({ id: 'WebhookCreate' });

/** The older interface lets callers choose the secret. */
export const OlderWebhookCreate = WebhookCreate.extend({
  events: createEventsField('legacy'),
  secret: z
    .string()
    .regex(/^[\x21-\x7e]{8,256}$/, 'must be 8 to 256 visible ASCII characters')
    .optional()
    .describe('Secret that signs deliveries; generated if omitted.')
    .meta({ example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }),
}).meta({ id: 'OlderWebhookCreate' });

export const WebhookPatch = z
  .object({
    url: url.optional(),
    events: events.optional(),
    active: z.boolean().optional().describe('`false` cancels pending deliveries; `true` resumes with the next event.'),
    description,
  })
  .meta({ id: 'WebhookPatch' });
export type WebhookPatch = z.output<typeof WebhookPatch>;

export const WebhookRotate = z
  .object({
    overlap_hours: z
      .number()
      .int()
      .min(0)
      .max(168)
      .default(24)
      .describe('Hours for which the old secret keeps signing.'),
    finish: z.boolean().default(false).describe('Ends the current overlap now, without a new secret.'),
    force: z.boolean().default(false).describe('Rotates even during an overlap; the oldest secret is dropped.'),
  })
  .meta({ id: 'WebhookRotate' });
export type WebhookRotate = z.output<typeof WebhookRotate>;

export const lastStatusCode = z
  .number()
  .int()
  .nullable()
  .describe('HTTP status of the newest attempt; null if there was no response.')
  .meta({ example: 200 });

const createdFields = {
  id: idField('whk', 'Webhook id.'),
  url: z.string().describe(URL_MEANING).meta({ example: 'https://acme.example/hooks' }),
  events: z
    .array(z.string())
    .describe('Names of the events that are delivered.')
    .meta({ example: ['commission.approved'] }),
  secret: z.string().describe('Signing secret in full. It is shown only here.').meta({ example: 'whsec_q1Zs7B…' }),
  active: z.boolean().describe('Whether events are delivered.').meta({ example: true }),
  created_at: createdAt,
  description: z.string().nullable().describe(DESCRIPTION).meta({ example: 'Order desk' }),
  last_triggered_at: timestamp.nullable().describe('When the newest attempt started; null before the first.'),
  last_status_code: lastStatusCode,
};

export const WebhookCreated = z.object(createdFields).meta({ id: 'WebhookCreated' });

const previousSecretExpiresAt = timestamp
  .nullable()
  .describe('When the previous secret stops signing; null outside an overlap.')
  .meta({ example: '2026-03-03T09:30:00.000Z' });

export const Webhook = z
  .object({
    ...createdFields,
    secret: z
      .string()
      .describe('First 6 and last 4 characters of the signing secret.')
      .meta({ example: 'whsec_…4f7Q' }),
    variant: z
      .enum(['current', 'legacy'])
      .describe('Interface that created the webhook; it decides event names, body format and retries.'),
    status: z
      .enum(['active', 'failing', 'disabled'])
      .describe(
        '`failing`: the newest attempt failed, or five in a row on the older interface. `disabled`: switched off by the ' +
          'brand, or after three days of failures on the older interface.',
      ),
    previous_secret_expires_at: previousSecretExpiresAt,
    backlog: z.boolean().describe('Whether more than 10,000 deliveries are waiting.'),
    updated_at: updatedAt,
  })
  .meta({ id: 'Webhook' });

export const WebhookRotated = z
  .object({
    id: createdFields.id,
    secret: z
      .string()
      .describe('New signing secret in full, shown only here. With `finish`, shortened as in lists.')
      .meta({ example: 'whsec_q1Zs7B…' }),
    previous_secret_expires_at: previousSecretExpiresAt,
  })
  .meta({ id: 'WebhookRotated' });

export const WebhookDeleted = z
  .object({ deleted: z.literal(true).describe('Always `true`.'), id: createdFields.id })
  .meta({ id: 'WebhookDeleted' });

/** A webhook as the older interface shows it. */
export const OlderWebhook = Webhook.pick({
  id: true,
  url: true,
  events: true,
  secret: true,
  status: true,
  created_at: true,
  last_status_code: true,
})
  .extend({ last_triggered: timestamp.nullable().describe('Start of the newest attempt; null if there was none.') })
  .meta({ id: 'OlderWebhook' });

/** All fields of the shapes of both variants; the secret is shortened. */
export function toWebhook({ secretHint, ...row }: SubscriptionRow & Partial<Pick<ListedSubscription, 'pending'>>) {
  // The older interface counts failures in a row; the current one looks at the newest attempt.
  const isFailing =
    row.failingSince !== null ||
    (row.variant === 'current' && row.lastTriggeredAt !== null && !isSuccess({ statusCode: row.lastStatusCode }));
  const status = row.active ? (isFailing ? ('failing' as const) : ('active' as const)) : ('disabled' as const);
  const last_triggered = row.lastTriggeredAt?.toISOString() ?? null;
  return { ...toWire(row), secret: secretHint, status, last_triggered, backlog: (row.pending ?? 0) > MAX_PENDING };
}

/** Above this number a subscription has a backlog. */
const MAX_PENDING = 10_000;
