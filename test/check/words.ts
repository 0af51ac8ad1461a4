import { lineAt, type Source, type Violation } from './source.ts';

/** Words that names had once, and what to say instead: the reader must not learn a private language. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['circle', 'roster'],
  ['gathering', 'batcher'],
  ['mend', 'reconcile'],
  ['mended', 'reconciled'],
  ['mending', 'reconciliation'],
  ['refold', 'rebuild'],
  ['restate', 'recompute'],
  ['restated', 'recomputed'],
  ['tell', 'report'],
  ['telling', 'report'],
  ['told', 'reported, or received'],
  ['asked', 'requested'],
  ['verdict', 'outcome'],
  ['sitting', 'session'],
  ['clicker', 'load generator'],
]);
/** `hold` is the time that a commission waits; what keeps others from a row is a lock. */
const HOLD = /^(?:hold|tryHold)(?!Days|EndsAt)[A-Z]/;
/** Names of columns that stand in every installation. */
const COLUMNS: readonly string[] = ['toldAt'];

const partsOf = (name: string) => name.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [];

function insteadOf(name: string): string | undefined {
  if (COLUMNS.includes(name)) return undefined;
  if (HOLD.test(name)) return 'lock';
  return partsOf(name)
    .map((part) => INSTEAD.get(part.toLowerCase()))
    .find((instead) => instead !== undefined);
}

export function words({ code }: Source): Violation[] {
  return [...code.matchAll(/(?<![\w$])[A-Za-z_$][\w$]*/g)].flatMap(({ 0: name, index }) => {
    const instead = insteadOf(name);
    return instead === undefined ? [] : [{ line: lineAt(code, index), message: `says ${name}; say ${instead}` }];
  });
}
