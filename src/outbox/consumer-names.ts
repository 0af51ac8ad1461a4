/** Who follows the outbox, each at its own position. */
export const CONSUMER_NAMES = ['profiles', 'briefs', 'webhooks'] as const;
