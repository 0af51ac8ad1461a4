import { errorSummary, field, fileField, postForm, submitButton } from '../../../kit/html/controls.ts';
import { type Html, html } from '../../../kit/html/html.ts';
import { ownPageLink } from '../../../kit/html/page.ts';
import { dayTag, timeTag } from '../../../kit/html/times.ts';
import { platformName } from '../../../kit/values/platforms.ts';
import type { DeliverableFacts, SubmissionRow } from '../../../workflow/deliverables/deliverables.ts';
import { listMoves } from '../../../workflow/deliverables/moves.ts';
import { renderBadge } from '../badge.ts';
import type { Refusal, Submission } from './form.ts';
import { MAX_FILES } from './receive.ts';

const NOTHING = html``;

export const STATUS: Readonly<Record<DeliverableFacts['status'], string>> = {
  pending: 'Not started',
  in_progress: 'Your turn',
  submitted: 'Awaiting review',
  approved: 'Approved',
  revision_requested: 'Your turn: a new version',
  declined: 'Declined by you',
  cancelled: 'No longer needed',
};

export const renderStatus = ({ status }: Pick<DeliverableFacts, 'status'>): Html =>
  renderBadge(STATUS[status], status === 'approved', listMoves('creator', status).includes('submitted'));

/** "Reel, Instagram" */
export function describeDeliverable({ type, platform }: DeliverableFacts): string {
  const name = `${type.slice(0, 1).toUpperCase()}${type.slice(1)}`;
  return platform === null ? name : `${name}, ${platformName(platform)}`;
}

/** The address of one deliverable of the page. */
export const pathTo = (action: string, id: string): string => `${action}?deliverable=${id}`;

/** A button for what the creator may hand in. */
const renderHandIn = (path: string, row: DeliverableFacts): Html =>
  listMoves('creator', row.status).includes('submitted')
    ? html`<a class="button slim" href="${path}" aria-label="Hand in: ${describeDeliverable(row)}">Hand in</a>`
    : NOTHING;

const renderKicker = (brandName: string): Html => html`<p class="kicker">Work for ${brandName}</p>`;

/** Leads to the conversation, the contract and the brief without a link to them, because the link to the work may be passed on. */
const renderNext = (name: string): Html =>
  html`<p>To ask a question, or to see your contract and briefs, go to ${ownPageLink({ name }, html`your page with ${name}`)}.</p>`;

const isHandedIn = ({ status }: DeliverableFacts): boolean => status === 'submitted' || status === 'approved';
const isOwed = ({ status }: DeliverableFacts): boolean => status !== 'declined' && status !== 'cancelled';

/** Shows how much of the work is handed in; nothing for a single piece, whose status says it. */
function renderProgress(rows: readonly DeliverableFacts[]): Html {
  const owed = rows.filter(isOwed);
  const done = owed.filter(isHandedIn).length;
  if (owed.length < 2) return NOTHING;
  const text = `${done} of ${owed.length} handed in`;
  return html`<p class="progress"><progress max="${owed.length}" value="${done}" aria-label="${text}"></progress> ${text}</p>`;
}

/** All deliverables of a contract, each with a link to its part of the page. */
export function listView(title: string, brandName: string, action: string, rows: readonly DeliverableFacts[]): Html {
  return html`${renderKicker(brandName)}
<h1>${title}</h1>
${renderProgress(rows)}
<ul class="plain">
${rows.map((row, i) => {
  const { id, dueDate } = row;
  const due = dueDate === null ? NOTHING : html` <span class="hint due">Due ${dayTag(dueDate)}</span>`;
  return html`<li class="line"><div><a href="${pathTo(action, id)}">${i + 1}. ${describeDeliverable(row)}</a><br>${renderStatus(row)}${due}</div>${renderHandIn(pathTo(action, id), row)}</li>
`;
})}</ul>
${renderNext(brandName)}`;
}

/** A file of the library by its id, with a signed address. */
export type Files = ReadonlyMap<string, { name: string; url: string }>;

function fileLinks(assetIds: readonly string[], files: Files): Html {
  const links = assetIds.map((id) => {
    const file = files.get(id);
    return file ? html`<dd><a href="${file.url}">${file.name}</a></dd>` : html`<dd>No longer kept</dd>`;
  });
  return links.length === 0 ? NOTHING : html`<dt>Files</dt>${links}`;
}

/** Earlier versions, newest first. */
function renderVersions(submissions: readonly SubmissionRow[], files: Files): Html {
  if (submissions.length === 0) return NOTHING;
  return html`<h2>What you handed in</h2>
${submissions.map(
  ({ n, at, isLate, contentUrl, caption, assetIds, feedback }) => html`<h3>Version ${n}</h3>
<dl><dt>When</dt><dd>${timeTag(at)}${isLate ? ', after the due date' : NOTHING}</dd>
${contentUrl === null ? NOTHING : html`<dt>Link</dt><dd><a href="${contentUrl}" rel="noreferrer noopener">${contentUrl}</a></dd>`}
${fileLinks(assetIds, files)}
${caption === null ? NOTHING : html`<dt>Your note</dt><dd class="description">${caption}</dd>`}
${feedback === null ? NOTHING : html`<dt>Their feedback</dt><dd class="description">${feedback}</dd>`}
</dl>
`,
)}`;
}

/** The status, with the brand's feedback. */
function renderReview(brandName: string, { status, feedback, declinedReason, submittedAt }: DeliverableFacts): Html {
  const said = feedback === null ? NOTHING : html`<blockquote>${feedback}</blockquote>`;
  if (status === 'revision_requested') {
    const without = feedback === null ? ' They left no comment.' : '';
    return html`<div class="notice"><p>${brandName} requested a new version.${without}</p>${said}</div>`;
  }
  if (status === 'approved') return html`<div class="notice"><p>This is approved. Thank you!</p>${said}</div>`;
  if (status === 'declined' && declinedReason !== null) {
    return html`<div class="notice"><p>You declined this, and wrote:</p><blockquote>${declinedReason}</blockquote></div>`;
  }
  if (status === 'cancelled') return html`<div class="notice"><p>This is no longer needed.</p>${said}</div>`;
  if (status === 'submitted')
    return html`<p class="notice" role="status">Handed in${submittedAt === null ? NOTHING : html` ${timeTag(submittedAt)}`}. ${brandName} reviews it and writes to you.</p>`;
  return NOTHING;
}

function submitForm({ action, row: { id }, submission, maxFileBytes }: ItemView): Html {
  const { contentUrl, note, problems } = submission;
  const link = {
    name: 'content_url',
    label: 'Link',
    value: contentUrl,
    problem: problems.content_url,
    hint: 'Where it can be viewed, such as the address of your post.',
    more: html` inputmode="url" autocomplete="off" autocapitalize="none" spellcheck="false"`,
  };
  const files = {
    name: 'files',
    label: 'Files',
    problem: problems.files,
    multiple: true,
    hint: `Up to ${MAX_FILES}, each up to ${maxFileBytes / 1024 / 1024} MB.`,
  };
  const words = { name: 'note', label: 'Note', value: note, problem: problems.note, rows: 3 };
  return html`<h2>Hand it in</h2>
${postForm(
  action,
  html`<input type="hidden" name="deliverable" value="${id}">
<p class="hint">A link, files, or both.</p>
${field(link)}${fileField(files)}${field(words)}${submitButton('Hand in', { name: 'do', value: 'submit' })}`,
  { multipart: true },
)}`;
}

function declineForm(action: string, { id }: DeliverableFacts, { reason, problems }: Refusal): Html {
  const isOpen = problems.reason !== undefined ? html` open` : NOTHING;
  return html`<details${isOpen}><summary>I cannot do this</summary>
${postForm(
  action,
  html`<input type="hidden" name="deliverable" value="${id}">
${field({ name: 'reason', label: 'Why', value: reason, problem: problems.reason, required: true, rows: 3 })}
${submitButton('Decline', { name: 'do', value: 'decline', quiet: true })}`,
  { multipart: true },
)}
</details>`;
}

export interface ItemView {
  action: string;
  brandName: string;
  row: DeliverableFacts;
  submissions: readonly SubmissionRow[];
  files: Files;
  submission: Submission;
  refusal: Refusal;
  /** True if the link opens other deliverables. */
  hasOthers: boolean;
  maxFileBytes: number;
}

/** One deliverable: its instructions, its versions, and the forms that its status allows. */
export function itemView(view: ItemView): Html {
  const { action, brandName, row, submissions, files, submission, refusal, hasOthers } = view;
  const allowedMoves = listMoves('creator', row.status);
  const others = hasOthers ? html` · <a href="${action}">All deliverables</a>` : NOTHING;
  return html`${errorSummary([
    { name: 'content_url', label: 'Link', problem: submission.problems.content_url },
    { name: 'files', label: 'Files', problem: submission.problems.files },
    { name: 'note', label: 'Note', problem: submission.problems.note },
    { name: 'reason', label: 'Why', problem: refusal.problems.reason },
  ])}
${renderKicker(brandName)}
<h1>${describeDeliverable(row)}</h1>
<dl>${row.contractTitle === null ? NOTHING : html`<dt>Contract</dt><dd>${row.contractTitle}${others}</dd>`}
<dt>Due</dt><dd>${row.dueDate === null ? 'No date' : dayTag(row.dueDate)}</dd>
<dt>Status</dt><dd>${renderStatus(row)}</dd></dl>
${renderReview(brandName, row)}
${
  row.instructions === null
    ? NOTHING
    : html`<h2>What ${brandName} asks for</h2>
<p class="description">${row.instructions}</p>`
}
${allowedMoves.includes('submitted') ? submitForm(view) : NOTHING}
${renderVersions(submissions, files)}
${allowedMoves.includes('declined') ? declineForm(action, row, refusal) : NOTHING}
${renderNext(brandName)}`;
}
