import { errorSummary, type Field, field, postForm, submitButton } from '../../../kit/html/controls.ts';
import { html } from '../../../kit/html/html.ts';
import { type BrandFace, page } from '../../../kit/html/page.ts';
import { dayTag, localTimeTag } from '../../../kit/html/times.ts';
import { compensationLabel } from '../../../kit/values/compensation.ts';
import type { PublicCampaign } from '../../../workflow/applications/applications.ts';
import { isPastDeadline, isWholeDay } from '../../../workflow/campaigns/campaigns.ts';
import { DECOY, type FormValues, type Problems } from './form.ts';

const NOTHING = html``;

const formatDate = (at: Date) => dayTag(at.toISOString().slice(0, 10));

/** A field of the empty form. */
interface ApplyField extends Omit<Field, 'value' | 'problem'> {
  name: keyof FormValues;
}

const HANDLE = html` autocomplete="off" autocapitalize="none" spellcheck="false"`;

const FIELDS: readonly ApplyField[] = [
  { name: 'email', label: 'Email', required: true, more: html` type="email" autocomplete="email" required` },
  { name: 'name', label: 'Name', more: html` autocomplete="name"` },
  {
    name: 'photo_app',
    label: 'Instagram handle',
    hint: 'Such as @yourname, or the address of your profile.',
    more: HANDLE,
  },
  {
    name: 'video_app',
    label: 'TikTok handle',
    hint: 'Such as @yourname, or the address of your profile.',
    more: HANDLE,
  },
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
    hint: 'Up to five, one per line, such as instagram.com/yourname.',
    more: html` autocomplete="off" autocapitalize="none" spellcheck="false" inputmode="url"`,
    rows: 3,
  },
];

export const toFace = ({ brandName: name, brandLogo: logo, brandWebsite: website }: PublicCampaign): BrandFace => ({
  name,
  logo,
  website,
});

export function formPage(campaign: PublicCampaign, values: FormValues, problems: Problems): string {
  const { id, title, brandName, description, deadline, timeZone } = campaign;
  const pay = compensationLabel(campaign);
  const isWrong = Object.keys(problems).length > 0;
  const fields = FIELDS.map((one) => ({ ...one, value: values[one.name], problem: problems[one.name] }));
  return page(
    `${isWrong ? 'Error: ' : ''}Apply to ${title} – ${brandName}`,
    html`${errorSummary(fields)}
<h1>${title}</h1>
${
  pay === null
    ? NOTHING
    : html`<div class="key"><p class="key-name">You get</p>
<p class="amount text">${pay}</p></div>`
}
${deadline === null ? NOTHING : html`<p class="hint">Apply by ${isWholeDay(deadline) ? html`the end of ${formatDate(deadline)} (${timeZone})` : localTimeTag(deadline)}.</p>`}
${description === null ? NOTHING : html`<p class="description">${description}</p>`}
${postForm(
  `/apply/${id}`,
  html`${fields.map(field)}
<div class="decoy" aria-hidden="true"><label for="${DECOY}">Leave this empty</label>
<input id="${DECOY}" name="${DECOY}" tabindex="-1" autocomplete="off"></div>
${submitButton('Send application')}
<p class="hint">What you send goes to ${brandName}.</p>`,
)}`,
    toFace(campaign),
  );
}

/** The same for everyone, so that strangers cannot learn whether an address has applied before. */
export function thanksPage(campaign: PublicCampaign): string {
  const { title, brandName } = campaign;
  return page(
    `Thank you – ${brandName}`,
    html`<p class="kicker">${title}</p>
<h1>Thank you</h1>
<p>Your application has been received. ${brandName} will write to you at the address you gave.</p>
<p class="hint">If this address has already applied to this campaign, its first application stays until you confirm this one. We have emailed a link for that.</p>`,
    toFace(campaign),
  );
}

export function closedPage(campaign: PublicCampaign, now: Date): string {
  const { title, brandName, deadline } = campaign;
  const since = deadline !== null && isPastDeadline(campaign, now) ? deadline : undefined;
  return page(
    `Closed – ${brandName}`,
    html`<h1>${title}</h1>
<p>${since ? html`Applications closed on ${formatDate(since)}.` : 'This campaign is not accepting applications at the moment.'}</p>`,
    toFace(campaign),
  );
}

export const notFoundPage = (): string =>
  page(
    'Not found',
    html`<h1>Not found</h1>
<p>There is no campaign at this address. Please check the link you were given.</p>`,
  );

/** A failure, explained to the applicant. */
export const failurePage = (text: string): string =>
  page(
    'Not sent',
    html`<h1>Not sent</h1>
<p>${text}</p>
<p>Go back with your browser to find what you typed.</p>`,
  );
