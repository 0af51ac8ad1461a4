import { z } from 'zod';
import { eventsShownTo, type OlderItem } from '../../kit/outbox/events.ts';
import { CampaignSaved } from '../../workflow/campaigns/campaigns.shapes.ts';
import { Shipment } from '../../workflow/shipments/shipments.shapes.ts';
import { legacyCampaign, legacyCommission, legacyShipment } from './items.ts';

/** The older shapes of event data, by the noun at the start of the event's name. All other items are the same. */
const FORMS: Readonly<Record<string, z.ZodType>> = {
  campaign: legacyCampaign(CampaignSaved),
  commission: legacyCommission,
  shipment: legacyShipment(Shipment.extend({})),
};

function toForm(fact: string): z.ZodType | undefined {
  const noun = fact.split('.')[0] ?? '';
  return Object.hasOwn(FORMS, noun) ? FORMS[noun] : undefined;
}

/** Converts an event's data to the older shape. Events older than the current shape are left unchanged. */
export const olderItem: OlderItem = (fact, data) => {
  const olderForm = toForm(fact)?.safeParse(data);
  return olderForm?.success ? olderForm.data : data;
};

/** The events of the older interface: name, when each is sent, and body. */
export const olderEvents = () =>
  eventsShownTo('legacy').map(({ name, shownAs, event }) => {
    const data = toForm(name) ?? event.data;
    const body = z.object({
      id: z
        .string()
        .describe('Id of the event, the same in every delivery of it.')
        .meta({ example: 'evt_0Uo3xK2mVdT2aXs7LpRb' }),
      type: z.literal(shownAs).describe('Name of the event in the older API.'),
      created_at: z.iso.datetime().describe('Time of the event.'),
      data,
    });
    return { event: shownAs, when: event.when, body };
  });
