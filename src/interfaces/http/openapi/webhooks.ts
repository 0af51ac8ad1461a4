import { z } from 'zod';
import type { SchemaNode } from '../../../kit/operation/json-schema.ts';
import { eventsShownTo, type Variant } from '../../../kit/outbox/events.ts';

const signature = (description: string, pattern: string) => ({
  name: 'X-Service-Signature',
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', pattern },
});
const SIGNATURES: Readonly<Record<Variant, SchemaNode>> = {
  current: signature(
    '`sha256=` and the hex HMAC-SHA256 of the raw body, keyed with the secret.',
    '^sha256=[0-9a-f]{64}$',
  ),
  legacy: signature('The hex HMAC-SHA256 of the raw body, keyed with the secret.', '^[0-9a-f]{64}$'),
};

/** An event as receivers get it: its name, when it is sent, and the body. */
export interface Announced {
  event: string;
  when: string;
  body: z.ZodType;
}

/** The events of the current API. */
export const currentEvents = (): Announced[] =>
  eventsShownTo('current').map(({ name, event: { when, data } }) => {
    const body = z.object({
      event: z.literal(name).describe('Name of the event.'),
      createdAt: z.iso.datetime().describe('When the event happened.'),
      data,
    });
    return { event: name, when, body };
  });

/** The `webhooks` section of the document, an entry for each event. */
export function describeWebhooks(
  variant: Variant,
  events: readonly Announced[],
  schemaOf: (shape: z.ZodType) => SchemaNode,
): SchemaNode {
  return Object.fromEntries(
    events.map(({ event, when, body }) => {
      const post = {
        operationId: event,
        tags: ['Webhooks'],
        summary: when,
        security: [],
        parameters: [SIGNATURES[variant]],
        requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body) } } },
        responses: { '2XX': { description: 'Received. Any other response counts as a failure.' } },
      };
      return [event, { post }];
    }),
  );
}
