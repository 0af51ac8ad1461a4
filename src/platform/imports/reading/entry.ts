import { cleanCell } from './cells.ts';
import { type NumberCell, readNumber } from './numbers.ts';
import type { Plan } from './plan.ts';
import type { Row } from './rows.ts';
import { readTime, type TimeCell } from './times.ts';

const MOST_READ = 2_000;
const NUMBERS = new Map<string, NumberCell | undefined>();
const TIMES = new Map<string, TimeCell | undefined>();

/** The same cells occur again and again, and each is read under every choice of every doubt. */
function readOnce<Read>(known: Map<string, Read>, text: string, read: (text: string) => Read): Read {
  const found = known.get(text);
  if (found !== undefined) return found;
  const cell = read(text);
  if (known.size >= MOST_READ) known.clear();
  known.set(text, cell);
  return cell;
}

/** The rows of one record. What their cells are is read once, whatever they turn out to mean. */
export class Entry {
  readonly lines: number[] = [];
  readonly rows: string[][] = [];

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
    return readOnce(NUMBERS, text, readNumber);
  }

  time(text: string): TimeCell | undefined {
    return readOnce(TIMES, text, readTime);
  }
}
