import { z } from 'zod';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { template } from '../../kit/mail/template.ts';

/** Sent to the address of a second application: only someone who reads this mail can replace the first one. */
const applicationChanged = template({
  audience: 'creator',
  params: z.object({ change_id: z.string(), campaign_id: z.string() }),
  write: ({ change_id }, { brandName, urlOf }) => ({
    subject: `Confirm your new application to ${brandName}`,
    paragraphs: [
      `A new application to ${brandName} uses this address. Your first application stays valid until you confirm the new one.`,
      'If this was not you, ignore this email: nothing changes.',
    ],
    action: { label: 'See and confirm', url: urlOf({ kind: 'confirm', rowId: change_id, version: 0 }) },
  }),
});

const Decided = z.object({ campaign: z.string() });

const applicationAccepted = template({
  audience: 'creator',
  isNews: true,
  params: Decided,
  write: ({ campaign }, { brandName }) => ({
    subject: `${brandName} accepted your application to ${campaign}`,
    paragraphs: [`You’re in. ${brandName} will be in touch about the next steps.`],
  }),
});

const applicationDeclined = template({
  audience: 'creator',
  isNews: true,
  params: Decided,
  write: ({ campaign }, { brandName }) => ({
    subject: `Your application to ${campaign}`,
    paragraphs: [`${brandName} has decided not to work with you on this campaign. Thank you for applying.`],
  }),
});

const applicationReceived = template({
  audience: 'brand',
  isNews: true,
  params: z.object({ application_id: z.string(), creator: z.string(), campaign: z.string() }),
  write: ({ application_id, creator, campaign }, { appUrlOf }) => ({
    subject: `${creator} applied to ${campaign}`,
    paragraphs: ['The application is waiting for your decision.'],
    action: { label: 'See the application', url: appUrlOf(`applications?open=${application_id}`) },
    links: [{ label: 'Choose your emails', url: appUrlOf('settings') }],
  }),
});

export const applicationMails = mails({
  application_accepted: applicationAccepted,
  application_changed: applicationChanged,
  application_declined: applicationDeclined,
  application_received: applicationReceived,
});

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof applicationMails> {}
}
