import { z } from 'zod';
import { eventsShownTo, type OlderItem } from '../outbox/events.ts';
import { CampaignSaved } from '../resources/campaigns/schema.ts';
import { Shipment } from '../resources/shipments/schema.ts';
import { legacyCampaign, legacyCommission, legacyShipment } from './items.ts';

/** The older form of what events carry, by the noun that an event's name begins with; every other item is the same. */
const FORMS: Readonly<Record<string, z.ZodType>> = {
  campaign: legacyCampaign(CampaignSaved),
  commission: legacyCommission,
  shipment: legacyShipment(Shipment.extend({})),
};

function formOf(fact: string): z.ZodType | undefined {
  const noun = fact.split('.')[0] ?? '';
  return Object.hasOwn(FORMS, noun) ? FORMS[noun] : undefined;
}

/** An event's data as the older interface shows its item. One that was emitted before its shape was what it is stays. */
export const olderItem: OlderItem = (fact, data) => {
  const shown = formOf(fact)?.safeParse(data);
  return shown?.success ? shown.data : data;
};

/** The events of the older interface: each one's name, when it is sent, and the whole body. */
export const olderEvents = () =>
  eventsShownTo('legacy').map(({ name, shownAs, event }) => {
    const data = formOf(name) ?? event.data;
    const body = z.object({ id: z.string(), type: z.literal(shownAs), created_at: z.iso.datetime(), data });
    return { event: shownAs, when: event.when, body };
  });
