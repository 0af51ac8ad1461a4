import { z } from 'zod';
import { EVENT_PAYLOADS, type OlderItem } from '../outbox/events.ts';
import { CampaignPayload, ShipmentPayload } from '../outbox/payloads.ts';
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
export const olderShape = (fact: string): z.ZodType =>
  formOf(fact) ?? Object.entries(EVENT_PAYLOADS).find(([name]) => name === fact)?.[1] ?? z.unknown();

/** An event's data as the older interface shows its item. One that was emitted before its shape was what it is stays. */
export const olderItem: OlderItem = (fact, data) => {
  const shown = formOf(fact)?.safeParse(data);
  return shown?.success ? shown.data : data;
};
