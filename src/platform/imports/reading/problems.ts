import type { Fault } from './shapes.ts';

/** A file of a kind that is not read, with what to save instead: 415. */
export class UnsupportedFile extends Error {
  readonly kind: string;
  constructor(kind: string, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** A file that cannot be read unchanged. Its reading is refused with this kind, line and cell. */
export class BrokenFile extends Error {
  readonly kind: string;
  readonly line: number | null;
  readonly fault: Fault | null;
  constructor(kind: string, message: string, line: number | null = null, fault: Fault | null = null) {
    super(message);
    this.kind = kind;
    this.line = line;
    this.fault = fault;
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
