import type { Fault } from './shapes.ts';

/** A file of a kind that is not read, with what to save instead: 415. */
export class UnsupportedFile extends Error {
  readonly kind: string;
  constructor(kind: string, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** The files that would be read instead, by the kind of refusal. */
const RIGHT: Readonly<Record<string, string>> = {
  no_records: 'a row for each record below the header',
  transposed: 'a header in one row, and a row below it for each record',
  several_tables: 'one table in a file',
  wrong_file: 'the file that the message names',
  quote_not_closed: 'a second quote at the end of the cell',
  too_large: 'a smaller file',
  too_many_lines: 'fewer lines in a file',
  too_many_columns: 'fewer columns',
  damaged_file: 'the file as it was downloaded',
};

/** A file that cannot be read unchanged. Its reading is refused with this kind, line and cell. */
export class BrokenFile extends Error {
  readonly kind: string;
  readonly line: number | null;
  readonly fault: Fault | null;
  constructor(kind: string, message: string, line: number | null = null, fault: Partial<Fault> | null = null) {
    super(message);
    this.kind = kind;
    this.line = line;
    const expected = fault?.expected ?? RIGHT[kind];
    const { field = null, column = null, value = null } = fault ?? {};
    this.fault = expected === undefined ? null : { field, column, value: value?.slice(0, 200) ?? null, expected };
  }
}

/** A mapping that names what the file lacks: 422. */
export class MappingProblem extends Error {
  readonly field: string;
  readonly code: 'not_found' | 'invalid';
  constructor(field: string, code: 'not_found' | 'invalid', message: string) {
    super(message);
    this.field = field;
    this.code = code;
  }
}
