import { z } from 'zod';
import { idExample, makeExample } from '../../kit/operation/words/examples.ts';
import { toJsonSchema } from '../../kit/operation/words/schema.ts';
import {
  type EventDeclaration,
  eventNames,
  eventsShownTo,
  type OlderItem,
  type Variant,
} from '../../kit/outbox/events.ts';
import { ApiError, type Problem } from '../../kit/values/errors.ts';
import { createdAt, idField, updatedAt } from '../../kit/values/fields.ts';
import { timestamp } from '../../kit/values/page.ts';
import { hasLogin } from '../../kit/values/web-address.ts';
import { isRecord, toWire } from '../../kit/values/wire.ts';
import { isSuccess } from './health.ts';
import type { ListedSubscription, SubscriptionRow } from './queries.ts';

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
      .describe(`Events to deliver. One or more of ${eventNames(variant).join(', ')}. Repeats count once.`),
  );
const events = eventsOf('current');
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
  events: eventsOf('legacy'),
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

const created = {
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

export const WebhookCreated = z.object(created).meta({ id: 'WebhookCreated' });

const previousSecretExpiresAt = timestamp
  .nullable()
  .describe('When the previous secret stops signing; null outside an overlap.')
  .meta({ example: '2026-03-03T09:30:00.000Z' });

export const Webhook = z
  .object({
    ...created,
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
    id: created.id,
    secret: z
      .string()
      .describe('New signing secret in full, shown only here. With `finish`, shortened as in lists.')
      .meta({ example: 'whsec_q1Zs7B…' }),
    previous_secret_expires_at: previousSecretExpiresAt,
  })
  .meta({ id: 'WebhookRotated' });

export const WebhookDeleted = z
  .object({ deleted: z.literal(true).describe('Always `true`.'), id: created.id })
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

/** Throws VALIDATION_ERROR with a detail for each name that the variant does not know. Repeats are folded. */
export function knownEvents(variant: Variant, names: readonly string[]): string[] {
  const allowed = eventNames(variant);
  const details = names.flatMap((name, i): Problem[] => {
    if (allowed.includes(name)) return [];
    const shown = JSON.stringify(name.slice(0, 60));
    return [{ field: `events.${i}`, code: 'unknown_event', message: `${shown} is not an event; see \`allowed\`.` }];
  });
  if (details.length === 0) return [...new Set(names)];
  const message = `events: ${details.length === 1 ? 'a name is' : `${details.length} names are`} unknown.`;
  throw new ApiError('VALIDATION_ERROR', message, { details, facts: { allowed } });
}

/** The older interface counts failures in a row; the current one looks at the newest attempt. */
const isFailing = ({
  variant,
  failingSince,
  lastTriggeredAt,
  lastStatusCode,
}: Omit<SubscriptionRow, 'secretHint'>): boolean =>
  failingSince !== null ||
  (variant === 'current' && lastTriggeredAt !== null && !isSuccess({ statusCode: lastStatusCode }));

/** All fields of the shapes of both variants; the secret is shortened. */
export function webhookOf({ secretHint, ...row }: SubscriptionRow & Partial<Pick<ListedSubscription, 'pending'>>) {
  const status = row.active ? (isFailing(row) ? ('failing' as const) : ('active' as const)) : ('disabled' as const);
  const last_triggered = row.lastTriggeredAt?.toISOString() ?? null;
  return { ...toWire(row), secret: secretHint, status, last_triggered, backlog: (row.pending ?? 0) > MAX_PENDING };
}

/** Above this number a subscription has a backlog. */
const MAX_PENDING = 10_000;

/** The JSON Schema of an event's `data`. A shape that has a name is written out, so that its properties are at the top. */
function dataSchemaOf({ data }: EventDeclaration) {
  const { schema, named } = toJsonSchema(data, 'output', '#/$defs/');
  const name = typeof schema.$ref === 'string' ? schema.$ref.slice('#/$defs/'.length) : '';
  const { [name]: own, ...others } = named;
  return isRecord(own) ? { schema: own, named: others } : { schema, named };
}

/** The same as self-contained JSON Schema. */
function schemaOf(event: EventDeclaration) {
  const { schema, named } = dataSchemaOf(event);
  return Object.keys(named).length === 0 ? schema : { ...schema, $defs: named };
}

const Statuses = z.object({ properties: z.object({ status: z.object({ enum: z.array(z.string()) }) }) });

/** An example of an event's `data`, with the status that the event's name implies. */
function sampleOf(fact: string, event: EventDeclaration): unknown {
  const { schema, named } = dataSchemaOf(event);
  const [noun = '', happened = ''] = fact.split('.');
  const sample = makeExample(schema, { named, id: idExample(`/${noun}s/${noun}`) });
  const statuses = Statuses.safeParse(schema).data?.properties.status.enum ?? [];
  const status = [happened, fact === 'application.approved' ? 'accepted' : ''].find((word) => statuses.includes(word));
  return status === undefined || !isRecord(sample) ? sample : { ...sample, status };
}

/** The example data of a test event, as JSON text; undefined if the variant has no such event. */
export function sampleData(
  variant: Variant,
  shown: string,
  olderItem: OlderItem = (_fact, data) => data,
): string | undefined {
  const found = eventsShownTo(variant).find((event) => event.shownAs === shown);
  if (found === undefined) return undefined;
  const sample = sampleOf(found.name, found.event);
  return JSON.stringify(variant === 'legacy' ? olderItem(found.name, sample) : sample);
}

export const CatalogueEntry = z
  .object({
    event: z.string().describe('Event name.').meta({ example: 'commission.approved' }),
    when: z.string().describe('When the event is sent.').meta({ example: 'A commission was approved.' }),
    schema: z
      .record(z.string(), z.unknown())
      .describe('JSON Schema of the `data` of the event.')
      .meta({ example: { type: 'object', properties: { id: { type: 'string' } } } }),
    sample: z
      .unknown()
      .describe('Example of the `data` of the event.')
      .meta({ example: { id: 'com_0Uo3xK2mVdT2aXs7LpRb' } }),
  })
  .meta({ id: 'WebhookEvent' });

/** The twelve events of the current interface. */
export const catalogue = () =>
  eventsShownTo('current').map(({ name, event }) => ({
    event: name,
    when: event.when,
    schema: schemaOf(event),
    sample: sampleOf(name, event),
  }));
