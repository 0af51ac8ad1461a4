import type { z } from 'zod';
import { CampaignPayload, ShipmentPayload } from '../outbox/payloads.ts';
import type { OlderItem } from '../resources/webhooks/fan-out.ts';
import { legacyCampaign, legacyCommission, legacyShipment } from './items.ts';

/** The older form of what events carry, by the noun that an event's name begins with; every other item is the same. */
const FORMS: Readonly<Record<string, z.ZodType>> = {
  campaign: legacyCampaign(CampaignPayload),
  commission: legacyCommission,
  shipment: legacyShipment(ShipmentPayload),
};

/** An event's data as the older interface shows its item. One that was emitted before its shape was what it is stays. */
export const olderItem: OlderItem = (fact, data) => {
  const noun = fact.split('.')[0] ?? '';
  const form = Object.hasOwn(FORMS, noun) ? FORMS[noun] : undefined;
  const shown = form?.safeParse(data);
  return shown?.success ? shown.data : data;
};
