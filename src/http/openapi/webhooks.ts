import { z } from 'zod';
import { olderShape } from '../../legacy/events.ts';
import type { Json } from '../../operation/words/schema.ts';
import { EVENT_PAYLOADS, SHOWN_AS, type Variant } from '../../outbox/events.ts';
import { catalogue } from '../../resources/webhooks/catalogue.ts';

const signature = (description: string, pattern: string) => ({
  ...{ name: 'X-Service-Signature', in: 'header', required: true },
  ...{ description, schema: { type: 'string', pattern } },
});
const SIGNATURES: Readonly<Record<Variant, Json>> = {
  current: signature(
    '`sha256=` and the hex HMAC-SHA256 of the raw body, keyed with the secret.',
    '^sha256=[0-9a-f]{64}$',
  ),
  legacy: signature('The hex HMAC-SHA256 of the raw body, keyed with the secret.', '^[0-9a-f]{64}$'),
};

/** When the older interface announces what the current one does not, or under another name. */
const OLDER_ONLY: Readonly<Record<string, string>> = {
  'campaign.created': 'A campaign was created.',
  'campaign.updated': 'A campaign was changed.',
  'application.status_changed': 'An application was reviewed.',
  'commission.rejected': 'A commission was rejected.',
  'commission.paid': 'A commission was paid.',
  'content.tracked': 'A post is tracked from now on.',
  'content.metrics_updated': "A tracked post's metrics were read again.",
  'contract.signed': 'A creator signed a contract.',
  'deliverable.completed': 'A submission was approved.',
  'shipment.delivered': 'A shipment arrived.',
  'roster.creator_added': 'A creator came on the roster.',
  'roster.creator_removed': 'A creator was taken off the roster.',
};

interface Announced {
  event: string;
  when: string;
  body: z.ZodType;
}

const at = z.iso.datetime();

const ANNOUNCED: Readonly<Record<Variant, () => Announced[]>> = {
  current: () =>
    catalogue().map(({ event, when }) => {
      const body = z.object({ event: z.literal(event), createdAt: at, data: EVENT_PAYLOADS[event] });
      return { event, when, body };
    }),
  legacy: () => {
    const current = new Map<string, string>(catalogue().map(({ event, when }) => [event, when]));
    return Object.entries(SHOWN_AS.legacy).map(([fact, event]) => {
      const body = z.object({ id: z.string(), type: z.literal(event), created_at: at, data: olderShape(fact) });
      return { event, when: OLDER_ONLY[event] ?? current.get(event) ?? event, body };
    });
  },
};

/** What the receivers of a brand are sent, an entry for each event. */
export function webhooksOf(variant: Variant, schemaOf: (shape: z.ZodType) => Json): Json {
  return Object.fromEntries(
    ANNOUNCED[variant]().map(({ event, when, body }) => {
      const post = {
        ...{ operationId: event, tags: ['Webhooks'], summary: when, security: [], parameters: [SIGNATURES[variant]] },
        requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body) } } },
        responses: { '2XX': { description: 'Taken. Any other answer is a failure.' } },
      };
      return [event, { post }];
    }),
  );
}
