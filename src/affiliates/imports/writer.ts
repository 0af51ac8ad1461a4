import { sql } from 'kysely';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { toInsert } from '../../kit/engines/postgres/rows.ts';
import type { Context } from '../../kit/operation/context.ts';
import type { Work } from '../../kit/operation/work.ts';
import type { Line, ReadRecord } from '../../platform/imports/reading/shapes.ts';
import type { FilledProfile } from '../../workflow/payments/payments.ts';
import type { ImportRow } from './imports.ts';
import type { Judged } from './tallies.ts';

declare module '../../kit/engines/postgres/columns.ts' {
  interface ColumnShapes {
    'importWrites.before': FilledProfile;
  }
}

/** A record of a file with the line that it stands on. */
export interface RecordLine<Kind extends ReadRecord['kind']> {
  line: Line;
  record: Extract<ReadRecord, { kind: Kind }>;
}

export interface Written {
  written: number;
  updated: number;
}

/** What decides about a record besides the file and the brand's records. */
export interface JudgeFacts {
  now: Date;
  linksUrl: string;
}

/** Records one kind of import. */
export interface Writer {
  /** Compares records with the brand's own; the order of the lines stays. */
  judge(db: Db, row: ImportRow, lines: readonly Line[], facts: JudgeFacts): Promise<Judged[]>;
  /** Locks what decides which records are new, until the transaction ends. */
  lock(work: Work, row: ImportRow): Promise<void>;
  /** Writes what `judge` says is new, and with `known: "update"` what differs. */
  write(work: Work, context: Context, row: ImportRow, judgedLines: readonly Judged[]): Promise<Written>;
  /** Deletes what it wrote, by noun, where nothing else refers to it. Returns how many rows went. */
  undo?(work: Work, row: ImportRow, writes: readonly (Write & { before: FilledProfile | null })[]): Promise<number>;
}

export interface Write {
  noun: 'order' | 'past_commission' | 'creator' | 'roster_entry' | 'link' | 'payout' | 'payment_profile';
  rowId: string;
  /** What the row had before, where an undo restores it. */
  before?: FilledProfile | null;
}

export async function insertWrites({ db }: Work, { id, brandId }: ImportRow, writes: readonly Write[]): Promise<void> {
  if (writes.length === 0) return;
  const rows = writes.map(({ before = null, ...write }) => ({ ...write, before, importId: id, brandId }));
  await sql`${toInsert('import_writes', rows)} on conflict do nothing`.execute(db);
}

/** Verdicts on lines, in the words that the API shows. */
export const isNew = (line: Line): Judged => ({ line, outcome: 'new', kind: null, message: null, knownId: null });

export const isKnown = (line: Line, knownId: string): Judged => ({
  line,
  outcome: 'known',
  kind: null,
  message: null,
  knownId,
});

export const differs = (line: Line, knownId: string, message: string): Judged => ({
  line,
  outcome: 'differs',
  kind: 'differs',
  message,
  knownId,
});

export const refuse = (line: Line, kind: string, message: string): Judged => ({
  line,
  outcome: 'refused',
  kind,
  message: `Line ${line.line}: ${message}`,
  knownId: null,
});

/** The records of one kind among lines. */
export const selectRecords = <Kind extends ReadRecord['kind']>(
  lines: readonly Line[],
  kind: Kind,
): RecordLine<Kind>[] =>
  lines.flatMap((line) => {
    const { record } = line;
    return record !== null && isOfKind(record, kind) ? [{ line, record }] : [];
  });

function isOfKind<Kind extends ReadRecord['kind']>(
  record: ReadRecord,
  kind: Kind,
): record is Extract<ReadRecord, { kind: Kind }> {
  return record.kind === kind;
}
