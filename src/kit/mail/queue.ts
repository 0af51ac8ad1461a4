import type { Db } from '../engines/postgres/open.ts';
import { newId } from '../values/ids.ts';
import { findTemplate, isStoppable, type MailKind, type MailParams } from './kinds.ts';
import './mail-test.ts';
import { insertMails } from './mails.ts';

export interface NewMail<K extends MailKind> {
  kind: K;
  to: string;
  /**
   * The id that the mail is about, with a suffix if the same mail may be sent again, such as `ctr_…:2`. Each kind is
   * sent to an address once per subject.
   */
  subjectRow: string;
  creatorId?: string | null;
  params: MailParams<K>;
}

/** `suppressed`: the recipient has unsubscribed. `already_sent`: the same mail was queued before. */
export type QueueOutcome = 'queued' | 'suppressed' | 'already_sent';

interface QueueWrite {
  db: Db;
  brandId: string;
  now: Date;
}

/** Queues mails in the change's transaction: they are sent after the commit, or not at all. Returns the outcome of each. */
export async function queueMails<K extends MailKind>(
  { db, brandId, now }: QueueWrite,
  mails: readonly NewMail<K>[],
): Promise<QueueOutcome[]> {
  const rows = mails.map(({ kind, to, subjectRow, creatorId = null, params }) => {
    const template = findTemplate(kind);
    if (!template) throw new Error(`There is no template for mails of the kind ${kind}.`);
    return {
      id: newId('mai', now.getTime()),
      kind,
      toEmail: to,
      creatorId,
      subjectRow,
      params: JSON.stringify(template.params.parse(params)),
      mayBeSuppressed: isStoppable(template),
      isNews: template.isNews,
    };
  });
  const queuedMails = await insertMails(db, { brandId, createdAt: now }, rows);
  const states = new Map(queuedMails.map(({ id, state }) => [id, state]));
  return rows.map(({ id }) => states.get(id) ?? 'already_sent');
}

export async function queueMail<K extends MailKind>(change: QueueWrite, mail: NewMail<K>): Promise<QueueOutcome> {
  const [mailState = 'already_sent'] = await queueMails(change, [mail]);
  return mailState;
}
