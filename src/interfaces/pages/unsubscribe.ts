import { postForm, submitButton } from '../../kit/html/controls.ts';
import { html } from '../../kit/html/html.ts';
import { findMail, findStop, insertSuppression, isStopped, isSuppressed } from '../../kit/mail/mails.ts';
import type { Context } from '../../kit/operation/context.ts';
import { creatorPage, type LinkedRow } from './declare.ts';

const donePage = (brandName: string) => ({
  title: 'No more emails',
  content: html`<h1>No more emails</h1>
<p>You will get no more emails from ${brandName}. Links in their earlier emails still work.</p>`,
});

interface Stopping extends LinkedRow {
  /** The resource that the change is about. */
  resourceId: string;
  /** An address, or the hash that is left of it where the mail has been deleted. */
  address: string;
  isDeleted: boolean;
}

async function findStopping({ postgres: { db } }: Context, mailId: string): Promise<Stopping | undefined> {
  const mail = await findMail(db, mailId);
  if (mail) {
    const { brandId, toEmail: address, creatorId, id } = mail;
    return { brandId, linkVersion: 0, resourceId: creatorId ?? id, address, isDeleted: false };
  }
  const stop = await findStop(db, mailId);
  return stop && { ...stop, linkVersion: 0, resourceId: stop.id, isDeleted: true };
}

/**
 * The target of a mail's `List-Unsubscribe`. Opening the page changes nothing, because mail scanners open every link; the
 * button, or a mail program's own (RFC 8058), is a POST.
 */
export const unsubscribePage = creatorPage({
  kind: 'unsubscribe',
  find: async (context, { rowId }) => await findStopping(context, rowId),
  show: async ({ context, row: { brandId, address, isDeleted }, brand, action }) => {
    const { db } = context.postgres;
    if (await (isDeleted ? isStopped : isSuppressed)(db, brandId, address)) return donePage(brand.name);
    return {
      title: 'No more emails?',
      content: html`<h1>No more emails from ${brand.name}?</h1>
<p>${brand.name} will no longer be able to email ${isDeleted ? 'you' : address} through Rollcall: no briefs, contracts or messages.</p>
${postForm(action, submitButton('Stop these emails'))}`,
    };
  },
  submit: async ({ row: { address, isDeleted, resourceId }, brand, inWork }) => {
    await inWork(async ({ db, brandId, now, audit }) => {
      if (isDeleted && (await isStopped(db, brandId, address))) return;
      if (!(await insertSuppression(db, brandId, address, now))) return;
      audit({ resourceId, old: null, new: { email: isDeleted ? null : address, mail: 'suppressed' } });
    });
    return donePage(brand.name);
  },
});
