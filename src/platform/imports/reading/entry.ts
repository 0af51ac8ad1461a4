import { cleanCell, isPlaceholder } from './cells.ts';
import { type NumberCell, readNumber } from './numbers.ts';
import { isNoHandle } from './people.ts';
import type { Plan } from './plan.ts';
import type { Row } from './rows.ts';
import { readTime, type TimeCell } from './times.ts';

const REMEMBERED = 8;
const HANDLES = new Set(['handle', 'instagram', 'tiktok']);

/** The last cells that were read: a record's cells are read again under every choice of every doubt. */
function remember<Read>(readCell: (text: string) => Read): (text: string) => Read {
  const texts: string[] = [];
  const cells: Read[] = [];
  let next = 0;
  return (text) => {
    const at = texts.indexOf(text);
    const cachedCell = at < 0 ? undefined : cells[at];
    if (cachedCell !== undefined) return cachedCell;
    const cell = readCell(text);
    texts[next] = text;
    cells[next] = cell;
    next = (next + 1) % REMEMBERED;
    return cell;
  };
}

const recallNumber = remember(readNumber);
const recallTime = remember(readTime);

/** The rows of one record. What their cells are is read once, whatever they turn out to mean. */
export class Entry {
  readonly lines: number[] = [];
  readonly rows: string[][] = [];
  /** The statuses of the headings above the rows. */
  readonly sections: string[] = [];
  isHeading = false;
  isNote = false;
  #isPlain = true;

  constructor(row: Row) {
    this.add(row);
  }

  add({ line, cells, isPlain, section, isHeading = false, isNote = false }: Row): void {
    this.lines.push(line);
    this.rows.push(cells);
    if (section !== undefined && !this.sections.includes(section)) this.sections.push(section);
    this.isHeading ||= isHeading;
    this.isNote ||= isNote;
    this.#isPlain &&= isPlain;
  }

  /** One of the rows alone. */
  row(index: number): Entry {
    const row = new Entry({ line: this.lines[index] ?? 0, cells: this.rows[index] ?? [], isPlain: this.#isPlain });
    row.sections.push(...this.sections);
    return row;
  }

  merge(other: Entry): void {
    this.lines.push(...other.lines);
    this.rows.push(...other.rows);
    this.sections.push(...other.sections.filter((section) => !this.sections.includes(section)));
    this.#isPlain &&= other.#isPlain;
  }

  /** The different texts that the rows have in a column. */
  texts(position: number): string[] {
    const [only] = this.rows;
    if (this.rows.length === 1) {
      const text = cleanCell(only?.[position] ?? '', this.#isPlain);
      return text === '' ? [] : [text];
    }
    return [...new Set(this.rows.map((cells) => cleanCell(cells[position] ?? '', this.#isPlain)))].filter(
      (text) => text !== '',
    );
  }

  /** The mapping's constant stands in for a field of which the rows say nothing. */
  text({ columns, constants }: Plan, field: string): string {
    const position = columns[field];
    const text = position === undefined ? '' : this.first(position);
    return text === '' ? (constants[field] ?? '') : text;
  }

  /** The text of a field, or nothing where a cell only says that nothing is known. */
  said(plan: Plan, field: string): string {
    const text = this.text(plan, field);
    return isPlaceholder(text) || (HANDLES.has(field) && isNoHandle(text)) ? '' : text;
  }

  first(position: number): string {
    for (const cells of this.rows) {
      const text = cleanCell(cells[position] ?? '', this.#isPlain);
      if (text !== '') return text;
    }
    return '';
  }

  number(text: string): NumberCell | undefined {
    return recallNumber(text);
  }

  time(text: string): TimeCell | undefined {
    return recallTime(text);
  }
}
