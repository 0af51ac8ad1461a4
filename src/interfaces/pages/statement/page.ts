import { listStatementLines } from '../../../affiliates/payouts/payout-statement.ts';
import { findPayoutPage } from '../../../affiliates/payouts/payouts.ts';
import { Question } from '../../../affiliates/statements/disputes.api.ts';
import { listQuestions, openDispute } from '../../../affiliates/statements/disputes.ts';
import { getZone, toStatementContent } from '../../../affiliates/statements/statements.shapes.ts';
import { findStatementPage, sumStatement } from '../../../affiliates/statements/statements.ts';
import { errorSummary, field, postForm, submitButton } from '../../../kit/html/controls.ts';
import { type Html, html } from '../../../kit/html/html.ts';
import { printButton } from '../../../kit/html/page.ts';
import { periodText } from '../../../kit/html/times.ts';
import type { Context } from '../../../kit/operation/context.ts';
import { getTimeZone } from '../../../kit/operation/local-days.ts';
import { formatMoney } from '../../../kit/values/format.ts';
import { creatorPage, type PageAnswer, type PageVisit } from '../declare.ts';
import { linesOfPayout, linesOfStatement, renderLines, renderProof, renderTotals, type ShownLine } from './lines.ts';

type Shown = Awaited<ReturnType<typeof ofStatement>> | Awaited<ReturnType<typeof ofPayout>>;

const NOTHING = html``;

/** A creator's statement of a period. */
async function ofStatement({ postgres: { db } }: Context, id: string) {
  const row = await findStatementPage(db, id);
  if (!row) return undefined;
  const sums = await sumStatement(db, row);
  const content = toStatementContent(sums);
  const holds = new Map(sums.map(({ commissionId, holdEndsAt }) => [commissionId ?? '', holdEndsAt]));
  const period = { from: row.fromText, to: row.toText, until: row.untilAt, timeZone: getZone(row) };
  return {
    brandId: row.brandId,
    linkVersion: row.linkVersion,
    creatorId: row.creatorId,
    creatorName: row.creatorName,
    on: { statementId: row.id },
    title: `Statement, ${periodText(row.fromText, row.toText)}`,
    lines: linesOfStatement(content.lines, holds, period),
    totals: renderTotals(content, period),
    days: `Days are in ${period.timeZone}.`,
    after: renderProof(row),
    questions: await listQuestions(db, row.brandId, { statementId: row.id }),
  };
}

/** The lines of one payout. */
async function ofPayout({ postgres: { db } }: Context, id: string) {
  const payout = await findPayoutPage(db, id);
  if (!payout) return undefined;
  const { brandId, creatorId } = payout;
  const timeZone = await getTimeZone(db, brandId);
  return {
    brandId,
    linkVersion: 0,
    creatorId,
    creatorName: payout.creatorName,
    on: { payoutId: id },
    title: `Payout of ${formatMoney(payout.amountMinor, payout.currency)}`,
    lines: linesOfPayout(payout, await listStatementLines(db, brandId, id), timeZone),
    totals: NOTHING,
    days: `Days are in ${timeZone}.`,
    after: NOTHING,
    questions: await listQuestions(db, brandId, { payoutId: id }),
  };
}

/** Sums have no id either. */
const findName = (lines: readonly ShownLine[], id: string | null) =>
  lines.find((line) => line.id !== null && line.id === id)?.name ?? 'the whole statement';

function renderQuestions({ questions, lines }: NonNullable<Shown>, brandName: string): Html {
  if (questions.length === 0) return NOTHING;
  const each = questions.map(
    ({ lineId, message, answer, status }) => html`<h3>About ${findName(lines, lineId)}</h3>
<blockquote>${message}</blockquote>
${answer === null ? html`<p class="hint">${status === 'closed' ? 'Closed without an answer.' : 'Not answered yet.'}</p>` : html`<p>${brandName} answered:</p><blockquote>${answer}</blockquote>`}
`,
  );
  return html`<h2>Your questions</h2>
${each}`;
}

const notices: Readonly<Record<string, string>> = {
  sent: 'Your question has been sent. You will get an email when it is answered.',
  known: 'You have already asked about this line; it has not been answered yet.',
};

function askForm({ row, action }: PageVisit<NonNullable<Shown>>, lineId: string | null, problem?: string): PageAnswer {
  const name = findName(row.lines, lineId);
  const question = { name: 'message', label: 'Your question', value: '', rows: 6, required: true, problem };
  const content = html`<h1>Ask about ${name}</h1>
${errorSummary(problem ? [question] : [])}
${postForm(
  action,
  html`<input type="hidden" name="line" value="${lineId ?? ''}">
${field(question)}${submitButton('Ask')}`,
)}
<p><a href="${action}">Back to the statement</a></p>`;
  return { status: problem === undefined ? 200 : 422, title: `Ask about ${name}`, content };
}

/** The line in question; null for the whole statement. */
const findLine = ({ lines }: NonNullable<Shown>, id: string | undefined) =>
  lines.some((line) => line.id !== null && line.id === id) ? (id ?? null) : null;

function show(visit: PageVisit<NonNullable<Shown>>): PageAnswer {
  const { row, action, brand, query } = visit;
  const { ask } = query;
  if (ask !== undefined) return askForm(visit, findLine(row, ask));
  const notice = notices[query.done ?? ''];
  const isMasked = row.lines.some(({ details }) => details.includes('***@'));
  return {
    title: row.title,
    content: html`<h1>${row.title}</h1>
${notice === undefined ? NOTHING : html`<p class="notice" role="status">${notice}</p>`}
<p>From ${brand.name}${row.creatorName === null ? '' : ` for ${row.creatorName}`}. ${isMasked ? 'Customers’ addresses are masked.' : ''} ${row.days}</p>
<p>${printButton('Print or save as PDF')}</p>
${row.totals}
${renderLines(row.lines, action)}
<p class="ask"><a href="${action}?ask=all">Ask about the whole statement</a></p>
${renderQuestions(row, brand.name)}
${row.after}`,
  };
}

/** A creator's statement, or the statement of one payout: to read, to print, and to ask about. */
export const statementPage = creatorPage<NonNullable<Shown>>({
  kind: 'statement',
  find: async (context, { rowId }) =>
    rowId.startsWith('pay_') ? await ofPayout(context, rowId) : await ofStatement(context, rowId),
  show,
  submit: async (visit) => {
    const { row, form, inWork, action } = visit;
    const { creatorId, on } = row;
    const lineId = findLine(row, form().text('line'));
    const message = Question.safeParse(form().text('message'));
    if (!message.success) return askForm(visit, lineId, 'must be between 1 and 2,000 characters');
    const place = { statementId: null, payoutId: null, ...on };
    const isNew = await inWork((work) => openDispute(work, { creatorId, ...place, lineId, message: message.data }));
    return { seeOther: `${action}?done=${isNew ? 'sent' : 'known'}` };
  },
});
