import { z } from 'zod';
import { type MailsOf, mails } from '../../mail/kinds.ts';
import { template } from '../../mail/template.ts';

/** To the address that a second application names: only who reads this mail may put it in the place of the first. */
const applicationChanged = template({
  audience: 'creator',
  params: z.object({ change_id: z.string(), campaign_id: z.string() }),
  write: ({ change_id }, { brandName, urlOf }) => ({
    subject: `Confirm your new application to ${brandName}`,
    paragraphs: [
      `Somebody has applied to ${brandName} again with this address. Your first application stands until you confirm the new one.`,
      'If this was not you, you need do nothing: nothing is changed.',
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
