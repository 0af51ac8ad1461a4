import { z } from 'zod';
import { EVENT_PAYLOADS, type OlderItem, SHOWN_AS } from '../outbox/events.ts';
import { CampaignPayload, ShipmentPayload } from '../outbox/payloads.ts';
import { catalogue } from '../resources/webhooks/catalogue.ts';
import { legacyCampaign, legacyCommission, legacyShipment } from './items.ts';

/** The older form of what events carry, by the noun that an event's name begins with; every other item is the same. */
const FORMS: Readonly<Record<string, z.ZodType>> = {
  campaign: legacyCampaign(CampaignPayload),
  commission: legacyCommission,
  shipment: legacyShipment(ShipmentPayload),
};

function formOf(fact: string): z.ZodType | undefined {
  const noun = fact.split('.')[0] ?? '';
  return Object.hasOwn(FORMS, noun) ? FORMS[noun] : undefined;
}

/** The shape of an event's data in the older interface. */
const olderShape = (fact: string): z.ZodType =>
  formOf(fact) ?? Object.entries(EVENT_PAYLOADS).find(([name]) => name === fact)?.[1] ?? z.unknown();

/** An event's data as the older interface shows its item. One that was emitted before its shape was what it is stays. */
export const olderItem: OlderItem = (fact, data) => {
  const shown = formOf(fact)?.safeParse(data);
  return shown?.success ? shown.data : data;
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

/** The events of the older interface: each one's name, when it is sent, and the whole body. */
export function olderEvents() {
  const current = new Map<string, string>(catalogue().map(({ event, when }) => [event, when]));
  return Object.entries(SHOWN_AS.legacy).map(([fact, event]) => {
    const at = z.iso.datetime();
    const body = z.object({ id: z.string(), type: z.literal(event), created_at: at, data: olderShape(fact) });
    return { event, when: OLDER_ONLY[event] ?? current.get(event) ?? event, body };
  });
}
