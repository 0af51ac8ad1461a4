/** Who follows the outbox, each at its own position. */
export const CONSUMER_NAMES = ['profiles', 'briefs', 'content', 'webhooks'] as const;
