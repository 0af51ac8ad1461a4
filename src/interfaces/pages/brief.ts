import { postForm, submitButton } from '../../kit/html/controls.ts';
import { type Html, html } from '../../kit/html/html.ts';
import { type BrandFace, ownPageLink } from '../../kit/html/page.ts';
import { dayTag, timeTag } from '../../kit/html/times.ts';
import { platformName } from '../../kit/values/platforms.ts';
import { findLinkedBrief, type LinkedBrief, viewBrief } from '../../workflow/briefs/briefs.ts';
import { creatorPage, type PageAnswer, type PageVisit } from './declare.ts';
import { sentence } from './parcel.ts';

const NOTHING = html``;

function facts({ campaignTitle, contentType, platform, dueDate }: LinkedBrief): Html {
  const rows = [
    campaignTitle === null ? NOTHING : html`<dt>Campaign</dt><dd>${campaignTitle}</dd>`,
    contentType === null ? NOTHING : html`<dt>What</dt><dd>${sentence(contentType)}</dd>`,
    platform === null ? NOTHING : html`<dt>Where</dt><dd>${platformName(platform)}</dd>`,
    dueDate === null ? NOTHING : html`<dt>Due</dt><dd>${dayTag(dueDate)}</dd>`,
  ];
  return rows.every((row) => row === NOTHING) ? NOTHING : html`<dl>${rows}</dl>`;
}

const renderList = (heading: string, lines: readonly string[]): Html =>
  lines.length === 0
    ? NOTHING
    : html`<h2>${heading}</h2>
<ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>`;

/** Links, not pictures, because the page loads nothing from other hosts. */
const renderBoard = (urls: readonly string[]): Html =>
  urls.length === 0
    ? NOTHING
    : html`<h2>Mood board</h2>
<ul>${urls.map((url) => html`<li><a href="${url}" rel="noreferrer noopener">${url}</a></li>`)}</ul>`;

/** Leads to what follows a brief without a link to it, because the link to a brief may be passed on. */
const renderNext = (brand: BrandFace): Html =>
  html`<p>To ask a question or to hand in your work, go to ${ownPageLink(brand, html`your page with ${brand.name}`)}.</p>`;

function briefText({ row, brand }: PageVisit<LinkedBrief>, seen: Html): PageAnswer {
  const { title, instructions, talkingPoints, doNot, moodBoardUrls } = row;
  return {
    title,
    content: html`<p class="kicker">Brief from ${brand.name}</p>
<h1>${title}</h1>
${facts(row)}
${instructions === null ? NOTHING : html`<p class="description">${instructions}</p>`}
${renderList('Talking points', talkingPoints)}
${renderList('Please avoid', doNot)}
${renderBoard(moodBoardUrls)}
${seen}
${renderNext(brand)}`,
  };
}

/** A brief as its creator sees it. The creator's first view puts it in progress; a mail scanner's does not. */
export const briefPage = creatorPage<LinkedBrief>({
  kind: 'brief',
  find: async ({ postgres }, { rowId, holderId }) =>
    holderId === undefined ? undefined : await findLinkedBrief(postgres.db, rowId, holderId),
  show: async (visit) => {
    const { row, action, isPerson, inWork } = visit;
    if (row.viewedAt !== null) return briefText(visit, html`<p class="hint">First read ${timeTag(row.viewedAt)}.</p>`);
    if (!isPerson) return briefText(visit, postForm(action, submitButton('I have read it')));
    await inWork((work) => viewBrief(work, row.id, row.readerId));
    return briefText(visit, NOTHING);
  },
  submit: async ({ row, action, inWork }) => {
    await inWork((work) => viewBrief(work, row.id, row.readerId));
    return { seeOther: action };
  },
});
