import type { Answer } from '../call/call.ts';
import type { ReadBody } from '../kit/declared.ts';

export type Terms = NonNullable<Answer<'get_group'>['data']['terms']>;
type RateTerms = Terms['rate'];
type When = Terms['rules'][number]['when'];
export type ConditionName = keyof When;
type Amounts = Readonly<Record<string, number>>;

/** Terms as the editor holds them: with texts as they are typed, which the API checks. */
export interface Draft {
  rate: RateDraft;
  rules: readonly RuleDraft[];
  covers: Terms['covers'];
  months: string;
  payments: string;
  caps: Readonly<Record<CapName, readonly AmountDraft[]>>;
  budgetPer: 'none' | 'month' | 'ever';
  budget: readonly AmountDraft[];
}

export interface AmountDraft {
  key: string;
  currency: string;
  amount: string;
}

export type RateKind = 'percent' | 'order' | 'item';

export interface RateDraft {
  kind: RateKind;
  percent: string;
  amounts: readonly AmountDraft[];
}

export interface RuleDraft {
  key: string;
  name: string;
  conditions: readonly ConditionDraft[];
  rate: RateDraft;
}

/** One condition. Its kind says which of its parts count. */
export interface ConditionDraft {
  name: ConditionName;
  text: string;
  from: string;
  to: string;
  per: 'month' | 'ever';
  counts: 'orders' | 'revenue';
  choices: readonly string[];
  amounts: readonly AmountDraft[];
}

export const CAPS = ['order', 'customer', 'month'] as const;
export type CapName = (typeof CAPS)[number];

type InputKind =
  /** Values, one on a line. */
  'lines' | 'codes' | 'yes_or_no' | 'number' | 'choice' | 'choices' | 'amounts' | 'numbers' | 'days' | 'volume';

export interface ConditionKind {
  label: string;
  kind: InputKind;
  hint?: string;
  options?: Readonly<Record<string, string>>;
}

const KINDS: Readonly<Record<NonNullable<When['kind']>[number], string>> = {
  once: 'One-time order',
  first: 'First of a subscription',
  renewal: 'Renewal',
  upgrade: 'Change of plan',
  resubscribe: 'Subscribed again',
};

/** The conditions that a rule can have, in the order in which a person looks for them. */
export const CONDITIONS: Readonly<Record<ConditionName, ConditionKind>> = {
  product: { label: 'Products', kind: 'lines', hint: 'SKUs or ids, one per line. Any of them.' },
  category: { label: 'Categories', kind: 'lines', hint: 'Categories or collections, one per line. Any of them.' },
  on_sale: { label: 'On sale', kind: 'yes_or_no' },
  quantity_from: { label: 'Items of a line, at least', kind: 'number' },
  customer: { label: 'Customer', kind: 'choice', options: { new: 'New', returning: 'Returning' } },
  country: { label: 'Countries', kind: 'codes', hint: 'Two-letter codes, such as DE, AT. Any of them.' },
  kind: { label: 'Kind of order', kind: 'choices', options: KINDS },
  by: {
    label: 'Won by',
    kind: 'choice',
    options: { code: 'A code', click: 'A click', customer: 'The customer, whom the creator brought' },
  },
  payment: { label: 'Payments of the customer', kind: 'numbers', hint: 'Counted from 1.' },
  amount_from: { label: 'Order of at least', kind: 'amounts' },
  placed: { label: 'Ordered', kind: 'days', hint: 'Days of your brand’s time zone. The last day does not count.' },
  volume: { label: 'After so much by the creator', kind: 'volume', hint: 'Paid orders before this one.' },
};

export const CONDITION_NAMES: readonly ConditionName[] = [
  ...(['product', 'category', 'on_sale', 'quantity_from', 'customer', 'country'] as const),
  ...(['kind', 'by', 'payment', 'amount_from', 'placed', 'volume'] as const),
];

const newKey = () => crypto.randomUUID();

export const newAmount = (currency: string, amount = ''): AmountDraft => ({ key: newKey(), currency, amount });

const toAmounts = (amounts: Amounts | undefined): AmountDraft[] =>
  Object.entries(amounts ?? {}).map(([currency, amount]) => newAmount(currency, String(amount)));

const toRate = ({ percent, flat, per = 'order' }: RateTerms): RateDraft => ({
  kind: flat === undefined ? 'percent' : per,
  percent: percent === undefined ? '' : String(percent),
  amounts: toAmounts(flat),
});

/** A condition without values, for a person to fill in. */
export const newCondition = (name: ConditionName, currency: string): ConditionDraft => {
  const { kind, options = {} } = CONDITIONS[name];
  const [first = ''] = kind === 'yes_or_no' ? ['true'] : kind === 'choice' ? Object.keys(options) : [];
  const amounts = kind === 'amounts' ? [newAmount(currency)] : [];
  return { name, text: first, from: '', to: '', per: 'month', counts: 'orders', choices: [], amounts };
};

function toCondition(name: ConditionName, when: When): ConditionDraft {
  const empty = { ...newCondition(name, ''), amounts: [] };
  const { product, category, country, kind, payment, placed, volume, amount_from } = when;
  const texts = { product: product?.join('\n'), category: category?.join('\n'), country: country?.join(', ') };
  if (name === 'product' || name === 'category' || name === 'country') return { ...empty, text: texts[name] ?? '' };
  if (name === 'kind') return { ...empty, choices: kind ?? [] };
  if (name === 'payment') return { ...empty, from: String(payment?.from ?? ''), to: String(payment?.to ?? '') };
  if (name === 'placed') return { ...empty, from: placed?.from ?? '', to: placed?.to ?? '' };
  if (name === 'amount_from') return { ...empty, amounts: toAmounts(amount_from) };
  if (name !== 'volume') return { ...empty, text: String(when[name] ?? '') };
  const { per = 'month', orders_from: orders, revenue_from: revenue } = volume ?? {};
  const counts = revenue === undefined ? 'orders' : 'revenue';
  return { ...empty, per, counts, text: String(orders ?? ''), amounts: toAmounts(revenue) };
}

export const newRule = (): RuleDraft => ({
  key: newKey(),
  name: '',
  conditions: [],
  rate: { kind: 'percent', percent: '', amounts: [] },
});

/** Terms as texts. */
export function toDraft(terms: Terms): Draft {
  const { caps, budget } = terms;
  return {
    rate: toRate(terms.rate),
    rules: terms.rules.map(({ name, when, rate }) => ({
      key: newKey(),
      name,
      conditions: CONDITION_NAMES.filter((one) => when[one] !== undefined).map((one) => toCondition(one, when)),
      rate: toRate(rate),
    })),
    covers: terms.covers,
    months: String(terms.months ?? ''),
    payments: String(terms.payments ?? ''),
    caps: { order: toAmounts(caps?.order), customer: toAmounts(caps?.customer), month: toAmounts(caps?.month) },
    budgetPer: budget?.per ?? 'none',
    budget: toAmounts(budget?.amount),
  };
}

/** Null for a text that is empty, which the API refuses where it needs a number. */
const readNumber = (text: string): number | null => (text.trim() === '' ? null : Number(text.replace(',', '.')));

const readAmounts = (amounts: readonly AmountDraft[]) =>
  Object.fromEntries(amounts.map(({ currency, amount }) => [currency, readNumber(amount)]));

const readRate = ({ kind, percent, amounts }: RateDraft): ReadBody =>
  kind === 'percent' ? { percent: readNumber(percent) } : { flat: readAmounts(amounts), per: kind };

const readParts = (text: string, separator: RegExp) =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter(Boolean);

/** Without what is empty. */
const readRange = <T>({ from, to }: ConditionDraft, read: (text: string) => T): ReadBody => ({
  ...(from === '' ? {} : { from: read(from) }),
  ...(to === '' ? {} : { to: read(to) }),
});

function readCondition(condition: ConditionDraft): unknown {
  const { name, text, amounts, choices, per, counts } = condition;
  switch (CONDITIONS[name].kind) {
    case 'lines':
      return readParts(text, /\n/);
    case 'codes':
      return readParts(text, /[\s,]+/).map((code) => code.toUpperCase());
    case 'yes_or_no':
      return text === 'true';
    case 'number':
      return readNumber(text);
    case 'choice':
      return text;
    case 'choices':
      return choices;
    case 'amounts':
      return readAmounts(amounts);
    case 'numbers':
      return readRange(condition, readNumber);
    case 'days':
      return readRange(condition, (day) => day);
    case 'volume':
      return counts === 'orders' ? { per, orders_from: readNumber(text) } : { per, revenue_from: readAmounts(amounts) };
  }
}

function readCaps(caps: Draft['caps']): ReadBody | null {
  const limits = CAPS.filter((name) => caps[name].length > 0);
  return limits.length === 0 ? null : Object.fromEntries(limits.map((name) => [name, readAmounts(caps[name])]));
}

/** The terms of a draft, as the API takes them. */
export function readDraft(draft: Draft): ReadBody {
  const { rate, rules, covers, months, payments, caps, budgetPer, budget } = draft;
  return {
    rate: readRate(rate),
    rules: rules.map(({ name, conditions, rate: own }) => ({
      name,
      when: Object.fromEntries(conditions.map((condition) => [condition.name, readCondition(condition)])),
      rate: readRate(own),
    })),
    covers,
    months: covers === 'order' ? null : readNumber(months),
    payments: covers === 'order' ? null : readNumber(payments),
    caps: readCaps(caps),
    budget: budgetPer === 'none' ? null : { per: budgetPer, amount: readAmounts(budget) },
  };
}
