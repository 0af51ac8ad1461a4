import { createHash } from 'node:crypto';
import { canonicalJson } from '../../../kit/values/canonical.ts';
import { type Assignment, assignColumns, listTakenColumns } from './columns.ts';
import { assignByValues, listNeeded, mergeSame } from './columns-by-values.ts';
import { describeReading, refuseFile } from './describe.ts';
import { type Doubt, type Known, mergeMappings } from './doubts.ts';
import { Entry } from './entry.ts';
import { describeFault, RIGHT_BY_FIELD, RIGHT_BY_TYPE } from './faults.ts';
import { findFlags } from './flags.ts';
import { findFormat, findFormatByKey, findWrongFile } from './formats.ts';
import { isAmounts, openGlances } from './glance.ts';
import { findKeys, Grouper, type KeyColumns } from './group.ts';
import { findAmount, isFailure } from './judge.ts';
import { FIELDS, isGrouped, isOrders, type Kind } from './kinds.ts';
import { assignLineTotals, LineTotals } from './line-totals.ts';
import { GOODS } from './money.ts';
import type { Plan } from './plan.ts';
import { BrokenFile } from './problems.ts';
import { askQuestions } from './questions.ts';
import { type Resolved, resolvePlan } from './resolve.ts';
import { findReturns } from './returns.ts';
import { chooseGoods, listAllGoods } from './settle-money.ts';
import type { Shape } from './shape.ts';
import type { ByteSource, Fault, Goods, Line, Mapping, Reading, RecordOutcome, Request } from './shapes.ts';
import {
  type ColumnSum,
  judge,
  openBench,
  openVariant,
  readEntries,
  type Study,
  studyEntries,
  totalsLine,
  type Variant,
} from './study.ts';
import { type Survey, surveyTable } from './survey.ts';
import { openTable, type Table } from './table.ts';
import { findFields } from './words.ts';

/** Changes whenever the same bytes and mapping may be read otherwise. */
const READING_VERSION = 10;
const MOST_DOUBTS = 20;
/** Fields of texts that may say what a line is, whatever the header says. */
const TEXTS = ['title', 'method', 'note', 'name'];

/** A file that was read stays open for its records: its bytes need not be looked through again. */
interface OpenRows {
  table: Table;
  grouper: Grouper;
}

export interface Read {
  reading: Reading;
  /** The plan reads the records; it is null if the file is refused. */
  plan: Plan | null;
  opened: OpenRows | null;
}

function nameReading(sha256: string, request: Request, mapping: Mapping): string {
  const { of, brand } = request;
  const said = JSON.parse(JSON.stringify({ of, brand, mapping, version: READING_VERSION, sha256 }));
  return createHash('sha256').update(canonicalJson(said)).digest('hex').slice(0, 40);
}

/** The reason to refuse a table whose fields stand one below the other; undefined for any other table. */
function findTurned(of: Kind, { headers, firstCells }: Shape): string | undefined {
  const groups = listNeeded(of);
  const hasAll = (cells: readonly string[]) => {
    const fields = new Set(cells.flatMap((cell) => findFields(of, cell)));
    return groups.every((group) => group.some((field) => fields.has(field)));
  };
  const names = [...new Set(firstCells)].filter((cell) => findFields(of, cell).length > 0);
  if (names.length < 2 || !hasAll(names) || hasAll(headers)) return undefined;
  const firstNames = names.slice(0, 3).map((name) => `“${name}”`);
  return (
    `The table lies on its side: ${firstNames.join(', ')} stand one below the other, and each record is a column. Turn it: ` +
    'in a spreadsheet, copy the table, choose Paste special and Transpose, and save the result as CSV.'
  );
}

const ONE_COLUMN = 'Everything stands in one column: save the file as CSV, with a comma between cells.';

/** The header of a table whose rows are each one cell, as where each stands within quotes; undefined for any other table. */
function findUnsplit(of: Kind, { headers, firstCells }: Shape): string | undefined {
  if (headers.filter((header) => header !== '').length !== 1) return undefined;
  return [headers[0] ?? '', ...firstCells.slice(0, 1)].find((text) => {
    const names = text.split(/[,;\t|]|\s{2,}/).filter((name) => findFields(of, name.trim()).length > 0);
    return new Set(names.map((name) => name.trim())).size > 1;
  });
}

interface Prepared {
  table: Table;
  known: Known;
  assignment: Assignment;
  survey: Survey;
}

/** The columns of a file as headers and cells say them. */
async function prepare(table: Table, request: Request, mapping: Mapping): Promise<Prepared> {
  const { of } = request;
  const { headers } = table.shape;
  const wrong = findWrongFile(headers);
  if (wrong !== undefined) throw new BrokenFile('wrong_file', wrong, null, { value: headers.join(', ') });
  const format = findFormat(of, headers);
  const turnedProblem = findTurned(of, table.shape);
  if (turnedProblem !== undefined)
    throw new BrokenFile('transposed', turnedProblem, null, { value: table.shape.firstCells.join(', ') });
  const unsplit = findUnsplit(of, table.shape);
  if (unsplit !== undefined)
    throw new BrokenFile('no_column', `${ONE_COLUMN} Its header is: ${unsplit}.`, null, { value: unsplit });
  const own = request.mapping ?? {};
  const glance = openGlances(table.shape.sample);
  const assignment = assignColumns({ of, headers, format, mapping: own, stored: request.stored ?? {}, glance });
  const mayBeTotals = isOrders(of) && !format && assignment.get('amount')?.confidence !== 'proved';
  const lineTotals = mayBeTotals ? new LineTotals(headers, (at) => isAmounts(glance(at))) : undefined;
  const survey = await surveyTable(table, of, assignment, request.now, lineTotals);
  const isTool = format !== undefined && format.key !== 'rollcall';
  // What a “type” says of a payment is not recorded, but it may tell money sent from money received.
  const listTaken = () => listTakenColumns(new Map([...assignment].filter(([field]) => field !== 'kind')));
  const listFlags = () => {
    if (isTool) return [];
    const status = assignment.get('status');
    const textColumns = new Set(TEXTS.flatMap((field) => assignment.get(field)?.positions ?? []));
    const isStatusDeclined = status?.positions.length === 0;
    const isStatusChosen = status?.by === 'mapping' || status?.by === 'stored';
    const hasRefunds = (assignment.get('refunded')?.positions.length ?? 0) > 0;
    const context = { takenColumns: listTaken(), textColumns, isStatusDeclined, isStatusChosen, hasRefunds };
    return findFlags(headers, context, glance, of);
  };
  // What says whether a record counts is not what identifies it.
  const flagged = listFlags().map(({ position }) => position);
  assignByValues(assignment, { of, headers, constants: mapping.constants ?? {}, flagged }, survey.profiles);
  mergeSame(assignment, survey.profiles);
  const addedColumn = assignLineTotals(assignment, lineTotals?.find());
  const totalsLines = survey.totals.map(({ line }) => line);
  const flags = listFlags();
  const isSheet = table.sheet !== null;
  const { halfDates, is1904 } = table;
  const { profiles } = survey;
  const { descriptionLine, footer } = table.shape;
  const asRead = { profiles, totalsLines, descriptionLine, footer, flags, isSheet, halfDates, is1904, addedColumn };
  const knownTable = { request, headers, format, ...asRead };
  return { table, known: knownTable, assignment, survey };
}

/** Columns whose headers name a missing field and whose cells are something else, with what would be right there. */
function findUnread({ request }: Known, { headers, sample }: Shape, missing: readonly string[]): Fault[] {
  return headers.flatMap((column, at) => {
    const field = findFields(request.of, column).find((name) => missing.includes(name)) ?? null;
    const expected = RIGHT_BY_TYPE[FIELDS[request.of][field ?? ''] ?? 'text'];
    const value = sample.map(({ cells }) => (cells[at] ?? '').trim()).find((cell) => cell !== '') ?? '';
    return expected === undefined ? [] : [{ field, column, value: value.slice(0, 100), expected }];
  });
}

/** A needed field that nothing in the file can be, in words that name what was read. */
function findMissing(
  { table, assignment, known }: Prepared,
  mapping: Mapping,
): { message: string; fault: Fault | null } | undefined {
  const { shape } = table;
  const isThere = (field: string) =>
    (assignment.get(field)?.positions.length ?? 0) > 0 || mapping.constants?.[field] !== undefined;
  const isOrder = known.format?.asksProof ?? false;
  const missing = listNeeded(known.request.of).filter(
    (group) => !group.some(isThere) && !(isOrder && group[0] === 'paid_at'),
  );
  if (missing.length === 0) return undefined;
  const separator = shape.separator === '\t' ? 'tab' : `“${shape.separator}”`;
  const where = shape.headerLine === null ? 'No header was found' : `The header was read from line ${shape.headerLine}`;
  const fields = missing.map((group) => group.join(' or ')).join(', and none for ');
  const has = shape.headers.slice(0, 40).join(', ');
  const sheets =
    table.otherSheets.length === 0 ? '' : ` Other sheets have a table, too: ${table.otherSheets.join(', ')}.`;
  const single = shape.headers.length > 1 ? '' : ` ${ONE_COLUMN}`;
  const unread = findUnread(known, shape, missing.flat());
  const faults = unread.map((fault) => ` ${describeFault(fault)}`).join('');
  const [field = ''] = missing[0] ?? [];
  const expected = RIGHT_BY_TYPE[FIELDS[known.request.of][field] ?? 'text'] ?? RIGHT_BY_FIELD[field];
  const fault = unread[0] ?? (expected === undefined ? null : { field, column: null, value: null, expected });
  const message = `The file has no column for ${fields}.${faults} ${where} with the separator ${separator}: ${has}.${single}${sheets}`;
  return { message, fault };
}

/** Settles every doubt by its first choice, one after the other, because one may settle or raise another. */
function settleDoubts(
  { known, assignment }: Prepared,
  mapping: Mapping,
): { resolved: Resolved; doubts: Doubt[]; answered: Mapping } {
  const doubts: Doubt[] = [];
  let answered = mapping;
  let current = assignment;
  for (;;) {
    const resolved = resolvePlan(known, current, answered);
    // Each sign of a currency is a doubt of its own.
    const isSame = (a: Doubt, b: Doubt) =>
      a.code === b.code && a.field === b.field && (a.code !== 'currency_sign' || a.message === b.message);
    const isNew = (doubt: Doubt) => !doubts.some((other) => isSame(doubt, other));
    const next = resolved.doubts.find(isNew);
    const choice = next?.choices[0];
    if (!next || !choice || doubts.length >= MOST_DOUBTS) return { resolved, doubts, answered };
    doubts.push(next);
    answered = mergeMappings(answered, choice.mapping);
    current = answerColumns(current, choice.mapping, known);
  }
}

/** The columns under an answer that names one. */
function answerColumns(assignment: Assignment, { columns = {} }: Mapping, { headers }: Known): Assignment {
  const answeredColumns: Assignment = new Map(assignment);
  for (const [field, header] of Object.entries(columns)) {
    const assigned = answeredColumns.get(field);
    const position = header === null ? -1 : headers.indexOf(header);
    if (assigned)
      answeredColumns.set(field, { ...assigned, positions: position < 0 ? [] : [position], confidence: 'proved' });
  }
  return answeredColumns;
}

function planVariants(prepared: Prepared, mapping: Mapping, doubts: readonly Doubt[]): Variant[] {
  const { now } = prepared.known.request;
  return doubts.flatMap((doubt) =>
    doubt.choices.slice(1).map((choice) => {
      let said = mergeMappings(mapping, choice.mapping);
      let assignment = answerColumns(prepared.assignment, choice.mapping, prepared.known);
      for (const other of doubts) {
        const first = other === doubt ? undefined : other.choices[0];
        if (!first) continue;
        said = mergeMappings(mergeMappings(said, first.mapping), choice.mapping);
        assignment = answerColumns(assignment, first.mapping, prepared.known);
      }
      const { plan } = settleDoubts({ ...prepared, assignment }, said).resolved;
      return openVariant(doubt, choice, plan, now);
    }),
  );
}

async function openGrouper({ table, survey }: Prepared, plan: Plan, skipped: ReadonlySet<number>): Promise<Grouper> {
  const keys = findKeys(plan.of, plan.columns, plan.damaged);
  const isCounted = survey.grouper !== null && survey.keyColumns === JSON.stringify(keys.positions);
  if (isCounted && survey.grouper) return survey.grouper;
  return countRows(table, plan, skipped);
}

async function countRows(table: Table, plan: Plan, skipped: ReadonlySet<number>): Promise<Grouper> {
  const format = findFormatByKey(plan.format);
  const isGrouping = isGrouped(plan.of) || format?.groups === true;
  const returns = findReturns(format, plan);
  const keys: KeyColumns = { ...findKeys(plan.of, plan.columns, plan.damaged), returns };
  const grouper = new Grouper(isGrouping ? keys : { ...keys, positions: [] });
  if (!isGrouping) return grouper;
  for await (const rows of table.rows()) for (const row of rows) if (!skipped.has(row.line)) grouper.count(row);
  return grouper;
}

/** The meanings of the amount that hold in every record where any does. */
function findSurvivors(study: Study, candidates: readonly Goods[]): Goods[] | undefined {
  const allowedMask = candidates.reduce((all, goods) => all | (1 << GOODS.indexOf(goods)), 0);
  const masks = [...study.tally.holding.keys()].map((mask) => mask & allowedMask).filter((mask) => mask !== 0);
  if (masks.length === 0) return undefined;
  const common = masks.reduce((all, mask) => all & mask);
  const any = masks.reduce((all, mask) => all | mask);
  const survivors = common === 0 ? any : common;
  return candidates.filter((goods) => (survivors & (1 << GOODS.indexOf(goods))) !== 0);
}

const isAboutGoods = ({ code, field }: Doubt) => code === 'amount_meaning' && field === 'amount';

/** The meanings of goods that are left once every line has been tried; undefined if no identity can tell. */
function narrowGoods(study: Study, doubts: readonly Doubt[], plan: Plan, known: Known): Known | undefined {
  const doubt = doubts.find(isAboutGoods);
  if (!doubt || known.goodsChoices || plan.columns.total === undefined) return undefined;
  const candidates = doubt.choices.flatMap(({ mapping }) => mapping.goods ?? []);
  if (!candidates.some((goods) => goods !== 'total' && goods !== 'total_less_rest')) return undefined;
  const survivors = findSurvivors(study, candidates);
  if (!survivors) return { ...known, goodsChoices: listAllGoods(plan) };
  return { ...known, goodsChoices: survivors.map(chooseGoods), isGoodsProved: true };
}

interface Studied {
  study: Study;
  grouper: Grouper;
  resolved: Resolved;
  doubts: Doubt[];
}

async function study(prepared: Prepared, mapping: Mapping): Promise<Studied> {
  const { known, table } = prepared;
  const { resolved, doubts } = settleDoubts(prepared, mapping);
  const skippedLines = new Set(resolved.plan.totalsLines);
  const grouper = await openGrouper(prepared, resolved.plan, skippedLines);
  const variants = planVariants(prepared, mapping, doubts);
  const entries = readEntries(table.rows(), grouper, skippedLines);
  const entryStudy = await studyEntries(entries, resolved.plan, variants, known.request.now);
  const narrowedTable = narrowGoods(entryStudy, doubts, resolved.plan, known);
  if (!narrowedTable) return { study: entryStudy, grouper, resolved, doubts };
  const isTried =
    narrowedTable.isGoodsProved && doubts.find(isAboutGoods)?.choices.length === narrowedTable.goodsChoices?.length;
  if (!isTried) return study({ ...prepared, known: narrowedTable }, mapping);
  const isLeft = (doubt: Doubt) => !isAboutGoods(doubt) || doubt.choices.length > 1;
  return { study: entryStudy, grouper, resolved, doubts: doubts.filter(isLeft) };
}

/** Each amount of a totals row must be what the file adds up to. Amounts of several currencies are not added. */
function checkTotals(rows: Survey['totals'], { tally, sums }: Study, plan: Plan): boolean {
  const outcomes: readonly RecordOutcome[] = ['read', 'left_out', 'repeated'];
  const [currency, ...others] = new Set(outcomes.flatMap((outcome) => tally.sums(outcome).map((sum) => sum.currency)));
  if (currency === undefined || others.length > 0) return rows.length === 0;
  return rows.every((row) => {
    const said = sums.flatMap((sum) => {
      const amount = findAmount(new Entry(row), plan, sum.field, currency);
      return amount === undefined || isFailure(amount) ? [] : [{ amount, sum }];
    });
    const agrees = ({ amount, sum }: { amount: number; sum: ColumnSum }) =>
      amount === sum.rows || amount === sum.records || amount === sum.read;
    return said.length > 0 && said.every(agrees);
  });
}

/** Reads a file: what it is, what would be recorded, and what must be asked before. */
export async function readTable(source: ByteSource, request: Request): Promise<Read> {
  const mapping = mergeMappings(request.stored ?? {}, request.mapping ?? {});
  let table: Table | undefined;
  try {
    table = await openTable(source, request, mapping);
    const preparedTable = await prepare(table, request, mapping);
    if (preparedTable.survey.lines === 0)
      throw new BrokenFile('no_records', 'The file has no records below its header.', null, {
        value: table.shape.headers.join(', '),
      });
    const missing = findMissing(preparedTable, mapping);
    if (missing !== undefined) throw new BrokenFile('no_column', missing.message, null, missing.fault);
    const tableStudy = await study(preparedTable, mapping);
    const { plan } = tableStudy.resolved;
    assertIds(plan);
    const isTotal = checkTotals(preparedTable.survey.totals, tableStudy.study, plan);
    for (const row of preparedTable.survey.totals) tableStudy.study.tally.add(totalsLine(new Entry(row)));
    const questions = askQuestions({
      ...tableStudy,
      known: preparedTable.known,
      mapping,
      isTotal,
      totals: preparedTable.survey.totals,
    });
    const reading_id = nameReading(table.sha256, request, mapping);
    const reading = describeReading({ ...preparedTable, ...tableStudy, questions, mapping, reading_id });
    return { reading, plan, opened: { table, grouper: tableStudy.grouper } };
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error;
    const id = nameReading(table?.sha256 ?? '', request, mapping);
    return { reading: refuseFile(source, table, request, id, error), plan: null, opened: null };
  }
}

/** Ids that a spreadsheet has rounded are not used; without numbers beside them orders cannot be told apart. */
function assertIds({ damaged, columns, headers }: Plan): void {
  const positions = [columns.order_id, columns.order_number].flatMap((position) => position ?? []);
  const [first, second] = positions;
  if (first === undefined || positions.some((position) => !damaged.includes(position))) return;
  const name = headers[first] ?? '';
  if (columns.order_id === undefined && second === undefined)
    throw new BrokenFile(
      'damaged_ids',
      `A spreadsheet has changed the numbers in “${name}”, such as to a day or to 1.2E+11, and there are no ids. ` +
        'Send the .xlsx file, or the export as it was downloaded.',
      null,
      { field: 'order_number', column: name, value: null, expected: 'numbers as the shop has them' },
    );
  throw new BrokenFile(
    'damaged_ids',
    `A spreadsheet has rounded the ids in “${name}”, and there are no order numbers. ` +
      'Send the .xlsx file, or the export as it was downloaded.',
    null,
    { field: 'order_id', column: name, value: null, expected: 'ids as the shop has them' },
  );
}

async function openRows(source: ByteSource, request: Request, plan: Plan): Promise<OpenRows> {
  const mapping = mergeMappings(request.stored ?? {}, request.mapping ?? {});
  const table = await openTable(source, request, mapping);
  if (plan.footer !== undefined) table.shape.footer = plan.footer;
  return { table, grouper: await countRows(table, plan, new Set(plan.totalsLines)) };
}

interface RecordsWish {
  /** What the reading that made the plan left open, if it was made just before. */
  opened?: OpenRows | null;
  /** So many records were dealt with, and are skipped. */
  after?: number;
}

/** The records of a file by a plan that its reading made, with everything that is not recorded. */
export async function* readRecords(
  source: ByteSource,
  request: Request,
  plan: Plan,
  { opened, after = 0 }: RecordsWish = {},
): AsyncGenerator<Line[]> {
  const { table, grouper } = opened ?? (await openRows(source, request, plan));
  const skippedLines = new Set(plan.totalsLines);
  const bench = openBench(plan, request.now);
  // What an order is depends on no other; payments are counted by those before them.
  const isAlone = isOrders(plan.of);
  let skip = after;
  for await (const entries of readEntries(table.rows(), grouper, skippedLines)) {
    const passed = Math.min(skip, entries.length);
    skip -= passed;
    const due = isAlone ? entries.slice(passed) : entries;
    const lines = due.map((entry) => judge(entry, bench).line);
    if (passed < entries.length) yield isAlone ? lines : lines.slice(passed);
  }
  if (skippedLines.size === 0) return;
  for await (const rows of table.rows()) {
    const totals = rows.filter(({ line }) => skippedLines.has(line)).slice(skip);
    if (totals.length > 0) yield totals.map((row) => totalsLine(new Entry(row)).line);
  }
}
