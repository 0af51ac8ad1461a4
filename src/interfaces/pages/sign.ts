import { checkbox, errorSummary, field, postForm, submitButton } from '../../kit/html/controls.ts';
import type { Form } from '../../kit/html/form.ts';
import { type Html, html } from '../../kit/html/html.ts';
import { printButton } from '../../kit/html/page.ts';
import { localTimeTag, timeTag } from '../../kit/html/times.ts';
import { withoutUnseen } from '../../kit/values/text.ts';
import { type ContractFacts, findLinkedContract, signContract } from '../../workflow/contracts/contracts.ts';
import { documentHtml, readDocument } from '../../workflow/contracts/document.ts';
import { listContractDeliverables } from '../../workflow/deliverables/deliverables.ts';
import { findCreatorConversation } from '../../workflow/messages/messages.ts';
import { creatorPage, type PageAnswer, type PageVisit } from './declare.ts';
import { workLink } from './work/link.ts';

const MIN_LETTERS = 2;
/** Hangul fillers are letters in Unicode but invisible. */
const LETTER = /(?=\p{L})\P{Default_Ignorable_Code_Point}/gu;
const MAX_NAME = 200;
const NOTHING = html``;
const PRINT = 'Print or save as PDF';
const CONSENT = 'I have read this contract, I agree to it, and typing my name here is my signature.';

type SignVisit = PageVisit<ContractFacts>;

/** Undefined if the contract has no text yet; no link leads to such a contract. */
function renderText({ document }: ContractFacts) {
  return document === null ? undefined : readDocument(document);
}

const renderHead = ({ row, brand }: SignVisit): Html => html`<p class="kicker">Contract with ${brand.name}</p>
<h1>${row.title}</h1>`;

const renderProof = ({
  contentHash,
}: ContractFacts): Html => html`<details class="seal"><summary>Technical proof</summary>
<p>The fingerprint of this text (SHA-256) proves later that no word of it was changed: <code>${contentHash?.toString('hex') ?? ''}</code></p>
</details>`;

/**
 * Leads to the conversation, or to the brand's site if there is none. The link to sign is for the creator alone, as is
 * the one to the conversation.
 */
async function renderQuestion({ context, row, brand, link: { expiresAt } }: SignVisit): Promise<Html> {
  const { postgres, pageLinks } = context;
  const conversation = await findCreatorConversation(postgres.db, row.brandId, row.creatorId);
  if (conversation) {
    const { id: rowId, linkVersion: version } = conversation;
    const { pathname } = new URL(pageLinks.urlOf({ kind: 'talk', rowId, version, expiresAt }));
    return html`<a class="button quiet" href="${pathname}">Ask a question</a>`;
  }
  const { website, name } = brand;
  if (!website || !/^https?:/.test(website)) return NOTHING;
  return html`<p class="hint">Questions first? <a href="${website}" rel="noreferrer">Reach ${name} on its site</a></p>`;
}

/** The link to the work page, for a creator who has just signed. */
async function nextStep({ context, row, now }: SignVisit): Promise<Html> {
  const [first] = await listContractDeliverables(context.postgres.db, row.brandId, row.id);
  if (!first) return NOTHING;
  return html`<a class="button slim" href="${workLink(context.pageLinks, first, now)}">Hand in your work</a>`;
}

async function signedPage(visit: SignVisit, { isRepeat }: { isRepeat: boolean }): Promise<PageAnswer> {
  const { row } = visit;
  const text = renderText(row);
  return {
    ...(isRepeat ? { status: 409 } : {}),
    title: isRepeat ? 'Already signed' : `Signed: ${row.title}`,
    content: html`${renderHead(visit)}
<p class="notice" role="status">${isRepeat ? 'This contract is already signed: by' : 'Signed by'} ${row.signerName ?? ''}${
      row.signedAt ? html` on ${timeTag(row.signedAt)}` : NOTHING
    }. You get a copy by email.</p>
<div class="actions">${await nextStep(visit)}${printButton(PRINT)}</div>
${text ? documentHtml(text) : NOTHING}
${renderProof(row)}`,
  };
}

interface FilledSignature {
  name: string;
  isAgreed: boolean;
  problems: { name?: string | undefined; agree?: string | undefined };
}

const EMPTY: FilledSignature = { name: '', isAgreed: false, problems: {} };

function readSignature(form: Form): FilledSignature {
  const name = withoutUnseen(form.text('name').replace(/\s+/g, ' ')).trim();
  const isAgreed = form.isTicked('agree');
  const letters = [...name.matchAll(LETTER)].length;
  return {
    name,
    isAgreed,
    problems: {
      name:
        letters < MIN_LETTERS
          ? 'Type your full name.'
          : [...name].length > MAX_NAME
            ? `Your name may have up to ${MAX_NAME} characters.`
            : undefined,
      agree: isAgreed ? undefined : 'Tick this box to sign.',
    },
  };
}

async function formPage(visit: SignVisit, { name, isAgreed, problems }: FilledSignature): Promise<PageAnswer> {
  const { row, action, link } = visit;
  const text = renderText(row);
  const nameField = { name: 'name', label: 'Your full name', required: true, problem: problems.name };
  const agreeBox = { name: 'agree', label: CONSENT, required: true, problem: problems.agree };
  const isWrong = problems.name !== undefined || problems.agree !== undefined;
  return {
    ...(isWrong ? { status: 422 } : {}),
    title: `${isWrong ? 'Error: ' : ''}Sign: ${row.title}`,
    content: html`${errorSummary([nameField, agreeBox])}
${renderHead(visit)}
<p>Sign by ${localTimeTag(link.expiresAt)}.</p>
<p>${printButton(PRINT)}</p>
${text ? documentHtml(text) : NOTHING}
<div class="off-paper">
<h2>Sign</h2>
<p class="hint">Once you have signed, you get a copy by email.</p>
${postForm(
  action,
  html`${field({ ...nameField, value: name, more: html` autocomplete="name" required` })}
${checkbox({ ...agreeBox, isChecked: isAgreed })}
<div class="actions">${submitButton('Sign')}${await renderQuestion(visit)}</div>`,
)}
<p class="hint">We keep the time, your network address and your browser's name with your signature, encrypted, as evidence.</p>
</div>
${renderProof(row)}`,
  };
}

const endedPage = (row: ContractFacts): PageAnswer => ({
  status: 409,
  title: 'No longer open for signature',
  content: html`<h1>${row.title}</h1>
<p class="notice">This contract can no longer be signed. If you think it should be, please ask for a new link.</p>`,
});

/** The page on which a creator signs. The link is for this creator and one signature. */
export const signPage = creatorPage<ContractFacts>({
  kind: 'sign',
  find: async ({ postgres }, { rowId, version }) => await findLinkedContract(postgres.db, rowId, version),
  show: async (visit) =>
    visit.row.status === 'signed' ? await signedPage(visit, { isRepeat: false }) : await formPage(visit, EMPTY),
  submit: async (visit) => {
    const { row, context, address, userAgent, action, inWork } = visit;
    if (row.status === 'signed') return await signedPage(visit, { isRepeat: true });
    const filledForm = readSignature(visit.form());
    if (filledForm.problems.name !== undefined || filledForm.problems.agree !== undefined)
      return await formPage(visit, filledForm);
    const signature = { name: filledForm.name, address, userAgent };
    const signedContract = await inWork((work) => signContract(work, context.secrets, row, signature));
    if (signedContract) return { seeOther: action };
    const now = await findLinkedContract(context.postgres.db, row.id, row.linkVersion);
    return now?.status === 'signed' ? await signedPage({ ...visit, row: now }, { isRepeat: true }) : endedPage(row);
  },
});
