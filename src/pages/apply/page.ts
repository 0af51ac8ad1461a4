import type { PublicCampaign } from '../../resources/applications/queries.ts';
import { compensationLabel } from '../../values/compensation.ts';
import { type Html, html } from '../kit/html.ts';
import { page } from '../kit/page.ts';
import { DECOY, type FormValues, type Problems } from './form.ts';

const NOTHING = html``;

interface Field {
  name: keyof FormValues;
  label: string;
  hint?: string;
  required?: boolean;
  /** Attributes of its own; with `rows` it is a text area. */
  more: Html;
  rows?: number;
}

const HANDLE = html` autocomplete="off" autocapitalize="none" spellcheck="false"`;

const FIELDS: readonly Field[] = [
  { name: 'email', label: 'E-mail', required: true, more: html` type="email" autocomplete="email" required` },
  { name: 'name', label: 'Name', more: html` autocomplete="name"` },
  { name: 'photo_app', label: 'Photo app handle', hint: 'Such as @yourname.', more: HANDLE },
  { name: 'video_app', label: 'Video app handle', hint: 'Such as @yourname.', more: HANDLE },
  {
    name: 'message',
    label: 'Message',
    hint: 'Why you are a good fit, in up to 5,000 characters.',
    more: html` autocomplete="off"`,
    rows: 6,
  },
  {
    name: 'portfolio_urls',
    label: 'Links to your work',
    hint: 'Up to five, one a line. Each begins with https://.',
    more: html` autocomplete="off" autocapitalize="none" spellcheck="false" inputmode="url"`,
    rows: 3,
  },
];

function fieldOf({ name, label, hint, required, more, rows }: Field, value: string, problem: string | undefined): Html {
  const describedBy = [...(hint ? [`${name}-hint`] : []), ...(problem ? [`${name}-problem`] : [])].join(' ');
  const attributes = [
    html` id="${name}" name="${name}"`,
    more,
    describedBy ? html` aria-describedby="${describedBy}"` : NOTHING,
    problem ? html` aria-invalid="true"` : NOTHING,
  ];
  // A browser drops the first line break of a text area.
  const control = rows
    ? html`<textarea rows="${rows}"${attributes}>
${value}</textarea>`
    : html`<input value="${value}"${attributes}>`;
  return html`<div class="field">
<label for="${name}">${label}${required ? NOTHING : html` <span class="optional">(optional)</span>`}</label>
${hint ? html`<p class="hint" id="${name}-hint">${hint}</p>` : NOTHING}
${problem ? html`<p class="problem" id="${name}-problem">${problem}</p>` : NOTHING}
${control}
</div>
`;
}

function summaryOf(problems: Problems): Html {
  const lines = FIELDS.flatMap(({ name, label }) => {
    const problem = problems[name];
    return problem ? [html`<li><a href="#${name}">${label}: ${problem}</a></li>`] : [];
  });
  if (lines.length === 0) return NOTHING;
  return html`<div class="summary" role="alert" tabindex="-1" autofocus>
<h2>Not sent yet: please check</h2>
<ul>${lines}</ul>
</div>`;
}

export function formPage(campaign: PublicCampaign, values: FormValues, problems: Problems): string {
  const { id, title, brandName, description } = campaign;
  const pay = compensationLabel(campaign);
  const isWrong = Object.keys(problems).length > 0;
  return page(
    `${isWrong ? 'Error: ' : ''}Apply to ${title} – ${brandName}`,
    html`${summaryOf(problems)}
<p class="brand">${brandName}</p>
<h1>${title}</h1>
${pay === null ? NOTHING : html`<p class="pay">${pay}</p>`}
${description === null ? NOTHING : html`<p class="description">${description}</p>`}
<form method="post" action="/apply/${id}" accept-charset="utf-8">
${FIELDS.map((field) => fieldOf(field, values[field.name], problems[field.name]))}
<div class="decoy" aria-hidden="true"><label for="${DECOY}">Leave this empty</label>
<input id="${DECOY}" name="${DECOY}" tabindex="-1" autocomplete="off"></div>
<button>Send application</button>
<p class="hint">What you send goes to ${brandName}.</p>
</form>`,
  );
}

/** The same for everybody: whether an address has applied before is not told to strangers. */
export function thanksPage({ title, brandName }: PublicCampaign): string {
  return page(
    `Thank you – ${brandName}`,
    html`<p class="brand">${brandName}: ${title}</p>
<h1>Thank you</h1>
<p>Your application has been received.</p>
<p class="hint">If this address had applied to this campaign before, its first application stands.</p>`,
  );
}

export function closedPage({ title, brandName }: PublicCampaign): string {
  return page(
    `Closed – ${brandName}`,
    html`<p class="brand">${brandName}</p>
<h1>${title}</h1>
<p>This campaign takes no applications at the moment.</p>`,
  );
}

export const notFoundPage = (): string =>
  page(
    'Not found',
    html`<h1>Not found</h1>
<p>There is no campaign at this address. Please check the link that you were given.</p>`,
  );

/** A failure, in words for whoever filled in the form. */
export const failurePage = (text: string): string =>
  page(
    'Not sent',
    html`<h1>Not sent</h1>
<p>${text}</p>
<p>Go back with your browser to find what you typed.</p>`,
  );
