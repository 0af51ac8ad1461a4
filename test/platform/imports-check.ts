import { mergeMappings } from '../../src/platform/imports/reading/doubts.ts';
import type { Kind } from '../../src/platform/imports/reading/kinds.ts';
import { readRecords, readTable } from '../../src/platform/imports/reading/read-table.ts';
import type {
  ByteSource,
  Line,
  Mapping,
  Question,
  Reading,
  ReadRecord,
  Request,
  Sum,
} from '../../src/platform/imports/reading/shapes.ts';
import { type Case, NOW } from './imports-cases.ts';

export function makeSource(name: string, bytes: Uint8Array): ByteSource {
  return {
    name,
    sizeBytes: bytes.length,
    async *read(range) {
      const part = range ? bytes.subarray(range.start, range.end + 1) : bytes;
      for (let at = 0; at < part.length; at += 65_536) yield part.subarray(at, at + 65_536);
    },
  };
}

export const BRAND: Request['brand'] = { currency: 'EUR', timeZone: 'UTC', stores: [] };

export interface Read {
  reading: Reading;
  /** By their place in the file. */
  lines: Line[];
  records: ReadRecord[];
}

/** A file's reading, and everything that its plan makes of it. */
export async function readWhole(
  of: Kind,
  content: string | Uint8Array,
  mapping: Mapping = {},
  brand: Request['brand'] = BRAND,
): Promise<Read> {
  const source = makeSource('file.csv', typeof content === 'string' ? Buffer.from(content) : content);
  const request = { of, mapping, brand, now: new Date('2026-11-27T18:00:00Z') };
  const { reading, plan } = await readTable(source, request);
  const lines: Line[] = [];
  if (plan) for await (const batch of readRecords(source, request, plan)) lines.push(...batch);
  lines.sort((a, b) => a.line - b.line);
  return { reading, lines, records: lines.flatMap(({ record }) => record ?? []) };
}

const show = (record: ReadRecord): string => {
  if (record.kind === 'order') return `/${record.amount}/${record.refunded}/${record.placed_at.slice(0, 10)}`;
  if (record.kind === 'paid') return `${record.email}/${record.amount}/0/${record.paid_at.slice(0, 10)}`;
  if (record.kind === 'person') return `${record.email}/0/0/`;
  return record.kind === 'directory' ? record.username : `${record.goods?.least}/${record.goods?.refunded}`;
};

/** All lines of a file by the plan of its reading. Their outcomes must add up as the reading says. */
async function collectLines(source: ByteSource, request: Request): Promise<Line[]> {
  const { plan, reading } = await readTable(source, request);
  if (!plan) return [];
  const lines: Line[] = [];
  for await (const batch of readRecords(source, request, plan)) lines.push(...batch);
  const { counts } = reading;
  for (const outcome of ['read', 'repeated', 'left_out', 'refused'] as const) {
    const found = lines.filter((line) => line.outcome === outcome).length;
    if (found !== counts[outcome])
      throw new Error(`${found} lines are ${outcome}, the reading says ${counts[outcome]}.`);
  }
  const rows = lines.reduce((sum, line) => sum + line.lines.length, 0);
  if (rows !== counts.lines) throw new Error(`${rows} rows have an outcome, the reading says ${counts.lines}.`);
  return lines;
}

/** All records of a file by the plan of its reading. */
export async function collectRecords(source: ByteSource, request: Request): Promise<ReadRecord[]> {
  const lines = await collectLines(source, request);
  return lines.flatMap(({ outcome, record }) => (outcome === 'read' && record ? [record] : []));
}

function agrees(option: Mapping, truth: Mapping): boolean {
  return JSON.stringify(pickSame(option, truth)) === JSON.stringify(option);
}

/** The part of a mapping that the truth says the same of; what the truth does not speak of is kept. */
function pickSame(option: Mapping, truth: Mapping): unknown {
  const said: Record<string, unknown> = { ...truth };
  return Object.fromEntries(
    Object.entries(option).map(([key, value]) => {
      const right = said[key];
      if (right === undefined) return [key, value];
      if (typeof value !== 'object' || value === null || typeof right !== 'object' || right === null)
        return [key, right];
      const inner: Record<string, unknown> = { ...right };
      return [key, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inner[name] ?? each]))];
    }),
  );
}

/** The option that a person who knows the file takes. */
export function answerQuestion(question: Pick<Question, 'code' | 'options'>, truth: Mapping): Mapping | undefined {
  const option = question.options.find(({ mapping }) => agrees(mapping, truth))?.mapping;
  const { currency } = truth.constants ?? {};
  return option ?? (question.code === 'currency_missing' && currency ? { constants: { currency } } : undefined);
}

export interface CaseResult {
  name: string;
  codes: string[];
  refused: string | null;
  /** A file that asks nothing and says something else than it holds. */
  silent: string | null;
  /** The same after every question was answered truthfully. */
  answered: string | null;
}

async function compare(made: Case, mapping: Mapping): Promise<string | null> {
  const request: Request = { of: made.format.of, mapping, brand: BRAND, now: NOW };
  const records = (await collectRecords(makeSource(made.name, made.bytes), request)).map(show).toSorted();
  const truth = made.truth.map(({ who, amount, refunded, day }) => `${who}/${amount}/${refunded}/${day}`).toSorted();
  if (JSON.stringify(records) === JSON.stringify(truth)) return null;
  const extra = records.filter((record) => !truth.includes(record));
  const missing = truth.filter((record) => !records.includes(record));
  return `${records.length} of ${truth.length}; read ${extra.slice(0, 3).join(' ')}; missing ${missing.slice(0, 3).join(' ')}`;
}

const sortSums = (sums: readonly Sum[]) => sums.toSorted((a, b) => a.currency.localeCompare(b.currency));

/** An option promises sums; reading under it must give them. */
async function checkPromises(made: Case, reading: Reading): Promise<string | null> {
  const [question, ...others] = reading.questions;
  if (!question || others.length > 0) return null;
  for (const option of question.options) {
    const request: Request = { of: made.format.of, mapping: option.mapping, brand: BRAND, now: NOW };
    const answered = (await readTable(makeSource(made.name, made.bytes), request)).reading;
    if (answered.questions.length > 0) continue;
    const sums = answered.sums.flatMap(({ outcome, ...sum }) => (outcome === 'read' ? [sum] : []));
    const isKept = JSON.stringify(sortSums(sums)) === JSON.stringify(sortSums(option.sums));
    if (!isKept) return `${question.id}: ${JSON.stringify(option)} gave ${JSON.stringify(sums)}`;
  }
  return null;
}

/** Reads a case, answers its questions truthfully, and says where it went wrong. */
export async function checkCase(made: Case): Promise<CaseResult> {
  let mapping: Mapping = {};
  const codes: string[] = [];
  const result: CaseResult = { name: made.name, codes, refused: null, silent: null, answered: null };
  for (let round = 0; round < 8; round += 1) {
    const request: Request = { of: made.format.of, mapping, brand: BRAND, now: NOW };
    const { reading } = await readTable(makeSource(made.name, made.bytes), request);
    if (reading.status === 'refused') return { ...result, refused: reading.refusals[0]?.kind ?? '' };
    if (reading.status === 'ready') {
      const refused = reading.refusals.map(({ kind, lines }) => `${kind} ${lines}`).join(', ');
      const wrong = await compare(made, mapping);
      const difference = wrong === null ? null : `${wrong} (${refused})`;
      return round === 0 ? { ...result, silent: difference } : { ...result, answered: difference };
    }
    const broken = round === 0 ? await checkPromises(made, reading) : null;
    if (broken !== null) return { ...result, answered: broken };
    const before = JSON.stringify(mapping);
    for (const question of reading.questions) {
      if (round === 0) codes.push(question.code);
      const said = answerQuestion(question, made.answers);
      if (said) mapping = mergeMappings(mapping, said);
    }
    if (JSON.stringify(mapping) === before)
      return { ...result, answered: `no truthful answer to ${reading.questions.map(({ id }) => id).join(', ')}` };
  }
  return { ...result, answered: 'asked without end' };
}
