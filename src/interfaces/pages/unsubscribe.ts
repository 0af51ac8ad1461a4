import { postForm, submitButton } from '../../kit/html/controls.ts';
import { html } from '../../kit/html/html.ts';
import { findMail, insertSuppression, isSuppressed } from '../../kit/mail/mails.ts';
import { creatorPage } from './declare.ts';

const donePage = (brandName: string) => ({
  title: 'No more emails',
  content: html`<h1>No more emails</h1>
<p>You will get no more emails from ${brandName}. Links in their earlier emails still work.</p>`,
});

/**
 * The target of a mail's `List-Unsubscribe`. Opening the page changes nothing, because mail scanners open every link; the
 * button, or a mail program's own (RFC 8058), is a POST.
 */
export const unsubscribePage = creatorPage({
  kind: 'unsubscribe',
  find: async ({ postgres }, { rowId }) => {
    const mail = await findMail(postgres.db, rowId);
    return mail && { ...mail, linkVersion: 0 };
  },
  show: async ({ context, row, brand, action }) => {
    if (await isSuppressed(context.postgres.db, row.brandId, row.toEmail)) return donePage(brand.name);
    return {
      title: 'No more emails?',
      content: html`<h1>No more emails from ${brand.name}?</h1>
<p>${brand.name} will no longer be able to email ${row.toEmail} through Rollcall: no briefs, contracts or messages.</p>
${postForm(action, submitButton('Stop these emails'))}`,
    };
  },
  submit: async ({ row, brand, inWork }) => {
    await inWork(async ({ db, brandId, now, audit }) => {
      if (!(await insertSuppression(db, brandId, row.toEmail, now))) return;
      audit({ resourceId: row.creatorId ?? row.id, old: null, new: { email: row.toEmail, mail: 'suppressed' } });
    });
    return donePage(brand.name);
  },
});
