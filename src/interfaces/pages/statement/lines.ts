import type { z } from 'zod';
import { type StatementLineRow, toStatementLines } from '../../../affiliates/payouts/payout-statement.ts';
import type { PayoutFacts } from '../../../affiliates/payouts/payouts.ts';
import type { CreatorStatementLine, toStatementContent } from '../../../affiliates/statements/statements.shapes.ts';
import type { StatementFacts } from '../../../affiliates/statements/statements.ts';
import { type Html, html } from '../../../kit/html/html.ts';
import { dayTag, timeText } from '../../../kit/html/times.ts';
import { formatMoney } from '../../../kit/values/format.ts';
import { toMinor } from '../../../kit/values/money.ts';
import { dayIn } from '../../../kit/values/time-zone.ts';

/** A line as displayed to the creator. */
export interface ShownLine {
  /** The id to ask about; null if the line cannot be asked about. */
  id: string | null;
  name: string;
  date: string;
  details: string;
  amount: string;
  /** The link or code that brought it, and what it adds to that one's sum. */
  by: { code: string; minor: number; currency: string } | null;
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
const toShare = (code: string, amount: number, currency: string) => ({
  code,
  currency,
  minor: toMinor(amount, currency) ?? 0,
});
const formatDay = (at: string | null, timeZone: string): string => (at === null ? '' : dayIn(timeZone, new Date(at)));
const joinParts = (parts: readonly (string | null | undefined)[]): string => parts.filter(Boolean).join(', ');

/** The first day of a statement, and the zone of its days. */
interface Period {
  from: string;
  timeZone: string;
}

/** A refund of this period, of an order whose commission was earned in an earlier one. */
const isOfEarlier = (line: Line, { from, timeZone }: Period): boolean =>
  line.type === 'commission' &&
  line.refunded_amount !== 0 &&
  line.commission === 0 &&
  line.taken_back === 0 &&
  formatDay(line.occurred_at, timeZone) < from;

function commissionLine(line: Line, hasAddress: boolean, period: Period): ShownLine {
  const { currency, commission, taken_back: back } = line;
  const money = (amount: number) => formatAmount(amount, currency);
  const isEarlier = isOfEarlier(line, period);
  return {
    id: line.id,
    name: line.order_id === null ? 'Commission' : `Order ${line.order_number ?? line.order_id}`,
    date: formatDay(line.occurred_at, period.timeZone),
    details: joinParts([
      line.order_number === line.order_id || line.order_number === null ? null : line.order_id,
      line.order_kind && KINDS[line.order_kind],
      hasAddress ? line.customer_email : null,
      line.code,
      line.sale_amount === 0 ? null : `sale ${money(line.sale_amount)}`,
      line.refunded_amount === 0 ? null : `refunded ${money(line.refunded_amount)}`,
      back === 0 ? null : `taken back ${money(back)}`,
      isEarlier ? 'in the opening balance' : line.status,
      line.reason,
    ]),
    amount: isEarlier ? '–' : money(commission - back),
    by: line.code && !isEarlier ? toShare(line.code, commission - back, currency) : null,
  };
}

function payoutLine(line: Line, timeZone: string): ShownLine {
  const { type, id, currency, occurred_at, reference, paid_out, fee, reason } = line;
  return {
    id,
    name: `${fee === 0 ? 'Payout' : 'Fee'}${type === 'return' ? ' came back' : ''}`,
    date: formatDay(occurred_at, timeZone),
    details: joinParts([reference, fee === 0 ? null : 'not part of the balance', reason]),
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
    const details = 'how this period changed the balance';
    return { id: null, name: 'Total', date: '', details, amount: formatMoney(sum, currency), by: null };
  });
}

/** The lines that add up to the totals come first. A masked address that several lines share says nothing. */
export function linesOfStatement(lines: readonly Line[], period: Period): ShownLine[] {
  const addresses = lines.flatMap(({ customer_email }) => customer_email ?? []);
  const hasAddress = addresses.length === 1 || new Set(addresses).size > 1;
  const shown = lines
    .toSorted((one, other) => Number(isOfEarlier(one, period)) - Number(isOfEarlier(other, period)))
    .map((line) =>
      line.type !== 'commission' ? payoutLine(line, period.timeZone) : commissionLine(line, hasAddress, period),
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
  const lines = toStatementLines(payout, rows).map((line) => ({
    id: line.commission_id,
    name: line.order_id === null ? (NAMES[line.type] ?? line.type) : `Order ${line.order_number ?? line.order_id}`,
    date: formatDay(line.occurred_at ?? line.paid_at, timeZone),
    details: joinParts([
      line.order_number === line.order_id || line.order_number === null ? null : line.order_id,
      line.customer_email,
      line.code,
      line.sale_amount === null ? null : `sale ${formatAmount(line.sale_amount, currency)}`,
      line.refunded_amount ? `refunded ${formatAmount(line.refunded_amount, currency)}` : null,
    ]),
    amount: formatAmount(line.amount, currency),
    by: line.code && line.type === 'commission' ? toShare(line.code, line.amount, currency) : null,
  }));
  const total = { id: null, name: 'Total', date: formatDay(payout.paidAt?.toISOString() ?? null, timeZone) };
  const details = joinParts([payout.reference, payout.correctionReason]);
  const totalMinor = payout.status === 'returned' ? 0 : amountMinor;
  return [...lines, { ...total, details, amount: formatMoney(totalMinor, currency), by: null }];
}

/** As many lines of one link or code are folded under its name and sum, so that a month is short on a phone. */
const FOLDED = 5;

/** The lines of each link or code under its sum, then the others; each has a link to ask about it. */
export function renderLines(lines: readonly ShownLine[], action: string): Html {
  if (lines.length === 0) return html`<p>Nothing happened in this period.</p>`;
  const groups = [...Map.groupBy(lines, ({ by }) => by && `${by.code} ${by.currency}`).entries()];
  const foldedGroups = groups.filter(([key, each]) => key !== null && each.length >= FOLDED);
  const others = lines.filter((line) => foldedGroups.every(([, each]) => !each.includes(line)));
  const each = foldedGroups.map(([, all]) => {
    const { code = '', currency = '' } = all[0]?.by ?? {};
    const sum = formatMoney(
      all.reduce((total, { by }) => total + (by?.minor ?? 0), 0),
      currency,
    );
    return html`<details><summary><span>${code}<br><span class="hint">${all.length} orders</span></span><span class="money">${sum}</span></summary>
${renderTable(all, action)}</details>
`;
  });
  return html`${each}${others.length === 0 ? NOTHING : renderTable(others, action)}`;
}

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
    }${details}</span>${
      id === null
        ? NOTHING
        : html`<span class="hint"> · <a class="hint" href="${action}?ask=${id}" aria-label="Ask about ${name}">Ask</a></span>`
    }</td><td class="money">${amount}</td></tr>
`,
  );
  return html`<div class="scroll"><table>
<thead><tr><th scope="col">What</th><th scope="col" class="money">Amount</th></tr></thead>
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
    return html`<h2>${totals.length === 1 ? 'Balance' : `Balance in ${currency}`}</h2>
<dl class="sums">${facts.map(([name, amount]) => html`<dt>${name}</dt><dd>${formatAmount(amount, currency)}</dd>\n`)}<dt class="sum">Closing balance</dt><dd class="sum">${formatAmount(closing, currency)}</dd>
</dl>
`;
  });
  return html`${blocks}${why}`;
}

/** Says when the statement was made, and how it can be verified later. */
export function renderProof({ ledgerSeq, ledgerHash, createdAt }: StatementFacts): Html {
  const hash = ledgerHash?.toString('hex') ?? 'none';
  return html`<p class="seal">Created on ${timeText(createdAt)}. What changed later is in the opening balance of a later statement. The seal of the ${ledgerSeq} ledger entries behind it proves later that none of them was changed: <code>${hash}</code></p>`;
}
