import { postForm, submitButton } from '../../kit/html/controls.ts';
import { html } from '../../kit/html/html.ts';
import { type ConfirmationResult, confirmChange, findChange } from '../../workflow/applications/applications.ts';
import { creatorPage } from './declare.ts';

function answered(confirmation: ConfirmationResult, title: string) {
  if (confirmation === 'changed') {
    return {
      title: 'Application changed',
      content: html`<h1>Application changed</h1>
<p>Your application to ${title} now says what you confirmed.</p>`,
    };
  }
  return {
    title: 'Already decided',
    content: html`<h1>Already decided</h1>
<p>Your application to ${title} has been decided and can no longer be changed.</p>`,
  };
}

/**
 * Lets the owner of an email address confirm a second application from that address. Opening the page changes
 * nothing, because mail scanners open every link; the button replaces the first application.
 */
export const confirmPage = creatorPage({
  kind: 'confirm',
  find: async ({ postgres }, { rowId }) => {
    const change = await findChange(postgres.db, rowId);
    return change && { ...change, linkVersion: 0 };
  },
  show: ({ row, brand, action }) => {
    if (row.confirmedAt !== null) return answered('changed', row.title);
    if (row.status !== 'pending') return answered('decided', row.title);
    const said: readonly (readonly [string, string | null])[] = [
      ['Email', row.creatorEmail],
      ['Name', row.creatorName],
      ['Instagram handle', row.creatorPhotoApp],
      ['TikTok handle', row.creatorVideoApp],
      ['Message', row.message],
      ['Links', row.portfolioUrls.join('\n') || null],
    ];
    return {
      title: 'Confirm your application',
      content: html`<h1>Confirm your application to ${row.title}</h1>
<p>${brand.name} will then see this instead of your first application:</p>
<dl>
${said.map(([name, value]) => html`<dt>${name}</dt><dd class="description">${value ?? '–'}</dd>\n`)}</dl>
${postForm(action, submitButton('Replace my application'))}
<p class="hint">If you did not send this, close this page. Nothing changes.</p>`,
    };
  },
  submit: async ({ row, inWork }) => answered(await inWork((work) => confirmChange(work, row)), row.title),
});
