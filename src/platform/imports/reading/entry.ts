import { cleanCell } from './cells.ts';
import { type NumberCell, readNumber } from './numbers.ts';
import type { Plan } from './plan.ts';
import type { Row } from './rows.ts';
import { readTime, type TimeCell } from './times.ts';

/** The rows of one record. What their cells are is read once, whatever they turn out to mean. */
export class Entry {
  readonly lines: number[] = [];
  readonly rows: string[][] = [];
  readonly #numbers = new Map<string, NumberCell | undefined>();
  readonly #times = new Map<string, TimeCell | undefined>();

  constructor({ line, cells }: Row) {
    this.lines.push(line);
    this.rows.push(cells);
  }

  add({ line, cells }: Row): void {
    this.lines.push(line);
    this.rows.push(cells);
  }

  /** One of the rows alone. */
  row(index: number): Entry {
    return new Entry({ line: this.lines[index] ?? 0, cells: this.rows[index] ?? [] });
  }

  merge(other: Entry): void {
    this.lines.push(...other.lines);
    this.rows.push(...other.rows);
  }

  /** The different texts that the rows have in a column. */
  texts(position: number): string[] {
    const [only] = this.rows;
    if (this.rows.length === 1) {
      const text = cleanCell(only?.[position] ?? '');
      return text === '' ? [] : [text];
    }
    return [...new Set(this.rows.map((cells) => cleanCell(cells[position] ?? '')))].filter((text) => text !== '');
  }

  /** The mapping's constant stands in for a field of which the rows say nothing. */
  text({ columns, constants }: Plan, field: string): string {
    const position = columns[field];
    const text = position === undefined ? '' : this.first(position);
    return text === '' ? (constants[field] ?? '') : text;
  }

  first(position: number): string {
    for (const cells of this.rows) {
      const text = cleanCell(cells[position] ?? '');
      if (text !== '') return text;
    }
    return '';
  }

  number(text: string): NumberCell | undefined {
    if (this.#numbers.has(text)) return this.#numbers.get(text);
    const number = readNumber(text);
    this.#numbers.set(text, number);
    return number;
  }

  time(text: string): TimeCell | undefined {
    if (this.#times.has(text)) return this.#times.get(text);
    const time = readTime(text);
    this.#times.set(text, time);
    return time;
  }
}
