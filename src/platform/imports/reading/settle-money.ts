import { dayIn } from '../../../kit/values/time-zone.ts';
import { agrees, isCurrency, readHeaderSign, readSign } from './currencies.ts';
import { BASIC, type Choice, type Doubt, type Known, NO_LINES, type Settling, toLines } from './doubts.ts';
import { foldWords } from './fold.ts';
import { listGoods } from './judge.ts';
import { USES } from './money.ts';
import type { Plan } from './plan.ts';
import type { LineList } from './profile.ts';
import type { Goods } from './shapes.ts';

function listCurrencies({ request }: Known, from: readonly string[]): string[] {
  const stores = request.brand.stores.map(({ currency }) => currency);
  const all = [request.brand.currency, ...stores, ...from].filter(isCurrency);
  return [...new Set(all)].slice(0, 5);
}

const CURRENCIES = ['USD', 'EUR', 'GBP', 'CAD', 'AUD'] as const;

/** The currency that the header of the amounts names. */
export function findHeaderSign({ known, columns }: Pick<Settling, 'known' | 'columns'>): ReturnType<typeof readSign> {
  const [position] = BASIC.flatMap((field) => columns[field] ?? []);
  return readHeaderSign(known.headers[position ?? -1] ?? '');
}

/** The currency of the connected stores that a file may be of, if they have one. */
function findStoreCurrency({ request, format }: Known): string | undefined {
  const isCompared = request.of === 'reconciliation';
  if (format?.platform === undefined && !isCompared) return undefined;
  const stores = request.brand.stores.filter(({ platform }) => isCompared || platform === format?.platform);
  const [only, ...others] = new Set(stores.map(({ currency }) => currency));
  return others.length === 0 ? only : undefined;
}

/** The currency of amounts that say none: said, or a connected store's, or asked if any record needs it. */
export function settleCurrency(settling: Settling, symbols: Readonly<Record<string, string>>): string | null {
  const { known, mapping, doubts } = settling;
  const said = mapping.constants?.currency?.toUpperCase();
  if (said !== undefined && isCurrency(said)) return said;
  const ofHeader = findHeaderSign(settling);
  if (ofHeader && 'currency' in ofHeader) return ofHeader.currency;
  if (ofHeader && symbols[ofHeader.sign] !== undefined) return symbols[ofHeader.sign] ?? null;
  const ofStore = findStoreCurrency(known);
  if (ofStore !== undefined) return ofStore;
  const choices = listCurrencies(known, CURRENCIES).map((currency) => ({
    mapping: { constants: { currency } },
    label: currency,
  }));
  doubts.push({
    code: 'currency_missing',
    field: 'currency',
    message: 'Which currency are the amounts in?',
    ...NO_LINES,
    choices,
    uses: USES.currency,
  });
  return choices[0]?.label ?? null;
}

function askSign(sign: string, options: readonly string[], list: LineList, { request }: Known): Doubt {
  const brand = request.brand.currency;
  const orderedOptions = options.includes(brand) ? [brand, ...options.filter((option) => option !== brand)] : options;
  const choices = orderedOptions
    .slice(0, 5)
    .map((currency) => ({ mapping: { symbols: { [sign]: currency } }, label: `${sign} is ${currency}` }));
  const message = `Which currency does ${sign} mean?`;
  return { code: 'currency_sign', field: 'currency', message, ...toLines(list), choices };
}

/** A file whose only currency is a sign that several share says no currency: the answer is that of the whole file. */
const askCurrency = (asked: Doubt): Doubt => ({
  ...asked,
  code: 'currency_missing',
  choices: asked.choices.flatMap(({ mapping }) =>
    Object.values(mapping.symbols ?? {}).map((currency) => ({ mapping: { constants: { currency } }, label: currency })),
  ),
});

/** Signs beside amounts, or in their header, that several currencies share become questions, unless a column says more. */
export function settleSymbols(settling: Settling): Record<string, string> {
  const { known, mapping, columns, doubts } = settling;
  // A mapping that was stored before currencies were checked may name one that is none.
  const saidSymbols = Object.entries(mapping.symbols ?? {}).filter(([, currency]) => isCurrency(currency));
  const symbols: Record<string, string> = Object.fromEntries(saidSymbols);
  const isSigned = known.format?.hasSignedCurrency === true;
  const said = mapping.constants?.currency?.toUpperCase();
  const ofStore = known.format?.platform === undefined ? undefined : findStoreCurrency(known);
  const ask = (meaning: ReturnType<typeof readSign>, list: LineList) => {
    if (!meaning || 'currency' in meaning || symbols[meaning.sign] !== undefined) return;
    // The store that a tool's file is of says which of its currencies a sign means.
    const isSaid = isSigned && said !== undefined && agrees(meaning.sign, said);
    const settled = isSaid ? said : meaning.options.find((currency) => currency === ofStore);
    if (settled !== undefined) {
      symbols[meaning.sign] = settled;
      return;
    }
    const asked = askSign(meaning.sign, meaning.options, list, known);
    const doubt = isSigned && said === undefined ? askCurrency(asked) : asked;
    doubts.push(doubt);
    symbols[meaning.sign] = asked.choices[0]?.mapping.symbols?.[meaning.sign] ?? known.request.brand.currency;
  };
  for (const [value, list] of known.profiles.get(columns.currency ?? -1)?.values ?? []) ask(readSign(value), list);
  const countFilled = (position: number | undefined) => known.profiles.get(position ?? -1)?.filled ?? 0;
  const amounts = Math.max(...BASIC.map((field) => countFilled(columns[field])));
  // An amount without a currency beside it has its sign alone.
  if (columns.currency !== undefined && countFilled(columns.currency) >= amounts) return symbols;
  for (const position of BASIC.flatMap((field) => columns[field] ?? []))
    for (const [symbol, list] of known.profiles.get(position)?.money.symbols ?? []) ask(readSign(symbol), list);
  if (mapping.constants?.currency === undefined) ask(findHeaderSign(settling), { count: 0, first: [] });
  return symbols;
}

const GOODS_LABELS: Readonly<Record<Goods, string>> = {
  amount: 'the amount, unchanged',
  subtotal: 'the subtotal',
  subtotal_less_discount: 'the subtotal less the discount',
  total_less_rest: 'the total less shipping, taxes and fees',
  total: 'the total, unchanged',
};

function askGoods(choices: Choice[]): Doubt {
  const message = 'Which amount are the goods, without tax and shipping?';
  return { code: 'amount_meaning', field: 'amount', message, ...NO_LINES, choices };
}

/** Only a total tells the place of tax; without one it becomes a question. */
function askTax(doubts: Doubt[]): void {
  doubts.push({
    ...askGoods([
      { mapping: { tax: 'on_top' }, label: 'The goods are without tax' },
      { mapping: { tax: 'included' }, label: 'The tax is in the goods' },
    ]),
    message: 'Are the goods with or without the tax beside them?',
    field: 'taxes',
    uses: USES.tax,
  });
}

export function settleGoods({ known, mapping, columns, doubts }: Settling): Goods | null {
  const { format } = known;
  const candidates = listGoods({ columns });
  const has = (field: string) => columns[field] !== undefined;
  const isCompared = known.request.of === 'reconciliation';
  const namedGoods = isCompared && mapping.columns?.amount ? 'amount' : format?.goods;
  const settledGoods =
    mapping.goods ?? (namedGoods !== undefined && candidates.includes(namedGoods) ? namedGoods : undefined);
  const needsTax = has('taxes') && mapping.tax === undefined && !isCompared;
  if (settledGoods !== undefined) {
    const isRest = settledGoods === 'total_less_rest' && format?.goods !== settledGoods && has('shipping');
    if (needsTax && (isRest || (!has('total') && settledGoods !== 'total' && format?.goods !== settledGoods)))
      askTax(doubts);
    return settledGoods;
  }
  const [first] = candidates;
  if (first === undefined) return null;
  // An amount that is compared is not written: a wrong one shows as differences of all orders.
  if (isCompared && candidates.length === 1) return first;
  const withIdentity = candidates.filter((goods) => goods !== 'total' && goods !== 'total_less_rest');
  const isAlone =
    candidates.length === 1 && (first === 'subtotal' || (first === 'amount' && !has('taxes') && !has('shipping')));
  if (isAlone && needsTax) askTax(doubts);
  if (isAlone) return first;
  // A total without columns for both shipping and taxes may have either in it.
  const isComplete = has('shipping') && has('taxes') && !format?.asksGoods;
  if (candidates.length === 1 && first === 'total_less_rest' && isComplete) {
    if (needsTax) askTax(doubts);
    return first;
  }
  const shownGoods = has('total') && withIdentity.length > 0 ? withIdentity : candidates;
  const choices = known.goodsChoices ?? shownGoods.map(chooseGoods);
  const isProved = known.isGoodsProved && choices.length === 1;
  if (!isProved) doubts.push(askGoods(choices));
  if (!has('total') && needsTax) askTax(doubts);
  return choices[0]?.mapping.goods ?? first;
}

const isAdded = ({ known, columns }: Settling): boolean =>
  known.addedColumn !== undefined && known.addedColumn === columns.amount;

/** Amounts on several lines of an order are the order's again, unless it is said or proved that they are parts of it. */
export function settleRepeats(settling: Settling): Plan['repeats'] {
  const said = settling.mapping.constants?.repeated_amounts;
  return said === 'lines' || (said === undefined && isAdded(settling)) ? 'lines' : 'order';
}

/** Lines of an order that each have an amount: in a file of items it is the line's, in others the order's again. */
export function askRepeats(settling: Settling, goods: Goods | null): void {
  const { known, mapping, doubts } = settling;
  const isTried = goods === 'amount' || goods === 'subtotal' || goods === 'total';
  const isSettled = mapping.constants?.repeated_amounts !== undefined || isAdded(settling);
  if (known.format || !isTried || isSettled) return;
  const choose = (repeated_amounts: 'order' | 'lines', label: string): Choice => ({
    mapping: { constants: { repeated_amounts } },
    label,
  });
  doubts.push({
    code: 'amount_meaning',
    field: 'repeated_amounts',
    message: 'Several lines of one order have an amount. Is it the whole order’s, or that line’s part?',
    ...NO_LINES,
    choices: [choose('order', 'The whole order’s: it counts once'), choose('lines', 'The line’s part: they are added')],
    uses: USES.repeatsAmount,
  });
}

/** A day of a refund says that something was given back, but not how much. */
export function askRefundTimes({ mapping, columns, doubts }: Settling): void {
  if (columns.refunded_at === undefined || mapping.constants?.refunds_without_amount !== undefined) return;
  const choose = (refunds_without_amount: 'whole' | 'none', label: string): Choice => ({
    mapping: { constants: { refunds_without_amount } },
    label,
  });
  doubts.push({
    code: 'amount_meaning',
    field: 'refunded',
    message: 'Some orders say when they were refunded, but not how much. Were they refunded in full?',
    ...NO_LINES,
    choices: [choose('whole', 'They were refunded in full'), choose('none', 'They count as if nothing was refunded')],
    uses: USES.refundTime,
  });
}

/** Net sales of some reports are what is left after refunds, and those of others are not. */
const NET = /^(?:net|nets|netto|neto|netos|neta|netas|nette|nettes|netti|nette|liquid[oa]s?)$/;

export function askNetRefunds({ known, mapping, columns, doubts }: Settling): void {
  const { amount, refunded, taxes } = columns;
  if (known.format || amount === undefined || refunded === undefined || taxes !== undefined) return;
  const header = known.headers[amount] ?? '';
  if (mapping.constants?.net_of_refunds !== undefined || !foldWords(header).some((word) => NET.test(word))) return;
  const choose = (net_of_refunds: 'yes' | 'no', label: string): Choice => ({
    mapping: { constants: { net_of_refunds } },
    label,
  });
  doubts.push({
    code: 'amount_meaning',
    field: 'net_of_refunds',
    message: `Are refunds already taken off “${header}”?`,
    ...NO_LINES,
    choices: [choose('yes', 'Yes: it is what is left after refunds'), choose('no', 'No: refunds are still in it')],
    uses: USES.netOfRefunds,
  });
}

export const chooseGoods = (goods: Goods): Choice => ({
  mapping: { goods },
  label: `Goods are ${GOODS_LABELS[goods]}`,
});

const TAXES = { on_top: 'the tax is not in them', included: 'the tax is in them' } as const;

/** All meanings, for a file in which no identity holds: then nothing shows where the tax is, either. */
export function listAllGoods({ columns }: Pick<Plan, 'columns'>): Choice[] {
  const places = columns.taxes === undefined ? (['on_top'] as const) : (['on_top', 'included'] as const);
  return listGoods({ columns }).flatMap((goods) =>
    places.map((tax) => {
      const label = `Goods are ${GOODS_LABELS[goods]}`;
      return { mapping: { goods, tax }, label: places.length === 1 ? label : `${label}; ${TAXES[tax]}` };
    }),
  );
}

export function askShares({ mapping, columns, doubts }: Settling): void {
  const has = (field: string) => columns[field] !== undefined;
  if (mapping.tax_in_prices === undefined && has('taxes') && (has('shipping') || has('fees')))
    doubts.push({
      code: 'tax_in_prices',
      field: 'taxes',
      message: 'Prices include tax, and shipping was paid. Whose tax is it?',
      ...NO_LINES,
      choices: [
        { mapping: { tax_in_prices: 'proportional' }, label: 'Goods and shipping share the tax by their amounts' },
        { mapping: { tax_in_prices: 'goods_only' }, label: 'All of the tax is of the goods' },
      ],
      uses: USES.taxInPrices,
    });
  if (mapping.partial_refunds === undefined && (has('refunded') || has('adjusted_total')))
    doubts.push({
      code: 'partial_refunds',
      field: 'refunded',
      message: 'A part of some orders was refunded, with tax or shipping in it. How much of it is goods?',
      ...NO_LINES,
      choices: [
        { mapping: { partial_refunds: 'proportional' }, label: 'The share that goods have of the order' },
        { mapping: { partial_refunds: 'goods_first' }, label: 'All of it, up to the goods' },
      ],
      uses: USES.partialRefunds,
    });
  if (has('adjusted_total') && mapping.constants?.adjusted_total_zero === undefined)
    doubts.push({
      code: 'partial_refunds',
      field: 'adjusted_total',
      message: 'The adjusted total of some orders is 0.00. Were they refunded in full, or not adjusted?',
      ...NO_LINES,
      choices: [
        { mapping: { constants: { adjusted_total_zero: 'unadjusted' } }, label: 'They were not adjusted' },
        { mapping: { constants: { adjusted_total_zero: 'refunded' } }, label: 'They were refunded in full' },
      ],
      uses: USES.adjusted,
    });
}

export function askProof({ known, mapping, columns, doubts }: Settling): void {
  if (!known.format?.asksProof || columns.paid_at !== undefined || mapping.constants?.paid_at !== undefined) return;
  const day = dayIn(known.request.brand.timeZone, known.request.now);
  doubts.push({
    code: 'proof',
    field: 'paid_at',
    message: 'This file is a list of what to pay, not a proof that it was paid. Were these payments made, and when?',
    ...NO_LINES,
    choices: [{ mapping: { constants: { paid_at: day } }, label: `They were paid on ${day}` }],
  });
}
