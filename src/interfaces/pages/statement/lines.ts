import type { z } from 'zod';
import { type StatementLineRow, toStatementLines } from '../../../affiliates/payouts/payout-statement.ts';
import type { PayoutFacts } from '../../../affiliates/payouts/payouts.ts';
import type { CreatorStatementLine, toStatementContent } from '../../../affiliates/statements/statements.shapes.ts';
import type { StatementFacts } from '../../../affiliates/statements/statements.ts';
import { keyFact } from '../../../kit/html/controls.ts';
import { type Html, html } from '../../../kit/html/html.ts';
import { dayTag, dayText, timeText } from '../../../kit/html/times.ts';
import { formatMoney, formatNumber } from '../../../kit/values/format.ts';
import { toMinor } from '../../../kit/values/money.ts';
import { dayIn } from '../../../kit/values/time-zone.ts';
import { nameOrderStatus } from '../order-status.ts';

/** The part of the page that a line belongs to, in their order. */
const PARTS = ['orders', 'earlier', 'payouts', 'other', 'change', 'total'] as const;

/** A line as displayed to the creator. */
export interface ShownLine {
  part: (typeof PARTS)[number];
  /** The id to ask about; null if the line cannot be asked about. */
  id: string | null;
  name: string;
  date: string;
  details: string;
  amount: string;
  /** The link or code that brought an order, and what the order adds to that one's sum. */
  by: { code: string | null; minor: number; currency: string } | null;
}

const NOTHING = html``;

type Line = z.output<typeof CreatorStatementLine>;

/** A one-time order needs no word. */
const KINDS: Readonly<Record<NonNullable<Line['order_kind']>, string | null>> = {
  once: null,
  first: 'first order of a subscription',
  renewal: 'renewal',
  upgrade: 'change of plan',
  resubscribe: 'subscribed again',
};

/** `$1,250.50`, for an amount in major units. */
const formatAmount = (amount: number, currency: string): string =>
  formatMoney(toMinor(amount, currency) ?? 0, currency);
const toShare = (code: string | null, amount: number, currency: string) => ({
  code,
  currency,
  minor: toMinor(amount, currency) ?? 0,
});
const formatDay = (at: string | null, timeZone: string): string => (at === null ? '' : dayIn(timeZone, new Date(at)));
const joinParts = (parts: readonly (string | null | undefined)[]): string => parts.filter(Boolean).join(', ');

/** The first and the last day of a statement, its end, and the zone of its days. */
interface Period {
  from: string;
  to: string;
  until: Date;
  timeZone: string;
}

/** A refund of this period, of an order whose commission was earned in an earlier one. */
const isOfEarlier = (line: Line, { from, timeZone }: Pick<Period, 'from' | 'timeZone'>): boolean =>
  line.type === 'commission' &&
  line.refunded_amount !== 0 &&
  line.commission === 0 &&
  line.taken_back === 0 &&
  formatDay(line.occurred_at, timeZone) < from;

/** The ends of review periods, by commission. */
type Holds = ReadonlyMap<string, Date | null>;

/** The status at the end of the period, within a list of facts. */
function nameStatus({ id, status }: Line, holds: Holds, { until }: Period): string | null {
  const name = status && nameOrderStatus({ status, holdEndsAt: holds.get(id) ?? null }, until);
  return name && name.slice(0, 1).toLowerCase() + name.slice(1);
}

function commissionLine(line: Line, hasAddress: boolean, holds: Holds, period: Period): ShownLine {
  const { currency, commission, taken_back: back } = line;
  const money = (amount: number) => formatAmount(amount, currency);
  const isEarlier = isOfEarlier(line, period);
  return {
    part: isEarlier ? 'earlier' : 'orders',
    id: line.id,
    name: line.order_id === null ? 'Commission' : `Order ${line.order_number ?? line.order_id}`,
    date: formatDay(line.occurred_at, period.timeZone),
    details: joinParts([
      line.order_number === line.order_id || line.order_number === null ? null : line.order_id,
      line.order_kind && KINDS[line.order_kind],
      hasAddress ? line.customer_email : null,
      isEarlier ? line.code : null,
      line.sale_amount === 0 ? null : `sale ${money(line.sale_amount)}`,
      line.refunded_amount === 0 ? null : `refunded ${money(line.refunded_amount)}`,
      back === 0 ? null : `taken back ${money(back)}`,
      isEarlier ? 'in the opening balance' : nameStatus(line, holds, period),
      line.reason,
    ]),
    amount: isEarlier ? '–' : money(commission - back),
    by: isEarlier ? null : toShare(line.code, commission - back, currency),
  };
}

/** A payout is named by its day; its reference is the brand's or the bank's. */
function payoutLine(line: Line, timeZone: string): ShownLine {
  const { type, id, currency, occurred_at, reference, paid_out, fee, reason } = line;
  const day = formatDay(occurred_at, timeZone);
  const isReturn = type === 'return';
  const name = fee !== 0 ? 'Fee' : day === '' ? 'Payout' : `Payout of ${dayText(day)}`;
  return {
    part: 'payouts',
    id,
    name: isReturn ? `${fee === 0 ? 'Payout' : 'Fee'} came back` : name,
    date: fee === 0 && !isReturn ? '' : day,
    details: joinParts([
      reference === null ? null : `${fee === 0 && !isReturn ? 'Reference' : 'reference'} ${reference}`,
      fee === 0 ? null : 'not part of the balance',
      reason,
    ]),
    amount: fee === 0 ? formatAmount(-paid_out, currency) : formatAmount(Math.abs(fee), currency),
    by: null,
  };
}

/** What the lines add up to, in each currency. */
function totalLines(lines: readonly Line[]): ShownLine[] {
  return [...Map.groupBy(lines, ({ currency }) => currency)].map(([currency, each]) => {
    const sum = each
      .map(({ commission, taken_back, paid_out }) => toMinor(commission - taken_back - paid_out, currency) ?? 0)
      .reduce((total, minor) => total + minor, 0);
    const details = 'of the balance in this period';
    return {
      part: 'change',
      id: null,
      name: 'Change',
      date: '',
      details,
      amount: formatMoney(sum, currency),
      by: null,
    };
  });
}

/** A masked address that several lines share says nothing. */
export function linesOfStatement(lines: readonly Line[], holds: Holds, period: Period): ShownLine[] {
  const addresses = lines.flatMap(({ customer_email }) => customer_email ?? []);
  const hasAddress = addresses.length === 1 || new Set(addresses).size > 1;
  const shown = lines.map((line) =>
    line.type !== 'commission' ? payoutLine(line, period.timeZone) : commissionLine(line, hasAddress, holds, period),
  );
  return [...shown, ...totalLines(lines)];
}

const NAMES: Readonly<Record<string, string>> = {
  commission: 'Commission',
  refunds: 'Refunds after an earlier payment',
  unallocated: 'For commissions to come',
  fee: 'Fee',
  not_paid: 'Not paid yet',
  voided: 'Withdrawn before it was paid',
  returned: 'The money came back',
};

export function linesOfPayout(payout: PayoutFacts, rows: readonly StatementLineRow[], timeZone: string): ShownLine[] {
  const { currency, amountMinor } = payout;
  const lines = toStatementLines(payout, rows).map(
    (line): ShownLine => ({
      part: line.type === 'commission' ? 'orders' : 'other',
      id: line.commission_id,
      name: line.order_id === null ? (NAMES[line.type] ?? line.type) : `Order ${line.order_number ?? line.order_id}`,
      date: formatDay(line.occurred_at ?? line.paid_at, timeZone),
      details: joinParts([
        line.order_number === line.order_id || line.order_number === null ? null : line.order_id,
        line.customer_email,
        line.sale_amount === null ? null : `sale ${formatAmount(line.sale_amount, currency)}`,
        line.refunded_amount ? `refunded ${formatAmount(line.refunded_amount, currency)}` : null,
      ]),
      amount: formatAmount(line.amount, currency),
      by: line.type === 'commission' ? toShare(line.code, line.amount, currency) : null,
    }),
  );
  const total = {
    part: 'total' as const,
    id: null,
    name: 'Total',
    date: formatDay(payout.paidAt?.toISOString() ?? null, timeZone),
  };
  const details = joinParts([payout.reference && `reference ${payout.reference}`, payout.correctionReason]);
  const totalMinor = payout.status === 'returned' ? 0 : amountMinor;
  return [...lines, { ...total, details, amount: formatMoney(totalMinor, currency), by: null }];
}

const HEADINGS: Readonly<Record<ShownLine['part'], string | null>> = {
  orders: 'Orders',
  earlier: 'Refunds of earlier orders',
  payouts: 'Payouts',
  other: 'Also in this payout',
  change: null,
  total: null,
};
/** A statement with more orders is folded by link and code, so that a month is short on a phone. */
const UNFOLDED = 5;

/** The orders under their link or code, then the payouts and the rest; each line has a link to ask about it. */
export function renderLines(lines: readonly ShownLine[], action: string): Html {
  if (lines.length === 0) return html`<h2>Orders</h2>\n<p>Nothing happened in this period.</p>`;
  return html`${PARTS.map((part) => {
    const own = lines.filter((line) => line.part === part);
    if (own.length === 0) return NOTHING;
    const heading = part === 'other' && lines[0]?.part === 'other' ? null : HEADINGS[part];
    return html`${heading === null ? NOTHING : html`<h2>${heading}</h2>\n`}${
      part === 'total' || part === 'change'
        ? own.map(renderTotal)
        : part === 'orders'
          ? renderGroups(own, action)
          : renderTable(own, action)
    }`;
  })}`;
}

/** The orders of each link or code, folded under its sum. */
function renderGroups(lines: readonly ShownLine[], action: string): Html {
  const groups = [...Map.groupBy(lines, ({ by }) => `${by?.code ?? ''} ${by?.currency ?? ''}`).values()];
  const isOpen = lines.length <= UNFOLDED;
  const each = groups.map((own) => {
    const { code = null, currency = '' } = own[0]?.by ?? {};
    const sum = own.reduce((total, { by }) => total + (by?.minor ?? 0), 0);
    const noun = code === null ? 'commission' : 'order';
    const count = `${formatNumber(own.length)} ${noun}${own.length === 1 ? '' : 's'}`;
    return html`<details${isOpen ? html` open` : NOTHING}><summary><span>${code ?? 'Without a link or code'}<br><span class="hint">${count}</span></span><span class="money">${formatMoney(sum, currency)}</span></summary>
${renderTable(own, action)}</details>
`;
  });
  return html`<p class="columns"><span>Link or code</span><span>Commission</span></p>
${each}`;
}

/** The change of a balance is no total of the statement, so that it is not bold. */
const renderTotal = ({ part, name, date, details, amount }: ShownLine): Html =>
  html`<dl class="sums ${part}"><dt class="sum">${name}<br><span class="hint">${date === '' ? NOTHING : dayTag(date)}${
    date === '' || details === '' ? '' : ' · '
  }${details}</span></dt><dd class="sum">${amount}</dd></dl>
`;

function renderTable(lines: readonly ShownLine[], action: string): Html {
  const rows = lines.map(
    ({
      id,
      name,
      date,
      details,
      amount,
    }) => html`<tr><td>${name}<br><span class="hint">${date === '' ? NOTHING : dayTag(date)}${
      date === '' || details === '' ? '' : ' · '
    }${details}</span></td><td class="money">${amount}${
      id === null
        ? NOTHING
        : html`<br><a class="hint ask" href="${action}?ask=${id}" aria-label="Ask about this: ${name}">Ask about this</a>`
    }</td></tr>
`,
  );
  return html`<div class="scroll"><table>
<thead class="unseen"><tr><th scope="col">What</th><th scope="col" class="money">Amount</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>`;
}

export function renderTotals({ totals, lines }: ReturnType<typeof toStatementContent>, period: Period): Html {
  const why = lines.some((line) => isOfEarlier(line, period))
    ? html`<p class="hint">A refund lowers the commission on the day of its order. For an order from before this period, that has lowered the opening balance: its line below has no amount.</p>
`
    : NOTHING;
  const blocks = totals.map(({ currency, opening, commission, taken_back, paid_out, closing }) => {
    const facts: [string, number][] = [
      ['Opening balance', opening],
      ['Earned', commission],
      ['Reversed by refunds', -taken_back],
      ['Paid out', -paid_out],
    ];
    const meaning = closing > 0 ? 'Earned and not yet paid on' : 'Closing balance on';
    return html`<h2>${totals.length === 1 ? 'Balance' : `Balance in ${currency}`}</h2>
${keyFact(html`${meaning} ${dayTag(period.to)}`, html`<p class="amount">${formatAmount(closing, currency)}</p>`, explainClosing(closing))}
<dl class="sums">${facts.map(([name, amount]) => html`<dt>${name}</dt><dd>${formatAmount(amount, currency)}</dd>\n`)}<dt class="sum">Closing balance</dt><dd class="sum">${formatAmount(closing, currency)}</dd>
</dl>
`;
  });
  return html`${blocks}${why}`;
}

const explainClosing = (closing: number): string =>
  closing > 0 ? 'It is paid with a later payout.' : 'Nothing was left to pay.';

/** Says when the statement was made, and how it can be verified later. */
export function renderProof({ ledgerSeq, ledgerHash, createdAt }: StatementFacts): Html {
  const hash = ledgerHash?.toString('hex') ?? 'none';
  return html`<p class="seal">Created on ${timeText(createdAt)}. What changed later is in the opening balance of a later statement.</p>
<details class="seal"><summary>Technical proof</summary>
<p>The seal of the ${formatNumber(ledgerSeq)} ledger entries behind this statement proves later that none of them was changed: <code>${hash}</code></p>
</details>`;
}
