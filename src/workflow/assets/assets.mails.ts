import { z } from 'zod';
import { dayText } from '../../kit/html/times.ts';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { template } from '../../kit/mail/template.ts';

/** Notifies a brand that its rights to a file end soon or have ended. */
const assetRightsEnding = template({
  audience: 'brand',
  params: z.object({ asset_id: z.string(), name: z.string(), ends_on: z.iso.date(), has_ended: z.boolean() }),
  write: ({ asset_id, name, ends_on, has_ended }) => ({
    subject: has_ended ? `The rights to ${name} have ended` : `The rights to ${name} end on ${dayText(ends_on)}`,
    paragraphs: [
      has_ended
        ? 'Your rights to use this file have ended. Please stop using it, or agree on an extension with the creator.'
        : 'Your rights to use this file end soon.',
    ],
    facts: [
      ['File', name],
      ['Asset', asset_id],
      [has_ended ? 'Ended on' : 'Ends on', dayText(ends_on)],
    ],
  }),
});

export const assetMails = mails({
  asset_rights_ending: assetRightsEnding,
});

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof assetMails> {}
}
