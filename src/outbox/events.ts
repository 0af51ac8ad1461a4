/** The events of the current interface. */
export const EVENTS = [
  'application.received',
  'application.approved',
  'commission.created',
  'commission.approved',
  'payout.created',
  'content.refreshed',
  'message.received',
  'deliverable.submitted',
  'deliverable.approved',
  'deliverable.revision_requested',
  'deliverable.declined',
  'deliverable.cancelled',
] as const;

/** Changes that only our own consumers follow; never sent to a brand's endpoint. */
export const INTERNAL_EVENTS = ['roster.creator_added'] as const;

export type EventName = (typeof EVENTS)[number] | (typeof INTERNAL_EVENTS)[number];
