import { z } from 'zod';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { template } from '../../kit/mail/template.ts';

const WORDS: Readonly<Record<string, string>> = {
  created: 'is being prepared',
  pending: 'is being prepared',
  shipped: 'is on its way',
  delivered: 'was delivered',
  returned: 'went back to the sender',
};

/** A brand's notice to a creator about a parcel, with a link to the page where they say whether it arrived. */
const parcelOnItsWay = template({
  audience: 'creator',
  params: z.object({
    shipment_id: z.string(),
    link_version: z.int(),
    status: z.string(),
    product: z.string().nullable(),
    carrier: z.string().nullable(),
    tracking_number: z.string().nullable(),
    estimated_arrival: z.string().nullable(),
  }),
  write: ({ shipment_id, link_version, status, ...parcel }, { brandName, urlOf }) => ({
    subject: `Your parcel from ${brandName} ${WORDS[status] ?? status}`,
    paragraphs: ['Please tell them on the page when it has arrived, or when it has not.'],
    facts: [
      ['Content', parcel.product],
      ['Carrier', parcel.carrier],
      ['Tracking number', parcel.tracking_number],
      ['Expected', parcel.estimated_arrival],
    ].flatMap(([name, value]) => (name && value ? [[name, value] as const] : [])),
    action: {
      label: 'See the parcel',
      url: urlOf({ kind: 'parcel', rowId: shipment_id, version: link_version }),
    },
  }),
});

export const shipmentMails = mails({
  parcel_on_its_way: parcelOnItsWay,
});

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof shipmentMails> {}
}
