import type { Db } from '../engines/postgres/open.ts';
import { newId } from '../values/ids.ts';
import { findTemplate, isStoppable, type MailKind, type MailParams } from './kinds.ts';
import './mail-test.ts';
import { insertMail } from './queries.ts';

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
export type Queued = 'queued' | 'suppressed' | 'already_sent';

/** Queues a mail in the change's transaction: it is sent after the commit, or not at all. */
export async function queueMail<K extends MailKind>(
  { db, brandId, now }: { db: Db; brandId: string; now: Date },
  { kind, to, subjectRow, creatorId = null, params }: NewMail<K>,
): Promise<Queued> {
  const template = findTemplate(kind);
  if (!template) throw new Error(`There is no template for mails of the kind ${kind}.`);
  const state = await insertMail(db, {
    ...{ id: newId('mai', now.getTime()), brandId, kind, toEmail: to, creatorId, subjectRow, createdAt: now },
    params: JSON.stringify(template.params.parse(params)),
    mayBeSuppressed: isStoppable(template),
  });
  return state ?? 'already_sent';
}
