import { z } from 'zod';
import { type MailsOf, mails } from '../../mail/kinds.ts';
import { template } from '../../mail/template.ts';

/** Sent to the address of a second application: only someone who reads this mail can replace the first one. */
const applicationChanged = template({
  audience: 'creator',
  params: z.object({ change_id: z.string(), campaign_id: z.string() }),
  write: ({ change_id }, { brandName, urlOf }) => ({
    subject: `Confirm your new application to ${brandName}`,
    paragraphs: [
      `A new application to ${brandName} uses this address. Your first application stays valid until you confirm the new one.`,
      'If this was not you, ignore this mail: nothing changes.',
    ],
    action: { label: 'See and confirm', url: urlOf({ kind: 'confirm', rowId: change_id, version: 0 }) },
  }),
});

export const applicationMails = mails({
  application_changed: applicationChanged,
});

declare module '../../mail/kinds.ts' {
  interface Mails extends MailsOf<typeof applicationMails> {}
}
