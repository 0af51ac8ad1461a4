import { z } from 'zod';
import { type MailsOf, mails } from '../../../kit/mail/kinds.ts';
import { template } from '../../../kit/mail/template.ts';

/** A scheduled export failed for the first time since one was delivered. */
const exportFailing = template({
  audience: 'brand',
  params: z.object({ of: z.string(), bucket: z.string(), error: z.string() }),
  write: ({ of, bucket, error }, { appUrlOf }) => ({
    subject: `The daily export of ${of} fails`,
    paragraphs: [
      'It is tried again each day. Nothing is lost: the next export that works has everything since the last one. You get no other mail until then.',
    ],
    facts: [
      ['Bucket', bucket],
      ['Error', error],
    ],
    action: { label: 'Open exports', url: appUrlOf('exports') },
  }),
});

export const exportMails = mails({ export_failing: exportFailing });

declare module '../../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof exportMails> {}
}
