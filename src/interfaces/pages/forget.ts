import { errorSummary, field, postForm, submitButton } from '../../kit/html/controls.ts';
import { html } from '../../kit/html/html.ts';
import { page } from '../../kit/html/page.ts';

/** The form that asks for an address. */
export function askPage(email: string, problem: string | undefined): string {
  const address = {
    name: 'email',
    label: 'Email',
    value: email,
    problem,
    required: true,
    hint: 'The address on your public profile.',
    more: html` type="email" autocomplete="email" required`,
  };
  return page(
    `${problem ? 'Error: ' : ''}Leave the creator directory`,
    html`${errorSummary([address])}
<h1>Leave the creator directory</h1>
<p>Brands search a directory of public creator profiles here. To leave it, enter your email address. We send a link there, so that nobody else can remove you.</p>
${postForm('/forget', html`${field(address)}${submitButton('Send me the link')}`)}`,
  );
}

/** The same for every address, so that strangers cannot learn who is in the directory. */
export const sentPage = (): string =>
  page(
    'Check your email',
    html`<h1>Check your email</h1>
<p>We have emailed a link to this address. It works for three days.</p>
<p class="hint">No email yet? Wait a few minutes, look in your spam folder, and check the address for typing errors.</p>`,
  );

export const confirmPage = (action: string): string =>
  page(
    'Leave the creator directory',
    html`<h1>Leave the creator directory</h1>
<p>This removes every profile that shows your address from the directory, including its earlier versions. Later updates will not add you again.</p>
<p>Data that a brand has stored about you belongs to the brand; please ask the brand to delete it.</p>
${postForm(action, submitButton('Remove me'))}
<p class="hint">If you did not ask for this, close this page. Nothing changes.</p>`,
  );

/** The same whether a profile showed the address or not. */
export const donePage = (): string =>
  page(
    'You are out',
    html`<h1>You are out</h1>
<p>The directory no longer has a profile with your address, and none will come back.</p>`,
  );

export const missingPage = (): string =>
  page(
    'Link not found',
    html`<h1>This link has expired</h1>
<p>It works for three days. You can <a href="/forget">request another one</a>.</p>`,
  );
