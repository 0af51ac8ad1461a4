import { errorSummary, field, keyFact, postForm, submitButton } from '../../kit/html/controls.ts';
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
    title: 'Your payment address is about to change',
    content: html`<h1>Your payment address is about to change</h1>
${keyFact('New address', html`<p class="amount text">${next}</p>`, html`${brand.name} pays you there from ${localTimeTag(at)} on. Nothing is paid until then.`)}
<p>Did you ask for this? If not, stop it: your address stays as it is.</p>
${postForm(action, button('stop', 'It was not me: stop the change'))}
${link.holderId === undefined ? html`` : postForm(action, button('confirm', 'It was me: use it now'))}`,
  };
}

/** Says by which means the brand pays, as far as the profile or the last payout shows it. */
function describeMeans({ row, brand }: PaymentVisit): string {
  switch (row.profile.method ?? row.lastMethod) {
    case 'wallet':
      return `${brand.name} pays you by PayPal or Wise.`;
    case 'bank_transfer':
      return `${brand.name} pays you by bank transfer. It would use this address for PayPal or Wise.`;
    case 'manual':
      return `${brand.name} pays you as you agreed. It would use this address for PayPal or Wise.`;
    default:
      return `${brand.name} pays you by PayPal or Wise, unless you agreed on another way.`;
  }
}

/** Says when another address would be used: the first one of a creator who was never paid is used at once. */
const renderTiming = ({ row, brand }: PaymentVisit): string =>
  row.lastMethod === null && row.profile.walletEmail === null
    ? 'The new address is used as soon as you confirm it.'
    : `The new address is used 72 hours after you confirm it, or as soon as the old address confirms it too. Nothing is paid in the meantime. A payout that ${brand.name} has already recorded goes to the old address.`;

function showForm(visit: PaymentVisit, value = '', problem?: string) {
  const { row, action, brand } = visit;
  const address = {
    name: 'email',
    label: 'New PayPal or Wise email',
    value,
    problem,
    required: true,
    more: html` type="email" autocomplete="email" required`,
  };
  return {
    title: `${problem === undefined ? '' : 'Error: '}Where you are paid`,
    content: html`${errorSummary([address])}
<h1>Where you are paid</h1>
${keyFact('Your payment address', html`<p class="amount text">${findPaidAt(row)}</p>`, describeMeans(visit))}
<h2>Use another address</h2>
<ol class="steps">
<li>Enter the address below.</li>
<li>Open the link that we send to <strong>${showAddress(row.mailAddress ?? '')}</strong>. Nothing changes before that.</li>
<li>${renderTiming(visit)}</li>
</ol>
${postForm(action, html`${field(address)}${submitButton('Send confirmation email')}`)}
<p class="hint">Can’t you read that email? Write to ${brand.name} on ${ownPageLink(brand, html`your page`)}.</p>`,
  };
}

const showRequest = ({ brand, action }: PaymentVisit, requested: string) => ({
  title: 'Confirm your payment address',
  content: html`<h1>Confirm your payment address</h1>
${keyFact('New payment address', html`<p class="amount text">${showAddress(requested)}</p>`, `${brand.name} will pay you there.`)}
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
    : toAnswer('Not now', 'Another change is already waiting. See the email about it.');
}

async function confirm({ row: { creatorId, linkVersion }, inWork }: PaymentVisit) {
  const profile = await inWork((work) => confirmRequest(work, creatorId, linkVersion));
  if (profile === undefined) return toAnswer('Nothing to confirm', 'This change has already been decided.');
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
  if (!isDecided) return toAnswer('Nothing to decide', 'This change has already been decided.');
  return isRight
    ? toAnswer('Confirmed', 'You are paid at the new address from now on.')
    : toAnswer('Stopped', 'Your address stays as it was. We have told the brand.');
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
