import { z } from 'zod';
import { listing } from '../kit/engines/postgres/listing.ts';
import { REASONS } from '../kit/mail/admission.ts';
import { MAIL_REASONS, MAIL_STATES, type MailRow, type MailState, withBrand } from '../kit/mail/mails.ts';
import { read } from '../kit/operation/kit.ts';
import { listHandlers } from '../kit/operation/list.ts';
import { noun } from '../kit/operation/noun.ts';
import { createdAt, idField } from '../kit/values/fields.ts';
import { ListQuery, type ListWindow, listSchema, timestamp } from '../kit/values/page.ts';
import { omitUndefined } from '../kit/values/patch.ts';

const state = z
  .enum(MAIL_STATES)
  .describe(
    '`suppressed` emails are not sent because the address unsubscribed from the brand. `held` emails wait until the ' +
      'operator of Rollcall releases them.',
  );

const Mail = z
  .object({
    id: idField('mai', 'Email id.'),
    kind: z.string().describe('Email template.').meta({ example: 'brief_sent' }),
    to: z.string().describe('Email address of the recipient.').meta({ example: 'ana@example.com' }),
    state,
    reason: z.enum(MAIL_REASONS).nullable().describe('Why the email is held or delayed; null otherwise.'),
    detail: z
      .string()
      .nullable()
      .describe('`reason` as a sentence, or the response of the mail server to a failed email; null otherwise.')
      .meta({ example: null }),
    created_at: createdAt,
    sent_at: timestamp.nullable().describe('When the mail server accepted the email; null until then.'),
  })
  .meta({ id: 'Mail' });

const MailFilter = z.object({ state: state.optional().describe('Only emails in this state.'), ...ListQuery });
const MailList = listSchema(Mail).meta({ id: 'MailList' });

const toMail = ({ id, kind, toEmail: to, state, reason, error, createdAt, sentAt }: MailRow) => ({
  id,
  kind,
  to,
  state,
  reason,
  detail: reason === null ? error : REASONS[reason],
  created_at: createdAt.toISOString(),
  sent_at: sentAt?.toISOString() ?? null,
});

const mails = listing({
  noun: 'mail',
  table: 'mails',
  time: 'createdAt',
  changed: ['createdAt', 'sentAt'],
  matching: (db, _brandId, { state }: ListWindow & { state?: MailState | undefined }) =>
    db.selectFrom('mails').where((eb) => eb.and(omitUndefined({ state }))),
  rows: withBrand,
});

const mailOperations = [
  read({
    id: 'list_mails',
    path: '/v1/mails',
    tag: 'Messages',
    summary: 'List emails sent for the brand',
    description: 'Newest first, with their delivery state. Sent and suppressed emails are deleted after 30 days.',
    query: MailFilter,
    response: MailList,
    ...listHandlers(mails, Mail, toMail),
  }),
] as const;

export const mailsNoun = noun({
  name: 'mails',
  ids: { mails: 'mai' },
  operations: mailOperations,
});
