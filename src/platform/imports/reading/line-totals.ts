import { cleanCell } from './cells.ts';
import type { Assignment } from './columns.ts';
import { foldWords } from './fold.ts';
import { type Decimal, readNumber } from './numbers.ts';
import type { Row } from './rows.ts';

const QUANTITY =
  /^(?:qty|quantity|quantities|menge|anzahl|stuck|stk|stuckzahl|quantite|qte|cantidad|cant|quantita|aantal|quantidade|qtd|ilosc|antal|antall|pcs|pieces|units)$/;
/** A header of how many pieces a line is about. */
export const isQuantity = (header: string): boolean => foldWords(header).some((word) => QUANTITY.test(word));

/** Prices of one piece, for whose product any of the other amounts is looked through. */
const PRICE = /^(?:price|rate|cost|preis|einzelpreis|stuckpreis|prix|precio|prezzo|prijs|preco|cena|pris|unit)$/;
const MOST_TOTALS = 8;

/** Columns of a quantity, the price of one, and what both make. */
interface Triple {
  quantity: number;
  price: number;
  total: number;
}

const listReadings = (text: string): Decimal[] => {
  const number = readNumber(text);
  return number ? [number.value, ...(number.open ? [number.open.asDecimal] : [])] : [];
};

const isProduct = (a: Decimal, b: Decimal, product: Decimal): boolean => {
  const toInteger = ({ digits, isNegative }: Decimal) => (isNegative ? -BigInt(digits) : BigInt(digits));
  const scale = a.scale + b.scale;
  const [left, right] = [toInteger(a) * toInteger(b), toInteger(product)];
  const shift = BigInt(10) ** BigInt(Math.abs(scale - product.scale));
  return scale > product.scale ? left === right * shift : left * shift === right;
};

const PLAIN = /^\d{1,6}(?:\.\d{1,2})?$/;

/** True if a row's cells make the product, false if they do not; undefined of a row without any of them. */
function holds({ quantity, price, total }: Triple, cells: readonly string[]): boolean | undefined {
  const texts = [quantity, price, total].map((at) => cleanCell(cells[at] ?? ''));
  if (texts.every((text) => text === '')) return undefined;
  if (texts.every((text) => PLAIN.test(text))) {
    const [count = 0, each = 0, all = 0] = texts.map((text) => Math.round(Number(text) * 100));
    return count * each === all * 100;
  }
  const [counts = [], prices = [], totals = []] = texts.map(listReadings);
  // A mark that is open in the one is open in the other: each reading is tried with its like.
  return counts.some((count) =>
    prices.some((each, i) =>
      totals.some((all, j) => (i === j || prices.length !== totals.length) && isProduct(count, each, all)),
    ),
  );
}

export interface LineTotal {
  total: number;
  /** The columns of prices that it is made of. */
  prices: readonly number[];
}

/** Finds a column whose cells are quantity times price in every row, and in some of more than one piece. */
export class LineTotals {
  #triples: Triple[];
  /** Rows in which a total is another amount than the price. */
  readonly #told = new Map<Triple, number>();

  constructor(headers: readonly string[], isAmounts: (position: number) => boolean) {
    const find = (pattern: RegExp) =>
      headers.flatMap((header, at) =>
        foldWords(header).some((word) => pattern.test(word)) && isAmounts(at) ? [at] : [],
      );
    const [quantity, ...otherQuantities] = find(QUANTITY);
    const amounts = headers.flatMap((_, at) => (isAmounts(at) ? [at] : []));
    const prices = find(PRICE).filter((at) => at !== quantity);
    this.#triples =
      quantity === undefined || otherQuantities.length > 0
        ? []
        : prices.flatMap((price) =>
            amounts
              .filter((total) => total !== price && total !== quantity)
              .slice(0, MOST_TOTALS)
              .map((total) => ({ quantity, price, total })),
          );
  }

  take({ cells }: Row): void {
    if (this.#triples.length === 0) return;
    this.#triples = this.#triples.filter((triple) => {
      const isProduct = holds(triple, cells);
      if (isProduct && cleanCell(cells[triple.price] ?? '') !== cleanCell(cells[triple.total] ?? ''))
        this.#told.set(triple, (this.#told.get(triple) ?? 0) + 1);
      return isProduct !== false;
    });
  }

  /** The column of line totals, if all rows prove one and only one. */
  find(): LineTotal | undefined {
    const proved = this.#triples.filter((triple) => this.#told.has(triple));
    const [only, ...others] = new Set(proved.map(({ total }) => total));
    if (only === undefined || others.length > 0) return undefined;
    return { total: only, prices: proved.map(({ price }) => price) };
  }
}

/** Amounts that an order may have once, on each of its lines: nothing proves that they are added, too. */
const OF_ORDERS = ['shipping', 'taxes', 'fees', 'refunded', 'refunded_tax', 'adjusted_total'] as const;
const NONE_OTHER = ['subtotal', 'total'] as const;

/**
 * Takes proved line totals as the amounts, if nothing but their prices may be meant. Beside a discount they are what it is
 * to be taken from. Returns the column whose cells add up to an order.
 */
export function assignLineTotals(assignment: Assignment, found: LineTotal | undefined): number | undefined {
  const amount = assignment.get('amount');
  if (!found || amount?.confidence !== 'asked' || !amount.positions.includes(found.total)) return undefined;
  const isOpen = amount.positions.some((at) => at !== found.total && !found.prices.includes(at));
  if (isOpen || NONE_OTHER.some((field) => assignment.has(field))) return undefined;
  const settled = { type: 'money', positions: [found.total], by: 'values', confidence: 'proved' } as const;
  if (assignment.has('discount')) {
    assignment.delete('amount');
    assignment.set('subtotal', { field: 'subtotal', ...settled });
    return undefined;
  }
  assignment.set('amount', { field: 'amount', ...settled });
  return OF_ORDERS.some((field) => assignment.has(field)) ? undefined : found.total;
}
