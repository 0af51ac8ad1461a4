import { cleanCell } from './cells.ts';
import type { Assignment } from './columns.ts';
import { fits, listNeeded, listWanted } from './columns-by-values.ts';
import { repair } from './encoding.ts';
import { findKeys, Grouper } from './group.ts';
import { type FieldType, isGrouped, type Kind } from './kinds.ts';
import type { LineTotals } from './line-totals.ts';
import { readNumber } from './numbers.ts';
import { type ColumnProfile, profileCell, startProfile } from './profile.ts';
import type { Row } from './rows.ts';
import { repeatsHeader } from './shape.ts';
import type { Table } from './table.ts';
import { saysTotal } from './totals.ts';

/** The first reading of the whole file collects this about its columns. */
export interface Survey {
  profiles: Map<number, ColumnProfile>;
  lines: number;
  repaired: number;
  /** Cells with a sign in place of letters that were lost before. */
  lost: number;
  differing: { line: number; text: string }[];
  /** Last rows that may add up those above. */
  totals: Row[];
  /** Texts of lines that give those below them a status, the first of them. */
  headings: Set<string>;
  /** The only heading, while no record has followed it. */
  footer: string | null;
  grouper: Grouper | null;
  keyColumns: string;
}

const ALL_TYPES: readonly FieldType[] = ['money', 'time', 'id', 'email', 'handle'];
const MOST_TOTALS = 3;
const MOST_HEADINGS = 5;

/** The types that each column is tried as: those of its fields, and all where a needed field has no column yet. */
function planTypes(
  of: Kind,
  assignment: Assignment,
  sample: readonly Row[],
  width: number,
): Map<number, Set<FieldType>> {
  const types = new Map<number, Set<FieldType>>();
  const add = (position: number, type: FieldType) => types.set(position, (types.get(position) ?? new Set()).add(type));
  for (const { positions, type } of assignment.values()) for (const position of positions) add(position, type);
  const isSeen = (position: number) => sample.some(({ cells }) => (cells[position] ?? '').trim() !== '');
  const isThere = (field: string) => {
    const assigned = assignment.get(field);
    const positions = assigned?.positions ?? [];
    return assigned?.by === 'word' ? positions.some(isSeen) : positions.length > 0;
  };
  const missing = listNeeded(of).filter((group) => !group.some(isThere));
  const nextYear = 9_999;
  for (let position = 0; missing.length > 0 && position < width; position += 1) {
    if (types.has(position)) continue;
    const profile = startProfile();
    const all = new Set(ALL_TYPES);
    for (const { line, cells } of sample) profileCell(profile, cells[position] ?? '', all, line, nextYear);
    if (missing.some((group) => listWanted(group).some(({ type }) => fits(type, profile))))
      for (const each of all) add(position, each);
  }
  return types;
}

/** A totals row says so, or has amounts but nothing of what tells records apart. */
function mayTotal({ cells }: Row, assignment: Assignment): boolean {
  const filledCells = cells.map((cell) => cleanCell(cell)).filter((cell) => cell !== '');
  const [first = ''] = filledCells;
  if (!filledCells.some((cell) => readNumber(cell) !== undefined)) return false;
  const identifying = [...assignment.values()].filter(({ type, field }) => {
    return type === 'time' || type === 'email' || type === 'handle' || (type === 'id' && field !== 'code');
  });
  const read = (columns: typeof identifying) =>
    columns.flatMap(({ positions }) => positions.map((at) => cleanCell(cells[at] ?? ''))).filter((cell) => cell !== '');
  const said = read(identifying);
  // The day of a total is the day of the list.
  if (saysTotal(first)) return read(identifying.filter(({ type }) => type !== 'time')).every(saysTotal);
  return identifying.length > 0 && said.length === 0 && [...assignment.values()].some(({ type }) => type === 'money');
}

/** The last rows of a file wait, because they may be totals. */
function splitTotals(last: readonly Row[], assignment: Assignment): { rows: Row[]; totals: Row[] } {
  let from = last.length;
  const isLast = (row: Row | undefined) => row !== undefined && (row.isNote || mayTotal(row, assignment));
  while (isLast(last[from - 1])) from -= 1;
  const tail = last.slice(from);
  return {
    rows: [...last.slice(0, from), ...tail.filter(({ isNote }) => isNote)],
    totals: tail.filter(({ isNote }) => !isNote),
  };
}

/** Reads the whole file once: what the cells of each column can be, and which rows belong together. */
export async function surveyTable(
  table: Table,
  of: Kind,
  assignment: Assignment,
  now: Date,
  lineTotals?: LineTotals,
): Promise<Survey> {
  const { headers, sample, descriptionLine } = table.shape;
  const types = [...planTypes(of, assignment, sample, headers.length)];
  const profiles = new Map<number, ColumnProfile>(types.map(([position]) => [position, startProfile()]));
  const columns: Record<string, number> = {};
  for (const [field, { positions }] of assignment) if (positions[0] !== undefined) columns[field] = positions[0];
  const keys = findKeys(of, columns, []);
  const grouper = isGrouped(of) ? new Grouper(keys) : null;
  const nextYear = now.getUTCFullYear() + 1;
  const survey: Survey = {
    profiles,
    lines: 0,
    repaired: 0,
    lost: 0,
    differing: [],
    totals: [],
    headings: new Set(),
    footer: null,
    grouper,
    keyColumns: JSON.stringify(keys.positions),
  };
  const isLatin = !table.encoding.startsWith('utf');
  const take = (row: Row) => {
    grouper?.count(row);
    if (row.isHeading) noteHeading(survey, row);
    if (row.isHeading || row.isNote) return;
    if (repeatsHeader(row.cells, headers) || row.line === descriptionLine) return;
    survey.footer = null;
    lineTotals?.take(row);
    for (const [position, typeSet] of types) {
      const cell = row.cells[position] ?? '';
      const profile = profiles.get(position);
      if (profile) profileCell(profile, cell, typeSet, row.line, nextYear, row.isPlain);
      if (!row.isPlain && cell !== '' && isForeign(cell)) noteForeign(survey, cell, row.line, isLatin);
    }
  };
  let last: Row[] = [];
  for await (const rows of table.rows()) {
    survey.lines += rows.length;
    const waiting = [...last, ...rows.slice(-MOST_TOTALS)];
    const ready =
      rows.length > MOST_TOTALS ? [...last, ...rows.slice(0, -MOST_TOTALS)] : waiting.slice(0, -MOST_TOTALS);
    for (const row of ready) take(row);
    last = (rows.length > MOST_TOTALS ? rows : waiting).slice(-MOST_TOTALS);
  }
  const { rows, totals } = splitTotals(last, assignment);
  for (const row of rows) take(row);
  survey.totals = totals;
  if (survey.footer !== null) table.shape.footer = survey.footer;
  return survey;
}

function noteHeading(survey: Survey, { cells }: Row): void {
  const filled = cells.map((cell) => cell.trim()).filter((cell) => cell !== '');
  const [text = '', ...others] = filled;
  survey.footer = survey.headings.size === 0 && others.length === 0 ? text : null;
  if (survey.headings.size < MOST_HEADINGS) survey.headings.add(text);
}

const FOREIGN = /[\u0080-\uffff]/;
const isForeign = (cell: string) => FOREIGN.test(cell);

/** Cells that were decoded wrongly once are counted; those that another encoding would change are shown. */
function noteForeign(survey: Survey, cell: string, line: number, isLatin: boolean): void {
  if (repair(cell) !== undefined) survey.repaired += 1;
  if (cell.includes('\ufffd')) survey.lost += 1;
  if (isLatin && survey.differing.length < 5) survey.differing.push({ line, text: cell.slice(0, 100) });
}
