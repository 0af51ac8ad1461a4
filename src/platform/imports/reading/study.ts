import type { Choice, Doubt } from './doubts.ts';
import type { Entry } from './entry.ts';
import { Examples } from './examples.ts';
import type { Grouper } from './group.ts';
import { type Bench, findAmount, isFailure, type Judged, makeLine, prepareBench } from './judge.ts';
import { judgeCompared } from './judge-compared.ts';
import { judgeOrder } from './judge-order.ts';
import { judgePaid } from './judge-paid.ts';
import { judgePerson, judgeProfile } from './judge-person.ts';
import { hashKey, KeyTable } from './keys.ts';
import { isOrders, isPaid } from './kinds.ts';
import { readEmail } from './people.ts';
import type { Plan } from './plan.ts';
import { BrokenFile } from './problems.ts';
import type { Row } from './rows.ts';
import { repeatsHeader, startsTable } from './shape.ts';
import type { Line, StatusMeaning } from './shapes.ts';
import { foldStatus } from './statuses.ts';
import { counts, Tally } from './tally.ts';
import { readSubtotal } from './totals.ts';

/** A reading under one choice of one doubt. */
export interface Variant {
  doubt: Doubt;
  choice: Choice;
  plan: Plan;
  bench: Bench;
  tally: Tally;
  /** A digest of the records that differ from those of the first choices; 0 if none does. */
  digest: number;
}

export function openBench(plan: Plan, now: Date): Bench {
  const keys = new KeyTable();
  const rows = new KeyTable();
  return prepareBench(plan, now, {
    nextCount: (key) => keys.add(hashKey(key)),
    isRepeated: (entry) => rows.add(hashKey(JSON.stringify(entry.rows))) > 1,
  });
}

export const openVariant = (doubt: Doubt, choice: Choice, plan: Plan, now: Date): Variant => ({
  doubt,
  choice,
  plan,
  bench: openBench(plan, now),
  tally: new Tally(),
  digest: 0,
});

/** How a record would be read if its status had a meaning. */
export function judgeStatus(entry: Entry, plan: Plan, now: Date, value: string, meaning: StatusMeaning): Line {
  const said = { ...plan, statuses: { ...plan.statuses, [foldStatus(value)]: meaning } };
  return judge(entry, prepareBench(said, now, { nextCount: () => 1, isRepeated: () => false })).line;
}

const SUBTOTALED = ['order_id', 'order_number', 'reference', 'code', 'email', 'customer_email', 'handle'] as const;

/** A line among the others that adds up those of one order or person, and says so beside the id or the address. */
const isSubtotal = (entry: Entry, plan: Plan): boolean =>
  (isOrders(plan.of) || isPaid(plan.of)) &&
  SUBTOTALED.some((field) => {
    const position = plan.columns[field];
    const name = position === undefined ? undefined : readSubtotal(entry.first(position));
    if (name === undefined) return false;
    return field === 'email' || field === 'customer_email' ? readEmail(name) !== undefined : !/\s/.test(name);
  });

export function judge(entry: Entry, bench: Bench): Judged {
  const { of, headers } = bench.plan;
  if (entry.rows.every((cells) => repeatsHeader(cells, headers))) return leaveOut(entry, 'header');
  if (entry.isHeading) return leaveOut(entry, 'heading');
  if (entry.isNote) return leaveOut(entry, 'note');
  if (entry.lines[0] === bench.plan.descriptionLine) return leaveOut(entry, 'description');
  if (isSubtotal(entry, bench.plan)) return totalsLine(entry);
  if (of === 'reconciliation') return judgeCompared(entry, bench);
  if (isOrders(of)) return judgeOrder(entry, bench);
  if (isPaid(of)) return judgePaid(entry, bench);
  return of === 'directory' ? judgeProfile(entry, bench) : judgePerson(entry, bench);
}

const sign = ({ line, money }: Judged): string => JSON.stringify([line.outcome, line.kind, line.record, money]);

/** The sums of a column, row by row and record by record, are compared with a row that says them. */
export interface ColumnSum {
  field: string;
  rows: number;
  records: number;
  read: number;
}

const SUMMED = ['amount', 'subtotal', 'total'] as const;

export interface Study {
  plan: Plan;
  tally: Tally;
  variants: Variant[];
  sums: ColumnSum[];
  examples: Examples;
}

/** The records of a file in the order in which they are complete, from a grouper that has counted its rows. */
export async function* readEntries(
  rows: AsyncIterable<Row[]>,
  grouper: Grouper,
  skipped: ReadonlySet<number>,
): AsyncGenerator<Entry[]> {
  grouper.rewind();
  for await (const batch of rows) {
    const entries: Entry[] = [];
    for (const row of batch) {
      if (skipped.has(row.line)) continue;
      const entry = grouper.take(row);
      if (entry) entries.push(entry);
    }
    if (entries.length > 0) yield entries;
  }
  const rest = grouper.rest();
  if (rest.length > 0) yield rest;
}

function addSums(sums: readonly ColumnSum[], entry: Entry, judgedEntry: Judged, { plan }: Bench): void {
  const currency = judgedEntry.money?.currency ?? plan.currency ?? 'USD';
  for (const sum of sums) {
    const amount = findAmount(entry, plan, sum.field, currency);
    if (amount === undefined || isFailure(amount)) continue;
    const position = plan.columns[sum.field];
    const filledRows =
      position === undefined ? 0 : entry.rows.filter((cells) => (cells[position] ?? '').trim() !== '').length;
    sum.records += amount;
    sum.rows += amount * filledRows;
    if (counts(judgedEntry)) sum.read += amount;
  }
}

/** Rows of another table below would be read as records of this one. */
function assertOneTable({ line: { outcome, line, cells } }: Judged, { of, columns }: Plan): void {
  const [first = []] = cells;
  const { amount, subtotal, total, email } = columns;
  const isNamed = (first[amount ?? subtotal ?? total ?? email ?? 0] ?? '').trim() !== '';
  if (outcome !== 'refused' || !isNamed || !startsTable(of, { line, cells: first, isPlain: false })) return;
  const value = first.filter((cell) => cell.trim() !== '').join(', ');
  const message = `Another table starts on line ${line}: ${value}. Send each table as a file of its own.`;
  throw new BrokenFile('several_tables', message, line, { value });
}

/** Judges all records under the plan, and under each choice of each doubt. */
export async function studyEntries(
  entries: AsyncIterable<Entry[]>,
  plan: Plan,
  variants: Variant[],
  now: Date,
): Promise<Study> {
  const bench = openBench(plan, now);
  const tally = new Tally();
  const examples = new Examples();
  const hasTotals = plan.totalsLines.length > 0;
  const sums = SUMMED.flatMap((field) =>
    hasTotals && plan.columns[field] !== undefined ? [{ field, rows: 0, records: 0, read: 0 }] : [],
  );
  for await (const batch of entries) {
    for (const entry of batch) {
      const judgedEntry = judge(entry, bench);
      assertOneTable(judgedEntry, plan);
      tally.add(judgedEntry);
      if (hasTotals) addSums(sums, entry, judgedEntry, bench);
      const readings = variants.map((variant) => judgeVariant(variant, entry, judgedEntry));
      examples.add(entry, judgedEntry, variants, readings);
    }
  }
  return { plan, tally, variants, sums, examples };
}

/** The record under one choice of a doubt; undefined if it is the same. */
function judgeVariant(variant: Variant, entry: Entry, base: Judged): Judged | undefined {
  const { uses } = variant.doubt;
  const isSame = uses !== undefined && (base.uses & uses) === 0;
  const judgedEntry = isSame ? base : judge(entry, variant.bench);
  variant.tally.add(judgedEntry);
  if (isSame) return undefined;
  const text = sign(judgedEntry);
  if (text === sign(base)) return undefined;
  variant.digest = hashKey(`${variant.digest} ${judgedEntry.line.line} ${text}`);
  return judgedEntry;
}

/** A row that is no record, as a line on its own. */
const leaveOut = (entry: Entry, kind: 'header' | 'heading' | 'note' | 'description' | 'totals'): Judged => ({
  line: makeLine(entry, 'left_out', kind),
  uses: 0,
  status: null,
  money: null,
  person: null,
  holding: null,
});

/** A row that adds up those above. */
export const totalsLine = (entry: Entry): Judged => leaveOut(entry, 'totals');
