import { z } from 'zod';
import { timeText } from '../../kit/html/times.ts';
import { type MailsOf, mails } from '../../kit/mail/kinds.ts';
import { queueMails } from '../../kit/mail/queue.ts';
import { template } from '../../kit/mail/template.ts';
import type { Work } from '../../kit/operation/work.ts';
import { listOwners } from '../../platform/people/people.ts';
import type { DataRequestRow } from './data-requests.shapes.ts';

const dataRequest = template({
  audience: 'brand',
  params: z.object({
    what: z.enum(['erasure', 'file']),
    /** A creator's name, or that of the store which asks. */
    who: z.string(),
    request_id: z.string(),
    due_at: z.iso.datetime(),
  }),
  write: ({ what, who, request_id, due_at }, { appUrlOf }) => ({
    ...(what === 'erasure'
      ? {
          subject: `${who} asks to be erased`,
          paragraphs: [
            'They asked on their own page. Erase them, or refuse with a reason; the law gives you until the date below.',
          ],
        }
      : {
          subject: `${who} asks what you keep of a customer`,
          paragraphs: [
            'The file is made. Download it within seven days, and send it to the customer before the date below.',
          ],
        }),
    facts: [['Due', timeText(new Date(due_at))]],
    action: { label: 'Open the request', url: appUrlOf(`rights?open=${request_id}`) },
  }),
});

const dataRequestRefused = template({
  audience: 'brand',
  params: z.object({ creator_id: z.string(), reason: z.string() }),
  write: ({ reason }, { brandName }) => ({
    subject: `${brandName} did not erase your data`,
    paragraphs: [`You asked ${brandName} to erase what it keeps of you. They refused, and wrote:`],
    quote: reason,
  }),
});

export const dataRequestMails = mails({ data_request: dataRequest, data_request_refused: dataRequestRefused });

declare module '../../kit/mail/kinds.ts' {
  interface Mails extends MailsOf<typeof dataRequestMails> {}
}

/** Tells the owners of a request that waits for them, or of a file that they have to pass on. */
export async function mailOwners(
  work: Work,
  { id, dueAt }: Pick<DataRequestRow, 'id' | 'dueAt'>,
  about: { what: 'erasure' | 'file'; who: string },
): Promise<void> {
  const owners = await listOwners(work.db, work.brandId);
  await queueMails(
    work,
    owners.map(({ email }) => ({
      kind: 'data_request' as const,
      to: email,
      subjectRow: id,
      params: { ...about, request_id: id, due_at: dueAt.toISOString() },
    })),
  );
}
