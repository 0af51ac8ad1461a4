import { errorSummary, field, postForm, submitButton } from '../../kit/html/controls.ts';
import { type Html, html } from '../../kit/html/html.ts';
import { ownPageLink } from '../../kit/html/page.ts';
import { localTimeTag } from '../../kit/html/times.ts';
import { queueMail } from '../../kit/mail/queue.ts';
import { Email, showAddress } from '../../kit/values/email.ts';
import { findContactEmail } from '../../platform/brands/brands.ts';
import { confirmRequest, decideChange, findPaymentPage, requestAddress } from '../../workflow/payments/payments.ts';
import { creatorPage, type PageVisit } from './declare.ts';

type Row = NonNullable<Awaited<ReturnType<typeof findPaymentPage>>>;
type PaymentVisit = PageVisit<Row>;

const button = (answer: 'stop' | 'confirm', label: string): Html =>
  html`<input type="hidden" name="answer" value="${answer}">${submitButton(label)}`;

const toAnswer = (title: string, text: Html | string) => ({ title, content: html`<h1>${title}</h1><p>${text}</p>` });

const findPaidAt = ({ profile, mailAddress }: Row): string => showAddress(profile.walletEmail ?? mailAddress ?? '');

/** The change that waits. Whoever has the link may stop it; the owner of the old address may also confirm it. */
function showWaiting({ row: { profile, mailAddress }, brand, link, action }: PaymentVisit, at: Date) {
  const next = showAddress(profile.waiting?.walletEmail ?? mailAddress ?? '');
  return {
    title: 'Another payment address',
    content: html`<h1>Another payment address</h1>
<p>${brand.name} was asked to pay you at <strong>${next}</strong> from ${localTimeTag(at)} on.</p>
${postForm(action, button('stop', 'It was not me'))}
${link.holderId === undefined ? html`` : postForm(action, button('confirm', 'It was me: use it now'))}`,
  };
}

/** Says by which means the brand pays, as far as the profile or the last payout shows it. */
function renderMeans({ row, brand }: PaymentVisit): Html {
  const address = html`<strong>${findPaidAt(row)}</strong>`;
  switch (row.profile.method ?? row.lastMethod) {
    case 'wallet':
      return html`${brand.name} pays you by PayPal or Wise, at ${address}.`;
    case 'bank_transfer':
      return html`${brand.name} pays you by bank transfer. By PayPal or Wise, it would pay you at ${address}.`;
    case 'manual':
      return html`${brand.name} pays you in a way that you agreed on. By PayPal or Wise, it would pay you at ${address}.`;
    default:
      return html`${brand.name} pays you at ${address} by PayPal or Wise, unless you agreed on another way.`;
  }
}

/** Says when another address would hold: the first one of a creator who was never paid holds at once. */
const renderTiming = ({ row, brand }: PaymentVisit): string =>
  row.lastMethod === null && row.profile.walletEmail === null
    ? 'The new address holds as soon as you confirm it.'
    : `The new address holds 72 hours after you confirm it, or as soon as the old address confirms it too. Meanwhile nothing is paid. A payout that ${brand.name} has already recorded goes to the old address.`;

function showForm(visit: PaymentVisit, value = '', problem?: string) {
  const { row, action, brand } = visit;
  const address = {
    name: 'email',
    label: 'New PayPal or Wise email',
    value,
    problem,
    required: true,
    hint: `We send a link to ${showAddress(row.mailAddress ?? '')}. Nothing changes until you confirm it there.`,
    more: html` type="email" autocomplete="email" required`,
  };
  return {
    title: `${problem === undefined ? '' : 'Error: '}Where you are paid`,
    content: html`${errorSummary([address])}
<h1>Where you are paid</h1>
<p>${renderMeans(visit)}</p>
${postForm(action, html`${field(address)}${submitButton('Send confirmation email')}`)}
<p class="hint">${renderTiming(visit)}</p>
<p class="hint">No access to that mailbox? Write to ${brand.name} on ${ownPageLink(brand, html`your page`)}.</p>`,
  };
}

const showRequest = ({ brand, action }: PaymentVisit, requested: string) => ({
  title: 'Confirm your payment address',
  content: html`<h1>Confirm your payment address</h1>
<p>${brand.name} will pay you at <strong>${showAddress(requested)}</strong>.</p>
${postForm(action, button('confirm', 'Pay me at this address'))}
<p class="hint">If you did not ask for this, close this page. Nothing changes.</p>`,
});

/** The first step of a creator who wants to be paid elsewhere; the second one is the link in the mail. */
async function request(visit: PaymentVisit) {
  const typedAddress = visit.form().text('email');
  const address = Email.safeParse(typedAddress);
  if (!address.success)
    return showForm(visit, typedAddress, 'Enter a complete email address, such as name@example.com.');
  const isKept = await visit.inWork((work) => requestAddress(work, visit.row.creatorId, address.data));
  return isKept
    ? toAnswer('Check your email', 'We emailed you a link. The address changes when you confirm it there.')
    : toAnswer('Not now', 'Another change waits. See the email about it.');
}

async function confirm({ row: { creatorId, linkVersion }, inWork }: PaymentVisit) {
  const profile = await inWork((work) => confirmRequest(work, creatorId, linkVersion));
  if (profile === undefined) return toAnswer('Nothing to confirm', 'The change was decided already.');
  return profile.effectiveAt === null
    ? toAnswer('Confirmed', 'You are paid at the new address from now on.')
    : toAnswer(
        'Confirmed',
        html`You are paid at the new address from ${localTimeTag(profile.effectiveAt)} on, or once you confirm it by the email to the old one. Until then nothing is paid.`,
      );
}

/** Ends a change that waits; the brand hears of one that was stopped. */
async function decide({ row, link, form, inWork }: PaymentVisit) {
  const { creatorId, creatorName, mailAddress, profile, linkVersion } = row;
  const isRight = form().text('answer') === 'confirm' && link.holderId !== undefined;
  const isDecided = await inWork(async (work) => {
    if (!(await decideChange(work, creatorId, linkVersion, isRight))) return false;
    const to = isRight ? null : await findContactEmail(work.db, work.brandId);
    const next = profile.waiting?.walletEmail ?? mailAddress ?? '';
    const creator = creatorName ?? mailAddress ?? creatorId;
    const subjectRow = `${creatorId}:payment:${linkVersion}`;
    if (to !== null) {
      await queueMail(work, { kind: 'payment_change_stopped', to, subjectRow, params: { creator, next } });
    }
    return true;
  });
  if (!isDecided) return toAnswer('Nothing waits', 'The change was decided already.');
  return isRight
    ? toAnswer('Confirmed', 'The new address holds from now on.')
    : toAnswer('Stopped', 'The address stays as it was, and the brand was told.');
}

/**
 * Where a creator is paid: linked from their page, where they ask for another address, and from the mails that confirm
 * or stop a change.
 */
export const paymentPage = creatorPage<Row>({
  kind: 'payment',
  find: async ({ postgres, clock }, { rowId }) => await findPaymentPage(postgres.db, rowId, clock.now()),
  show: (visit) => {
    const { effectiveAt, requested } = visit.row.profile;
    if (effectiveAt !== null) return showWaiting(visit, effectiveAt);
    if (requested !== null && visit.link.holderId !== undefined) return showRequest(visit, requested);
    return showForm(visit);
  },
  submit: async (visit) => {
    const { effectiveAt, requested } = visit.row.profile;
    const answer = visit.form().text('answer');
    if (answer === '') return await request(visit);
    const isRequest = effectiveAt === null && requested !== null && visit.link.holderId !== undefined;
    return isRequest && answer === 'confirm' ? await confirm(visit) : await decide(visit);
  },
});
