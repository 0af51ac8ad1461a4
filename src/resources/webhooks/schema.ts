import { z } from 'zod';
import { eventNames, type Variant } from '../../outbox/events.ts';
import { ApiError, type Problem } from '../../values/errors.ts';
import { ListQuery, timestamp } from '../../values/page.ts';
import { hasLogin } from '../../values/web-address.ts';
import { toWire } from '../../values/wire.ts';
import { isSuccess } from './policy.ts';
import type { ListedSubscription, SubscriptionRow } from './queries.ts';

const MAX_URL = 2_048;

/** Why an address cannot be one of a receiver, as a stable code and a sentence. */
function urlProblem(text: string): [code: string, message: string] | undefined {
  if (!URL.canParse(text)) return ['invalid_url', 'must be an address that begins with https://'];
  const url = new URL(text);
  if (url.protocol !== 'https:') return ['invalid_scheme', 'must begin with https://'];
  if (hasLogin(url)) return ['has_login', 'must not have a name or password'];
  if (url.hash !== '') return ['has_fragment', 'must not have a fragment (#…)'];
  return undefined;
}

const url = z
  .string()
  .max(MAX_URL)
  .superRefine((text, context) => {
    const problem = urlProblem(text);
    if (problem) context.addIssue({ code: 'custom', params: { code: problem[0] }, message: problem[1], input: text });
  })
  .describe('`https://` only, of a public host.');
/** Read when it is used: by then every noun has declared its events. */
const eventsOf = (variant: Variant) =>
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
      .describe(`One or more of ${eventNames(variant).join(', ')}. Repeats count once.`),
  );
const events = eventsOf('current');
const description = z.string().trim().max(200).nullable();

export const WebhookCreate = z
  .object({ url, events, description: description.optional() })
  .meta({ id: 'WebhookCreate' });

/** As the older interface takes it: with a secret of the caller's, where they have one. */
export const OlderWebhookCreate = WebhookCreate.extend({
  events: eventsOf('legacy'),
  secret: z
    .string()
    .regex(/^[\x21-\x7e]{8,256}$/, 'must be 8 to 256 visible ASCII characters')
    .optional()
    .describe('Signs the deliveries; one is made when omitted.'),
}).meta({ id: 'OlderWebhookCreate' });

export const WebhookPatch = z
  .object({
    url: url.optional(),
    events: events.optional(),
    active: z.boolean().optional().describe('False cancels what is pending; true again begins with the next event.'),
    description: description.optional(),
  })
  .meta({ id: 'WebhookPatch' });
export type WebhookPatch = z.output<typeof WebhookPatch>;

export const WebhookRotate = z
  .object({
    overlap_hours: z.number().int().min(0).max(168).default(24).describe('How long the old secret signs as well.'),
    finish: z.boolean().default(false).describe('Ends a running overlap now; no new secret is made.'),
    force: z.boolean().default(false).describe('Rotates although an overlap still runs; the oldest secret is dropped.'),
  })
  .meta({ id: 'WebhookRotate' });
export type WebhookRotate = z.output<typeof WebhookRotate>;

const created = {
  id: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  secret: z.string().describe('In full, this once.'),
  active: z.boolean(),
  created_at: timestamp,
  description: z.string().nullable(),
  last_triggered_at: timestamp.nullable().describe('When the newest attempt began.'),
  last_status_code: z.number().int().nullable().describe("The newest attempt's; null when it was not answered."),
};

export const WebhookCreated = z.object(created).meta({ id: 'WebhookCreated' });

export const Webhook = z
  .object({
    ...created,
    secret: z.string().describe('Its first six and last four characters.'),
    variant: z.enum(['current', 'legacy']).describe('The interface that it was made on.'),
    status: z
      .enum(['active', 'failing', 'disabled'])
      .describe(
        '`failing`: the newest attempt failed; on the older interface, five in a row. `disabled`: switched off, by ' +
          'you or, on the older interface, after three days of failures.',
      ),
    previous_secret_expires_at: timestamp.nullable().describe('Until then the secret before this one signs as well.'),
    backlog: z.boolean().describe('More than 10,000 deliveries wait.'),
    updated_at: timestamp.nullable(),
  })
  .meta({ id: 'Webhook' });

export const WebhookRotated = z
  .object({
    id: z.string(),
    secret: z.string().describe('In full, this once; of a finished overlap as lists show it.'),
    previous_secret_expires_at: timestamp.nullable(),
  })
  .meta({ id: 'WebhookRotated' });

export const WebhookDeleted = z.object({ deleted: z.literal(true), id: z.string() }).meta({ id: 'WebhookDeleted' });

export const WebhookFilter = z.object({ ...ListQuery });

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
  .extend({ last_triggered: timestamp.nullable().describe('When the newest attempt began.') })
  .meta({ id: 'OlderWebhook' });

/** Throws VALIDATION_ERROR with a detail for each name that the variant does not know. Repeats are folded. */
export function knownEvents(variant: Variant, names: readonly string[]): string[] {
  const allowed = eventNames(variant);
  const details = names.flatMap((name, i): Problem[] => {
    if (allowed.includes(name)) return [];
    const shown = JSON.stringify(name.slice(0, 60));
    return [{ field: `events.${i}`, code: 'unknown_event', message: `${shown} is no event; see \`allowed\`.` }];
  });
  if (details.length === 0) return [...new Set(names)];
  const message = `events: ${details.length === 1 ? 'a name is' : `${details.length} names are`} unknown.`;
  throw new ApiError('VALIDATION_ERROR', message, { details, facts: { allowed } });
}

/** The older interface counts failures in a row; of the current one the newest attempt says how the webhook does. */
const isFailing = ({
  variant,
  failingSince,
  lastTriggeredAt,
  lastStatusCode,
}: Omit<SubscriptionRow, 'secretHint'>): boolean =>
  failingSince !== null ||
  (variant === 'current' && lastTriggeredAt !== null && !isSuccess({ statusCode: lastStatusCode }));

/** Every field that any shape of either variant shows; the secret only as a hint. */
export function webhookOf({ secretHint, ...row }: SubscriptionRow & Partial<Pick<ListedSubscription, 'pending'>>) {
  const status = row.active ? (isFailing(row) ? ('failing' as const) : ('active' as const)) : ('disabled' as const);
  const last_triggered = row.lastTriggeredAt?.toISOString() ?? null;
  return { ...toWire(row), secret: secretHint, status, last_triggered, backlog: (row.pending ?? 0) > MAX_PENDING };
}

/** Above it a subscription is said to have a backlog. */
const MAX_PENDING = 10_000;
