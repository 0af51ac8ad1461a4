import { z } from 'zod';
import { MAIL_REASONS, MAIL_STATES } from '../../engines/postgres/mail-tables.ts';
import { REASONS } from '../../mail/admission.ts';
import type { MailRow } from '../../mail/queries.ts';
import { ListQuery, listOf, timestamp } from '../../values/page.ts';

const state = z
  .enum(MAIL_STATES)
  .describe(
    '`queued` waits to be sent, `suppressed` went to nobody because the address wants no mail of the brand, `held` is held ' +
      'back until the operator releases it.',
  );

export const Mail = z
  .object({
    id: z.string(),
    kind: z.string().describe('What it is about, such as `brief_sent`.').meta({ example: 'brief_sent' }),
    to: z.string().describe('The address that it goes to.').meta({ example: 'ana@example.com' }),
    state,
    reason: z.enum(MAIL_REASONS).nullable().describe('Why it is held back, or waits.'),
    detail: z.string().nullable().describe('The same in words, or what the mail server answered.'),
    created_at: timestamp,
    sent_at: timestamp.nullable(),
  })
  .meta({ id: 'Mail' });

export const MailFilter = z.object({ state: state.optional(), ...ListQuery });
export const MailList = listOf(Mail).meta({ id: 'MailList' });

export const mailOf = ({ id, kind, toEmail: to, state, reason, error, createdAt, sentAt }: MailRow) => ({
  ...{ id, kind, to, state, reason },
  detail: reason === null ? error : REASONS[reason],
  created_at: createdAt.toISOString(),
  sent_at: sentAt?.toISOString() ?? null,
});
