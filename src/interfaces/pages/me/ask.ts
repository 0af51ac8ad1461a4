import { errorSummary, field, postForm, submitButton } from '../../../kit/html/controls.ts';
import { type Html, html } from '../../../kit/html/html.ts';
import { page } from '../../../kit/html/page.ts';

function form(lead: Html, email: string, problem: string | undefined): Html {
  const address = {
    name: 'email',
    label: 'Email',
    value: email,
    problem,
    required: true,
    hint: 'The address that the brand writes to.',
    more: html` type="email" autocomplete="email" required`,
  };
  return html`${errorSummary([address])}
${lead}
${postForm('/me', html`${field(address)}${submitButton('Email me the link')}`)}`;
}

/** The form of a creator who lost their link. */
export const askPage = (email: string, problem: string | undefined): string =>
  page(
    `${problem ? 'Error: ' : ''}Your page`,
    form(
      html`<h1>Your page</h1>
<p>Each brand that you work with has a page for you, with your links, earnings and work. We email you the link.</p>`,
      email,
      problem,
    ),
  );

/** The same for unknown, revoked and expired links, so that callers cannot tell them apart. */
export const ENDED = page(
  'This link has ended',
  form(
    html`<h1>This link has ended</h1>
<p>We can email you a new one.</p>`,
    '',
    undefined,
  ),
);
