import { html } from '../../kit/html/html.ts';
import { page } from '../../kit/html/page.ts';

export const unknownLinkPage = (): string =>
  page(
    'Link not found',
    html`<h1>This link leads nowhere</h1>
<p>It may have ended, or a character of it got lost on the way. Please check the link that you were given.</p>`,
  );

export const laterPage = (): string =>
  page(
    'Not now',
    html`<h1>We cannot open this link right now</h1>
<p>Please try again in a minute.</p>`,
  );
