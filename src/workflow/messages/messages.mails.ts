import { z } from 'zod';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { template } from '../../kit/mail/template.ts';

const QUOTED = 1_000;

/** The beginning of a long text, cut at a whole character. */
function beginning(text: string): string {
  const characters = [...text];
  return characters.length <= QUOTED ? text : `${characters.slice(0, QUOTED).join('')} …`;
}

/** A brand's message, with a link to the page for the reply. */
const messageSent = template({
  audience: 'creator',
  params: z.object({
    conversation_id: z.string(),
    link_version: z.int(),
    subject: z.string().nullable(),
    body: z.string().transform(beginning),
  }),
  write: ({ conversation_id, link_version, subject, body }, { brandName, urlOf }) => ({
    subject: subject === null ? `${brandName} wrote to you` : `${brandName}: ${subject}`,
    heading: `${brandName} wrote to you`,
    paragraphs: [],
    quote: body,
    action: {
      label: 'Read and reply',
      url: urlOf({ kind: 'talk', rowId: conversation_id, version: link_version }),
    },
  }),
});

/** Mails the brand's people. */
const messageReceived = template({
  audience: 'brand',
  isNews: true,
  params: z.object({ conversation_id: z.string(), creator: z.string(), body: z.string().transform(beginning) }),
  write: ({ conversation_id, creator, body }, { appUrlOf }) => ({
    subject: `${creator} replied`,
    paragraphs: [],
    quote: body,
    action: { label: 'Read and reply', url: appUrlOf(`conversations?open=${conversation_id}`) },
    links: [{ label: 'Choose your emails', url: appUrlOf('settings') }],
  }),
});

export const messageMails = mails({
  message_received: messageReceived,
  message_sent: messageSent,
});

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof messageMails> {}
}
