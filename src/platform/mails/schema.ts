import { z } from 'zod';
import { REASONS } from '../../kit/mail/admission.ts';
import { MAIL_REASONS, MAIL_STATES, type MailRow } from '../../kit/mail/queries.ts';
import { createdAt, idField } from '../../kit/values/fields.ts';
import { ListQuery, listSchema, timestamp } from '../../kit/values/page.ts';

const state = z
  .enum(MAIL_STATES)
  .describe(
    '`suppressed` mails are not sent because the address unsubscribed from the brand. `held` mails wait until the ' +
      'operator of Rollcall releases them.',
  );

export const Mail = z
  .object({
    id: idField('mai', 'Mail id.'),
    kind: z.string().describe('Mail template.').meta({ example: 'brief_sent' }),
    to: z.string().describe('E-mail address of the recipient.').meta({ example: 'ana@example.com' }),
    state,
    reason: z.enum(MAIL_REASONS).nullable().describe('Why the mail is held or delayed; null otherwise.'),
    detail: z
      .string()
      .nullable()
      .describe('`reason` as a sentence, or the response of the mail server to a failed mail; null otherwise.')
      .meta({ example: null }),
    created_at: createdAt,
    sent_at: timestamp.nullable().describe('When the mail server accepted the mail; null until then.'),
  })
  .meta({ id: 'Mail' });

export const MailFilter = z.object({ state: state.optional().describe('Only mails in this state.'), ...ListQuery });
export const MailList = listSchema(Mail).meta({ id: 'MailList' });

export const mailOf = ({ id, kind, toEmail: to, state, reason, error, createdAt, sentAt }: MailRow) => ({
  id,
  kind,
  to,
  state,
  reason,
  detail: reason === null ? error : REASONS[reason],
  created_at: createdAt.toISOString(),
  sent_at: sentAt?.toISOString() ?? null,
});
