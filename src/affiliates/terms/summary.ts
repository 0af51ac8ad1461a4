import { getAmountMinor } from '../../analytics/pricing/rules.ts';
import { formatRoundMoney } from '../../kit/values/format.ts';
import type { AmountsByCurrency, RateTerms, RuleCondition, Terms } from '../../workflow/terms/terms.shapes.ts';

/** The rules and the values of a list that a summary spells out. */
const SHOWN_RULES = 5;
const SHOWN_VALUES = 3;

const join = (parts: readonly string[], last: 'and' | 'or'): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} ${last} ${parts.at(-1)}`;

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** "$5 or €4.50" */
const writeAmounts = (amounts: AmountsByCurrency): string =>
  join(
    Object.keys(amounts).map((currency) => formatRoundMoney(getAmountMinor(amounts, currency) ?? 0, currency)),
    'or',
  );

function writeValues(values: readonly string[]): string {
  const more = values.length - SHOWN_VALUES;
  const shownValues = more > 0 ? [...values.slice(0, SHOWN_VALUES), `${more} more`] : values;
  return join(shownValues, 'or');
}

const writeRate = ({ percent, flat = {}, per = 'order' }: RateTerms): string =>
  percent === undefined ? `${writeAmounts(flat)} an ${per}` : `${percent}%`;

function writePayments({ from = 1, to }: NonNullable<RuleCondition['payment']>): string {
  if (to === undefined) return `from payment ${from} on`;
  if (from === to) return `on payment ${from}`;
  return from === 1 ? `on the first ${to} payments` : `on payments ${from} to ${to}`;
}

function writeVolume({ per, orders_from, revenue_from = {} }: NonNullable<RuleCondition['volume']>): string {
  const threshold = orders_from === undefined ? writeAmounts(revenue_from) : plural(orders_from, 'order');
  return per === 'month' ? `after ${threshold} in a month` : `after ${threshold}`;
}

const KINDS = {
  once: 'one-time orders',
  first: 'first orders of subscriptions',
  renewal: 'renewals',
  upgrade: 'changes of plan',
  resubscribe: 'resubscriptions',
} as const;
const BY = { code: 'a code', click: 'a click', customer: 'a customer whom the creator brought' } as const;

/** Each condition as a phrase, in the order in which a reader asks: of what, from whom, where, when. */
function writeConditions(when: RuleCondition): string[] {
  const { placed } = when;
  const saleState = when.on_sale ? 'for items on sale' : 'for items that are not on sale';
  const phrases = [
    when.product && `for ${writeValues(when.product)}`,
    when.category && `in ${writeValues(when.category)}`,
    when.on_sale === undefined ? undefined : saleState,
    when.quantity_from && `from ${plural(when.quantity_from, 'item')} on`,
    when.kind &&
      `for ${join(
        when.kind.map((kind) => KINDS[kind]),
        'and',
      )}`,
    when.customer && `for ${when.customer} customers`,
    when.country && `in ${writeValues(when.country)}`,
    when.by && `by ${BY[when.by]}`,
    when.payment && writePayments(when.payment),
    when.amount_from && `from ${writeAmounts(when.amount_from)} on`,
    placed?.from && `from ${placed.from}`,
    placed?.to && `before ${placed.to}`,
    when.volume && writeVolume(when.volume),
  ];
  return phrases.filter((phrase) => typeof phrase === 'string');
}

function writeRule({ name, when, rate }: Terms['rules'][number]): string {
  const rateText = rate.percent === 0 ? 'nothing' : writeRate(rate);
  return [rateText, ...writeConditions(when), `(${name})`].join(' ');
}

function writeRules(rules: Terms['rules']): string[] {
  const more = rules.length - SHOWN_RULES;
  const ruleTexts = rules.slice(0, SHOWN_RULES).map(writeRule);
  return more > 0 ? [...ruleTexts, `${plural(more, 'more rule')}`] : ruleTexts;
}

function writeCover({ covers, months, payments }: Terms): string[] {
  if (covers === 'order') return [];
  const orders = covers === 'subscription' ? 'renewals of the subscription' : 'all later orders of the customer';
  const limits = [
    months === null ? [] : [`for ${plural(months, 'month')}`],
    payments === null ? [] : [`up to ${plural(payments, 'payment')} in all`],
  ].flat();
  return [[`also on ${orders}`, ...limits].join(' ')];
}

function writeLimits({ caps, budget }: Terms): string[] {
  const most = [
    caps?.order && `${writeAmounts(caps.order)} an order`,
    caps?.customer && `${writeAmounts(caps.customer)} a customer`,
    caps?.month && `${writeAmounts(caps.month)} a month`,
  ].filter((phrase) => typeof phrase === 'string');
  const total = budget && `${writeAmounts(budget.amount)}${budget.per === 'month' ? ' a month' : ''}`;
  return [
    ...(most.length > 0 ? [`at most ${join(most, 'and')}`] : []),
    ...(total ? [`within a budget of ${total} for all`] : []),
  ];
}

/** The deal in a sentence: "10% of each order; 15% for SERUM-30 on the first 3 payments (Serums); at most $50 an order." */
export function summarizeTerms(terms: Terms): string {
  const { rate, rules } = terms;
  const base = rate.percent === undefined ? writeRate(rate) : `${rate.percent}% of each order`;
  return `${[base, ...writeRules(rules), ...writeCover(terms), ...writeLimits(terms)].join('; ')}.`;
}
