import { errorSummary, field, postForm, submitButton } from '../../kit/html/controls.ts';
import { type Html, html } from '../../kit/html/html.ts';
import { shortLocalTimeTag } from '../../kit/html/times.ts';
import { formatNumber } from '../../kit/values/format.ts';
import { describeContacts, findMessageContacts, REPLIES_PER_HOUR } from '../../workflow/messages/contact-guard.ts';
import { MAX_BODY } from '../../workflow/messages/messages.shapes.ts';
import {
  findConversationPage,
  listMessages,
  type MessageRow,
  receiveReply,
  seeConversation,
} from '../../workflow/messages/messages.ts';
import { creatorPage, type PageAnswer, type PageVisit } from './declare.ts';

type Talk = NonNullable<Awaited<ReturnType<typeof findConversationPage>>>;

const NOTHING = html``;
/** The page shows only the newest messages. */
const SHOWN = 100;

const messageHtml = (
  brandName: string,
  { sender, subject, body, sentAt }: MessageRow,
  now: Date,
): Html => html`<article class="${sender === 'brand' ? 'said' : 'said own'}">
<h2 class="by">${sender === 'brand' ? brandName : 'You'} ${shortLocalTimeTag(sentAt, now)}</h2>
${subject === null ? NOTHING : html`<p><strong>${subject}</strong></p>`}
<p class="description">${body}</p>
</article>
`;

interface FilledReply {
  value: string;
  problem?: string;
}

async function content(
  { context, row, brand, action, query, now }: PageVisit<Talk>,
  { value, problem }: FilledReply,
): Promise<Html> {
  const rows = await listMessages(context.postgres.db, row, { limit: SHOWN + 1 });
  const control = {
    name: 'body',
    label: 'Your reply',
    value,
    rows: 6,
    required: true,
    hint: 'Please leave out email addresses and phone numbers, so that what you agree on stays here, where you can both find it.',
    more: html` maxlength="${MAX_BODY}" autocomplete="off"`,
    ...(problem === undefined ? {} : { problem }),
  };
  return html`${errorSummary([control])}
${query.sent === undefined || problem !== undefined ? NOTHING : html`<p class="notice" role="status">Your message was sent.</p>`}
<h1>Your conversation with ${brand.name}</h1>
${rows.length > SHOWN ? html`<p class="hint">The last ${SHOWN} messages.</p>` : NOTHING}
${rows
  .slice(0, SHOWN)
  .reverse()
  .map((message) => messageHtml(brand.name, message, now))}
${postForm(action, html`${field(control)}${submitButton('Send')}`)}`;
}

const TITLE = 'Messages';

const refuse = async (visit: PageVisit<Talk>, status: number, value: string, problem: string): Promise<PageAnswer> => ({
  status,
  title: `Error: ${TITLE}`,
  content: await content(visit, { value, problem }),
});

/** The status and message for a reply that is refused before anything is written. */
function findProblem(body: string): [status: number, problem: string] | undefined {
  if (body === '') return [422, 'Write a message first.'];
  const { length } = body;
  if (length > MAX_BODY) {
    return [422, `Shorten your message to ${formatNumber(MAX_BODY)} characters; it has ${formatNumber(length)}.`];
  }
  const contacts = findMessageContacts({ body });
  return contacts.length === 0
    ? undefined
    : [403, `The message seems to contain ${describeContacts(contacts)}. Please leave it out.`];
}

async function submit(visit: PageVisit<Talk>): Promise<PageAnswer> {
  const { row, form, inWork, action } = visit;
  const body = form().text('body').trim();
  const [status, problem] = findProblem(body) ?? [];
  if (status !== undefined && problem !== undefined) return await refuse(visit, status, body, problem);
  const person = { id: row.id, email: row.creatorEmail, name: row.creatorName };
  const reply = await inWork((work) => receiveReply(work, person, body));
  if (reply === 'too_many') {
    return await refuse(
      visit,
      429,
      body,
      `You have sent ${REPLIES_PER_HOUR} messages within an hour. Please try again later.`,
    );
  }
  return { seeOther: `${action}?sent=1` };
}

/** A conversation as its creator sees it, with a form for the reply. */
export const talkPage = creatorPage<Talk>({
  kind: 'talk',
  find: async ({ postgres }, { rowId }) => await findConversationPage(postgres.db, rowId),
  show: async (visit) => {
    const { row, isPerson, inWork } = visit;
    // Read before the messages are listed, so that one sent in the meantime stays unread.
    if (isPerson && row.creatorUnread > 0) await inWork((work) => seeConversation(work, row));
    return { title: TITLE, content: await content(visit, { value: '' }) };
  },
  submit,
});
