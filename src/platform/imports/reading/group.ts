import { whole } from '../../../kit/values/text.ts';
import { cleanCell, isNoValue, isPlaceholder } from './cells.ts';
import { Entry } from './entry.ts';
import { hashKey, KeyTable } from './keys.ts';
import { FIELDS, isOrders, type Kind } from './kinds.ts';
import { isNoHandle, readEmail, readHandle } from './people.ts';
import { isBack, type Returns } from './returns.ts';
import type { Row } from './rows.ts';

export interface KeyColumns {
  of: Kind;
  /** Columns of the identity, the strongest first; for orders the id and the number. */
  positions: readonly (number | undefined)[];
  /** Columns that only the first row of a record needs to fill. */
  ownPositions: readonly number[];
  /** A payment that came back is a further row of it. */
  returns?: Returns | undefined;
}

const ITEM_FIELDS = new Set(['sku', 'title', 'quantity', 'line_amount']);

/** The columns by which rows are found to be one record. */
export function findKeys(of: Kind, columns: Readonly<Record<string, number>>, damaged: readonly number[]): KeyColumns {
  const at = (field: string) => {
    const position = columns[field];
    return position === undefined || damaged.includes(position) ? undefined : position;
  };
  const own = Object.keys(FIELDS[of]).filter((field) => !ITEM_FIELDS.has(field));
  const ownPositions = own.flatMap((field) => columns[field] ?? []);
  if (isOrders(of)) return { of, positions: [at('order_id'), at('order_number')], ownPositions };
  if (of === 'commissions' || of === 'payouts') return { of, positions: [at('reference')], ownPositions };
  return { of, positions: [at('email'), at('instagram'), at('tiktok')], ownPositions };
}

interface RowKeys {
  id: string;
  number: string;
}

function readKeys({ of, positions, returns }: KeyColumns, { cells, isPlain }: Row): RowKeys {
  const text = (position: number | undefined) => {
    const cell = position === undefined ? '' : cleanCell(cells[position] ?? '', isPlain);
    return isPlaceholder(cell) || isNoValue(cell) ? '' : cell;
  };
  if (returns && returns.of >= 0 && isBack(returns, cells)) return { id: text(returns.of), number: '' };
  if (of !== 'roster' && of !== 'payment_details') return { id: text(positions[0]), number: text(positions[1]) };
  const [email, ...handles] = positions.map(text);
  const address = email === undefined || email === '' ? '' : (readEmail(email) ?? email);
  const handle = handles.find((each) => each !== undefined && each !== '' && !isNoHandle(each)) ?? '';
  return { id: address === '' ? (readHandle(handle) ?? handle) : address, number: '' };
}

const numberKey = (number: string) => `#${number.replace(/^#/, '').toLowerCase()}`;

/** Finds which rows are one record. A first pass counts the rows of each; a second brings them together. */
export class Grouper {
  readonly #columns: KeyColumns;
  readonly #counts = new KeyTable();
  readonly #open = new Map<string, Entry>();
  #previous = '';

  constructor(columns: KeyColumns) {
    this.#columns = columns;
  }

  /** Rows without an identity and an order's own cells are further lines of the order above. */
  #isContinued(cells: readonly string[]): boolean {
    const isBare =
      isOrders(this.#columns.of) && this.#columns.ownPositions.every((at) => (cells[at] ?? '').trim() === '');
    return isBare && this.#previous !== '';
  }

  #keyFor(row: Row, { id, number }: RowKeys, isCounting: boolean): string {
    if (row.isHeading) return '';
    if (id === '' && number === '') return this.#isContinued(row.cells) ? this.#previous : '';
    if (number === '') return id;
    const key = numberKey(number);
    if (isCounting || !this.#counts.isShared(hashKey(key))) return key;
    // Several ids have this number: an id says which order it is, a row without one follows the row above.
    if (id !== '') return `${key} ${id}`;
    return this.#previous.startsWith(`${key} `) ? this.#previous : `${key} `;
  }

  count(row: Row): void {
    if (row.isNote) return;
    const keys = readKeys(this.#columns, row);
    const { id, number } = keys;
    const key = this.#keyFor(row, keys, true);
    this.#previous = key;
    if (key !== '') this.#counts.add(hashKey(key), number === '' || id === '' ? 0 : hashKey(id));
  }

  /** Ends the first pass. */
  rewind(): void {
    this.#previous = '';
    this.#open.clear();
  }

  /** The record that a row completes; undefined while others of its rows are still to come. */
  take(row: Row): Entry | undefined {
    if (row.isNote) return new Entry(row);
    const key = this.#keyFor(row, readKeys(this.#columns, row), false);
    this.#previous = key;
    if (key === '') return new Entry(row);
    const openEntry = this.#open.get(key);
    openEntry?.add(row);
    const bare = key.replace(/^(#\S*) .*$/, '$1');
    const isShared = bare !== key && this.#counts.isShared(hashKey(bare));
    const rows = isShared ? Number.POSITIVE_INFINITY : this.#counts.count(hashKey(key));
    const entry = openEntry ?? new Entry(row);
    if (entry.lines.length >= rows) {
      this.#open.delete(key);
      return entry;
    }
    // A waiting row must not keep the whole chunk that its cells were cut from.
    if (!openEntry) this.#open.set(key, new Entry({ ...row, cells: row.cells.map(whole) }));
    return undefined;
  }

  /** The records that still wait for rows at the end. */
  rest(): Entry[] {
    const entries = [...this.#open.values()];
    this.rewind();
    return entries;
  }
}
