import { z } from 'zod';
import { EVENT_PAYLOADS } from '../../outbox/events.ts';
import { catalogue } from '../../resources/webhooks/catalogue.ts';
import type { Json } from './schema.ts';

const SIGNATURE = {
  name: 'X-Service-Signature',
  in: 'header',
  required: true,
  description: '`sha256=` and the hex HMAC-SHA256 of the raw body, keyed with the secret.',
  schema: { type: 'string', pattern: '^sha256=[0-9a-f]{64}$' },
};

/** What the receivers of a brand are sent, an entry for each event. */
export function webhooksOf(schemaOf: (shape: z.ZodType) => Json): Json {
  return Object.fromEntries(
    catalogue().map(({ event, when }) => {
      const body = z.object({ event: z.literal(event), createdAt: z.iso.datetime(), data: EVENT_PAYLOADS[event] });
      const post = {
        ...{ operationId: event, tags: ['Webhooks'], summary: when, security: [], parameters: [SIGNATURE] },
        requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body) } } },
        responses: { '2XX': { description: 'Taken. Any other answer is a failure.' } },
      };
      return [event, { post }];
    }),
  );
}
