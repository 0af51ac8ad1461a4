import { RollcallError } from './errors.js';
import type { RollcallEvent } from './generated/types.gen.js';
import { type DeliveryHeaders, verifyDigest, verifyWebhook, WebhookSecretError } from './signatures.js';

export type { RollcallEvent } from './generated/types.gen.js';
export { type DeliveryHeaders, verifyWebhook, WebhookSecretError } from './signatures.js';

const isEvent = (body: unknown): body is RollcallEvent =>
  typeof body === 'object' && body !== null && 'event' in body && typeof body.event === 'string' && 'data' in body;

function parseEvent(body: string | Uint8Array): RollcallEvent {
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  let event: unknown;
  try {
    event = JSON.parse(text);
  } catch {
    // It is refused below.
  }
  if (!isEvent(event)) throw new RollcallError('UNREADABLE', 'The delivery is signed, but is no event.');
  return event;
}

/**
 * The event of a delivery, typed by its `event`; a RollcallError for anything that was not signed with the secret. `body` is
 * raw, before it is parsed. `header` is the delivery's headers: they say when it was sent, and one older than five minutes is
 * refused. The value of `X-Service-Signature` alone does, too, but has no time.
 *
 * An event that is newer than this package is returned as it came: end a `switch` over `event.event` with a `default`.
 */
export async function constructEvent(
  body: string | Uint8Array,
  header: DeliveryHeaders | string,
  secret: string,
): Promise<RollcallEvent> {
  const isText = typeof header === 'string';
  const checking = isText ? verifyDigest(secret, body, header) : verifyWebhook(secret, body, header);
  const isSigned = await checking.catch((error: unknown) => {
    if (!(error instanceof WebhookSecretError)) throw error;
    throw new RollcallError('WEBHOOK_SECRET', error.message, { cause: error });
  });
  if (!isSigned) {
    const when = isText ? '' : ' in the last five minutes';
    throw new RollcallError('WEBHOOK_SIGNATURE', `The delivery was not signed with this secret${when}.`);
  }
  return parseEvent(body);
}
