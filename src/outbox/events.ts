import { z } from 'zod';
import {
  ApplicationPayload,
  CampaignPayload,
  CommissionPayload,
  ContentPayload,
  ContentRefreshedPayload,
  ContractPayload,
  DeliverablePayload,
  MessagePayload,
  PayoutPayload,
  RosterPayload,
  ShipmentPayload,
} from './payloads.ts';

/** Every fact that the outbox can hold, with the shape of its `data`. */
export const EVENT_PAYLOADS = {
  'application.received': ApplicationPayload,
  'application.approved': ApplicationPayload,
  'commission.created': CommissionPayload,
  'commission.approved': CommissionPayload,
  'payout.created': PayoutPayload,
  'content.refreshed': ContentRefreshedPayload,
  'message.received': MessagePayload,
  'deliverable.submitted': DeliverablePayload,
  'deliverable.approved': DeliverablePayload,
  'deliverable.revision_requested': DeliverablePayload,
  'deliverable.declined': DeliverablePayload,
  'deliverable.cancelled': DeliverablePayload,
  // Facts that only the older interface announces.
  'campaign.created': CampaignPayload,
  'campaign.updated': CampaignPayload,
  'application.status_changed': ApplicationPayload.extend({ previous_status: z.string() }),
  'commission.rejected': CommissionPayload,
  'commission.paid': CommissionPayload,
  'content.tracked': ContentPayload,
  'contract.signed': ContractPayload,
  'shipment.delivered': ShipmentPayload,
  'roster.creator_added': RosterPayload,
  'roster.creator_removed': RosterPayload,
  // For our own consumers alone.
  'deliverable.track_requested': DeliverablePayload,
} as const;

export type EventName = keyof typeof EVENT_PAYLOADS;
export type EventPayload<Name extends EventName> = z.output<(typeof EVENT_PAYLOADS)[Name]>;

/** A fact as it waits for its transaction's end. */
export type Emit = <Name extends EventName>(event: Name, data: EventPayload<Name>) => void;

/** The interface that a subscription was made on. */
export type Variant = 'current' | 'legacy';

/** An event's data in the form of the older interface. */
export type OlderItem = (fact: string, data: unknown) => unknown;

/** The names under which a fact is shown to a variant's subscribers; a fact without one is not shown there. */
export const SHOWN_AS = {
  current: {
    'application.received': 'application.received',
    'application.approved': 'application.approved',
    'commission.created': 'commission.created',
    'commission.approved': 'commission.approved',
    'payout.created': 'payout.created',
    'content.refreshed': 'content.refreshed',
    'message.received': 'message.received',
    'deliverable.submitted': 'deliverable.submitted',
    'deliverable.approved': 'deliverable.approved',
    'deliverable.revision_requested': 'deliverable.revision_requested',
    'deliverable.declined': 'deliverable.declined',
    'deliverable.cancelled': 'deliverable.cancelled',
  },
  legacy: {
    'campaign.created': 'campaign.created',
    'campaign.updated': 'campaign.updated',
    'application.received': 'application.received',
    'application.status_changed': 'application.status_changed',
    'commission.created': 'commission.created',
    'commission.approved': 'commission.approved',
    'commission.rejected': 'commission.rejected',
    'commission.paid': 'commission.paid',
    'payout.created': 'payout.created',
    'message.received': 'message.received',
    'content.tracked': 'content.tracked',
    'content.refreshed': 'content.metrics_updated',
    'contract.signed': 'contract.signed',
    'deliverable.approved': 'deliverable.completed',
    'shipment.delivered': 'shipment.delivered',
    'roster.creator_added': 'roster.creator_added',
    'roster.creator_removed': 'roster.creator_removed',
  },
} as const satisfies Record<Variant, Partial<Record<EventName, string>>>;

/** The names that a variant's subscribers may ask for. */
export const EVENT_NAMES: Readonly<Record<Variant, readonly string[]>> = {
  current: Object.values(SHOWN_AS.current),
  legacy: Object.values(SHOWN_AS.legacy),
};

/** What a variant's subscribers call a fact; undefined when it is not reported to them. */
export function shownAs(variant: Variant, fact: string): string | undefined {
  const names: Partial<Record<string, string>> = SHOWN_AS[variant];
  return Object.hasOwn(names, fact) ? names[fact] : undefined;
}
