import { shortUrl } from '../../../affiliates/links/links.shapes.ts';
import { computeTotalDue } from '../../../affiliates/payouts/balances.ts';
import { getLinkTerms } from '../../../affiliates/terms/effective.ts';
import { summarizeTerms } from '../../../affiliates/terms/summary.ts';
import { keyFact, postForm, submitButton } from '../../../kit/html/controls.ts';
import { type Html, html } from '../../../kit/html/html.ts';
import { copyButton, ownPageTitle } from '../../../kit/html/page.ts';
import { dayTag, localTimeTag, periodText } from '../../../kit/html/times.ts';
import { showAddress } from '../../../kit/values/email.ts';
import { formatMoney, formatNumber } from '../../../kit/values/format.ts';
import { fromPpm } from '../../../kit/values/money.ts';
import { dayIn } from '../../../kit/values/time-zone.ts';
import { renderBadge } from '../badge.ts';
import { nameOrderStatus } from '../order-status.ts';
import { renderStatus as renderParcelStatus } from '../parcel.ts';
import { describeDeliverable, renderStatus, STATUS } from '../work/view.ts';
import { type All, SHOWN, signableUntil } from './everything.ts';
import type { Leads } from './page.ts';

interface Facts {
  creatorId: string;
  brandName: string;
  website: string | null;
  name: string | null;
  email: string;
  linksUrl: string;
  now: Date;
  /** The page's own path. */
  action: string;
}

const NOTHING = html``;
const DAYS_SHOWN = 3;
/** Orders before these are folded, so that what follows is near on a phone. */
const ORDERS_SHOWN = 3;
/** The same for each kind of work. */
const KIND_SHOWN = 3;

/** The brand's day of a time. */
const renderDay = (at: Date, { timeZone }: Pick<All, 'timeZone'>): Html => dayTag(dayIn(timeZone, at));
const formatCount = (count: number, one: string, many: string) => `${formatNumber(count)} ${count === 1 ? one : many}`;

/** Left out without lines, unless it says what is missing. */
const section = (title: string, lines: readonly Html[], none?: string): Html =>
  lines.length === 0 && none === undefined
    ? NOTHING
    : html`<h2>${title}</h2>
${lines.length === 0 ? html`<p class="hint">${none ?? ''}</p>` : html`<ul class="plain">${lines}</ul>`}
`;

/** A line with a link, what is known about it, and a button that copies a text. */
const renderLine = (
  href: string | undefined,
  name: string,
  more: Html | string,
  copied?: string,
): Html => html`<li><div class="line">${
  href === undefined ? html`<strong>${name}</strong>` : html`<a href="${href}">${name}</a>`
}${copied === undefined ? NOTHING : html` ${copyButton(copied)}`}</div><span class="hint">${more}</span></li>
`;

const isOpen = ({ status }: All['work'][number]) =>
  status === 'pending' || status === 'in_progress' || status === 'revision_requested';

/** Lists the tasks that the brand waits for. */
function toDo({ contracts, work, briefs, conversation }: All, { brandName, now }: Facts, to: Leads): Html {
  const lines = [
    ...contracts
      .filter((row) => row.status === 'sent' && signableUntil(row) > now)
      .map((row) =>
        renderLine(
          to('sign', row, { expiresAt: signableUntil(row) }),
          `Sign: ${row.title}`,
          html`Until ${localTimeTag(signableUntil(row))}`,
        ),
      ),
    ...work
      .filter(isOpen)
      .map((row) =>
        renderLine(
          `${to('work', row)}?deliverable=${row.id}`,
          `Hand in: ${describeDeliverable(row)}`,
          row.dueDate === null ? STATUS[row.status] : html`${STATUS[row.status]}, due ${dayTag(row.dueDate)}`,
        ),
      ),
    ...briefs
      .filter(({ viewedAt }) => viewedAt === null)
      .map((row) => renderLine(briefHref(row, to), `Read: ${row.title}`, 'A new brief')),
    ...(conversation && conversation.creatorUnread > 0
      ? [renderLine(to('talk', conversation), `Reply to ${brandName}`, countUnread(conversation))]
      : []),
  ];
  return section('To do', lines);
}

const countUnread = ({ creatorUnread }: { creatorUnread: number }) =>
  formatCount(creatorUnread, 'unread message', 'unread messages');

/** The day of the next payout is the brand's decision, so that none is promised. */
const explainPayable = (minor: number, { profile }: All, { brandName }: Facts): string => {
  if (minor <= 0) return 'Nothing is due at the moment.';
  return profile.waiting === null
    ? `${brandName} pays it with its next payout.`
    : `${brandName} pays it once your new payment address is in use.`;
};

function earnings(all: All, about: Facts): Html {
  const { standings, holds } = all;
  if (standings.length === 0) return html`<h2>Earnings</h2>\n<p class="hint">Nothing has been earned yet.</p>`;
  const each = standings.map((standing) => {
    const { currency, pendingMinor, unpaidOrdersMinor, outstandingMinor } = standing;
    const money = (minor: number) => formatMoney(minor, currency);
    const facts: [string, number, boolean][] = [
      ['Paid so far', standing.earnedMinor, true],
      ['Paid in advance', standing.unallocatedMinor, standing.unallocatedMinor > 0],
      ['On its way to you', standing.recordedMinor, standing.recordedMinor > 0],
      ['Awaiting approval', pendingMinor, pendingMinor > 0],
      ['From orders that are not paid yet', unpaidOrdersMinor, unpaidOrdersMinor > 0],
      ['To be deducted for refunds', outstandingMinor, outstandingMinor > 0],
      ['In the review period', standing.heldMinor, standing.heldMinor > 0],
    ];
    const due = computeTotalDue(standing);
    const amount = html`<p class="amount">${money(due)}</p>`;
    return html`${keyFact(`Payable now, in ${currency}`, amount, explainPayable(due, all, about))}
<dl class="sums">${facts.map(([name, minor, isShown]) => (isShown ? html`<dt>${name}</dt><dd>${money(minor)}</dd>\n` : NOTHING))}</dl>
${heldUntil(holds.filter((hold) => hold.currency === currency))}`;
  });
  return html`<h2>Earnings</h2>
${each}`;
}

/** Tells when pending commissions can be approved. */
function heldUntil(holds: All['holds']): Html {
  if (holds.length === 0) return NOTHING;
  const later = holds.slice(DAYS_SHOWN);
  const last = later.at(-1);
  const rest = later.reduce((sum, { amountMinor }) => sum + amountMinor, 0);
  return html`<h3>Review ends</h3>
<dl class="sums">${holds
    .slice(0, DAYS_SHOWN)
    .map(
      ({ day, amountMinor, currency }) => html`<dt>${dayTag(day)}</dt><dd>${formatMoney(amountMinor, currency)}</dd>\n`,
    )}${last ? html`<dt>By ${dayTag(last.day)}</dt><dd>${formatMoney(rest, last.currency)}</dd>\n` : NOTHING}</dl>
<p class="hint">After that day the commission can be approved and paid, unless the order is returned.</p>`;
}

function renderLinks({ links, figures, customers }: All, { linksUrl }: Facts): Html {
  const lines = links.map((link) => {
    const url = shortUrl(linksUrl, link.slug);
    const { clicks = 0, conversions = 0, commissionMinor = 0 } = figures.get(link.id) ?? {};
    const results = [
      ...(url === null ? [] : [formatCount(clicks, 'click', 'clicks')]),
      formatCount(conversions, 'order', 'orders'),
      `${formatMoney(commissionMinor, link.currency)} commission`,
      ...(link.active ? [] : ['no longer active']),
    ].join(' · ');
    const name = url === null ? `Code ${link.value}` : url.replace(/^https?:\/\//, '');
    const deal = `For you: ${summarizeTerms(getLinkTerms(link).terms)}`;
    const discount =
      link.discountPpm === null ? NOTHING : html`<br>For shoppers: ${fromPpm(link.discountPpm)}% off their order.`;
    return renderLine(
      url ?? undefined,
      name,
      html`${deal}${discount}<br>${results}`,
      link.active ? (url ?? link.value) : undefined,
    );
  });
  const brought =
    customers === 0
      ? NOTHING
      : html`<p class="hint">You brought ${formatCount(customers, 'customer', 'customers')} whose later orders may count for you.</p>`;
  const counted =
    links.length === 0
      ? NOTHING
      : html`<p class="hint">Counted since the day each was created. Refunds lower the commission, so it can differ from what you were paid.</p>`;
  return html`${section('Your links and codes', lines, 'You have no link or code yet.')}${counted}${brought}`;
}

const renderOrderStatus = (order: All['orders'][number], now: Date): Html =>
  renderBadge(nameOrderStatus(order, now), order.status === 'approved' || order.status === 'paid');

const renderOrderTable = (
  label: string,
  rows: readonly Html[],
): Html => html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
<table>
<thead><tr><th scope="col">Order</th><th scope="col" class="money">For you</th></tr></thead>
<tbody>
${rows}</tbody>
</table>
</div>
`;

function renderOrders(all: All, { now }: Facts): Html {
  const { orders } = all;
  if (orders.length === 0) return section('Orders', [], 'No order has come through you yet.');
  const rows = orders.map(
    (order) => html`<tr>
<td>${order.storeOrderId === null ? 'Commission' : `Order ${order.orderNumber ?? order.storeOrderId}`}<br><span class="hint">${renderDay(order.occurredAt, all)}</span> ${renderOrderStatus(order, now)}</td>
<td class="money">${formatMoney(order.commissionMinor, order.currency)}</td></tr>
`,
  );
  const later = rows.slice(ORDERS_SHOWN);
  const more =
    later.length === 0
      ? NOTHING
      : html`<details><summary>Earlier orders</summary>
${renderOrderTable('Earlier orders', later)}${orders.length === SHOWN ? html`<p class="hint">The newest ${SHOWN}.</p>` : NOTHING}</details>
`;
  return html`<h2>Orders</h2>
${renderOrderTable('Orders', rows.slice(0, ORDERS_SHOWN))}${more}`;
}

function renderPayoutState({ status, paidAt, createdAt, correctedAt }: All['payouts'][number], all: All): Html {
  if (status === 'voided') return html`Withdrawn ${renderDay(correctedAt ?? createdAt, all)}`;
  if (status === 'returned') return html`Came back ${renderDay(correctedAt ?? createdAt, all)}`;
  if (paidAt === null) return html`Recorded ${renderDay(createdAt, all)}, on its way`;
  return html`Paid ${renderDay(paidAt, all)}`;
}

/** The address to which money goes, and the page that changes it. */
function renderAddress({ profile }: All, { creatorId, email }: Facts, to: Leads): Html {
  const address = html`<span class="address">${showAddress(profile.walletEmail ?? email)}</span>`;
  if (profile.waiting !== null) {
    return html`<li>${address}<br><span class="hint">A new address is waiting; see the email about it</span></li>
`;
  }
  const href = to('payment', { id: creatorId, linkVersion: profile.version });
  return html`<li><div class="line">${address} <a href="${href}">Change<span class="unseen"> your payment address</span></a></div>
<span class="hint">For payments by PayPal or Wise</span></li>
`;
}

function renderPayouts(all: All, facts: Facts, to: Leads): Html {
  const { payouts, statements } = all;
  const payoutLines = payouts.map((row) => {
    const { id, amountMinor, currency, reference } = row;
    const more = renderPayoutState(row, all);
    const name = formatMoney(amountMinor, currency);
    return renderLine(
      to('statement', { id, linkVersion: 0 }),
      name,
      html`${more}${reference === null ? '' : `, reference ${reference}`}`,
    );
  });
  const periods = statements.map((row) =>
    renderLine(
      to('statement', row),
      periodText(row.fromText, row.toText),
      html`Created ${renderDay(row.createdAt, all)}`,
    ),
  );
  return html`${section('Payouts', payoutLines, 'Nothing has been paid out yet.')}
${section('Where you are paid', [renderAddress(all, facts, to)])}
${section('Statements', periods)}`;
}

const briefHref = ({ id, linkVersion, holderId }: All['briefs'][number], to: Leads) =>
  to('brief', { id, linkVersion }, { holderId });

const CONTRACT_STATUS = {
  draft: 'Not sent',
  sent: 'Waiting for your signature',
  signed: 'Signed',
  expired: 'No longer open',
} as const;
const renderContractStatus = ({ status }: All['contracts'][number]): Html =>
  renderBadge(CONTRACT_STATUS[status], status === 'signed');

/** Contracts, deliverables, briefs and parcels, each with its kind. */
function renderWork(all: All, { now }: Facts, to: Leads): Html {
  const { briefs, contracts, work, parcels } = all;
  const contractLines = contracts.map((row) => {
    const isReadable = row.status === 'signed' || (row.status === 'sent' && signableUntil(row) > now);
    const expiry = row.status === 'sent' ? { expiresAt: signableUntil(row) } : undefined;
    const href = isReadable ? to('sign', row, expiry) : undefined;
    return renderLine(href, row.title, html`Contract ${renderContractStatus(row)}`);
  });
  const pieces = work.map((row) =>
    renderLine(
      `${to('work', row)}?deliverable=${row.id}`,
      describeDeliverable(row),
      html`Deliverable ${renderStatus(row)}`,
    ),
  );
  const briefLines = briefs.map((row) =>
    renderLine(briefHref(row, to), row.title, html`Brief, sent ${renderDay(row.sentAt, all)}`),
  );
  const parcelLines = parcels.map((row) =>
    renderLine(to('parcel', row), row.productDescription ?? 'Parcel', html`Parcel ${renderParcelStatus(row)}`),
  );
  const kinds = [contractLines, pieces, briefLines, parcelLines];
  const earlier = kinds.flatMap((lines) => lines.slice(KIND_SHOWN));
  const more =
    earlier.length === 0
      ? NOTHING
      : html`<details><summary>Earlier work</summary>
<ul class="plain">${earlier}</ul></details>
`;
  return html`${section(
    'Work',
    kinds.flatMap((lines) => lines.slice(0, KIND_SHOWN)),
  )}${more}`;
}

function renderTalk(all: All, { brandName, website }: Facts, to: Leads): Html {
  const { conversation } = all;
  if (!conversation) {
    if (!website || !/^https?:/.test(website)) return NOTHING;
    const reach = html`<a href="${website}" rel="noreferrer">Reach ${brandName} on its site</a>`;
    return html`<h2>Questions</h2>\n<p class="hint">${brandName} has not written to you here yet. ${reach}</p>`;
  }
  const { creatorUnread, messageCount, lastMessageAt } = conversation;
  const about = creatorUnread > 0 ? countUnread(conversation) : formatCount(messageCount, 'message', 'messages');
  const line = renderLine(
    to('talk', conversation),
    `Your conversation with ${brandName}`,
    html`${about}, the last on ${renderDay(lastMessageAt, all)}`,
  );
  return section('Conversation', [line]);
}

/** A copy of everything at once, and erasure, which the brand decides. */
function renderRights(all: All, { action, brandName }: Facts): Html {
  const { asked } = all;
  const answer =
    asked?.state === 'refused'
      ? html`<p>You asked to be erased on ${renderDay(asked.createdAt, all)}. ${brandName} refused:</p>
<blockquote>${asked.refusal ?? ''}</blockquote>`
      : NOTHING;
  const erasure =
    asked?.state === 'open' || asked?.state === 'running'
      ? html`<p>You asked to be erased on ${renderDay(asked.createdAt, all)}. ${brandName} has until ${renderDay(asked.dueAt, all)} to do it, or to say why not.</p>`
      : html`${answer}<p><a href="${action}?ask=erasure">Ask to be erased</a></p>`;
  return html`<h2>Your data</h2>
${postForm(action, submitButton('Download a copy', { name: 'ask', value: 'copy', quiet: true }))}
<p class="hint">A file (JSON) with everything ${brandName} keeps about you, and whom it was shared with.</p>
${erasure}`;
}

/** The page from top to bottom: what is to do, money, then everything else. */
export const content = (all: All, facts: Facts, to: Leads): Html => html`${ownPageTitle(
  { name: facts.brandName },
  facts.name === null ? 'Your page' : `Hello ${facts.name}`,
)}
<p>Your work, links and earnings with ${facts.brandName}. Keep this link to yourself: anyone who has it can see this page.</p>
${toDo(all, facts, to)}
${earnings(all, facts)}
${renderLinks(all, facts)}
${renderOrders(all, facts)}
${renderPayouts(all, facts, to)}
${renderWork(all, facts, to)}
${renderTalk(all, facts, to)}
${renderRights(all, facts)}`;
