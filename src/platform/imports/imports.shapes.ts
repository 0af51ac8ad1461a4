import { z } from 'zod';
import { FIELDS, KINDS } from './reading/kinds.ts';
import type { Mapping } from './reading/shapes.ts';

/** Kinds of file that a brand imports; the directory's files are the indexer's. */
export const ImportKind = z.enum(KINDS).exclude(['directory']);

export const IMPORT_STATUSES = [
  ...['reading', 'needs_answers', 'ready', 'refused', 'running', 'done', 'failed', 'stopped'],
  ...['undoing', 'undone', 'expired'],
] as const;

export const QUESTION_CODES = [
  ...['column_meaning', 'amount_meaning', 'date_order', 'decimal_sign', 'unit', 'rate_scale', 'currency_missing'],
  ...['currency_sign', 'tax_in_prices', 'partial_refunds', 'status_meaning', 'people', 'proof', 'leading_zeros'],
  ...['known_differ', 'totals_disagree'],
] as const;

export const OUTCOMES = ['new', 'known', 'differs', 'repeated', 'left_out', 'refused'] as const;

const Header = z.string().trim().min(1).max(500);
const FIELD_NAMES = new Set(Object.values(FIELDS).flatMap((fields) => Object.keys(fields)));
const Field = z.string().refine((name) => FIELD_NAMES.has(name), 'is not a field of any kind of file');
const Meaning = z.enum(['counts', 'refunded', 'left_out', 'paid', 'active', 'paused']);
const Few = 300;

/** Maps of people's own words have an end. */
const wordsTo = <Value extends z.ZodType>(value: Value) =>
  z
    .record(z.string().max(500), value)
    .refine((words) => Object.keys(words).length <= Few, `must have at most ${Few} entries`);

/** The caller's word on how a file is read. Answers to questions are mappings, too. */
export const ImportMapping = z
  .strictObject({
    columns: z
      .record(Field, Header.nullable())
      .exactOptional()
      .describe('Headers by field; null says that no column is it.'),
    constants: z
      .record(z.string().max(50), z.string().max(500))
      .exactOptional()
      .describe('Values of fields that the file lacks.'),
    sheet: z.string().max(100).exactOptional().describe('Sheet of a workbook.'),
    encoding: z.string().max(40).exactOptional().describe('Encoding of the text, such as windows-1252.'),
    separator: z.string().length(1).exactOptional().describe('Character between cells.'),
    header_line: z.int().min(0).max(1_000).exactOptional().describe('Line of the header; 0 if there is none.'),
    dates: z.enum(['dmy', 'mdy', 'ymd']).exactOptional().describe('Order of day, month and year.'),
    time_zone: z.string().max(60).exactOptional().describe('IANA time zone of times that say none.'),
    decimal: z.enum(['.', ',']).exactOptional().describe('Mark before decimals, where cells leave it open.'),
    unit: z.enum(['major', 'minor']).exactOptional().describe('Amounts are in major units, or in cents.'),
    goods: z
      .enum(['amount', 'subtotal', 'subtotal_less_discount', 'total_less_rest', 'total'])
      .exactOptional()
      .describe('Amount of an order that is its goods, without tax and shipping.'),
    tax: z.enum(['on_top', 'included']).exactOptional().describe('Place of the tax, where no total shows it.'),
    tax_in_prices: z
      .enum(['proportional', 'goods_only'])
      .exactOptional()
      .describe('Share of tax in prices that shipping has.'),
    partial_refunds: z
      .enum(['proportional', 'goods_first'])
      .exactOptional()
      .describe('Part of a partial refund that is goods.'),
    rate: z.enum(['percent', 'fraction']).exactOptional().describe('Scale of rates without a percent sign.'),
    symbols: wordsTo(z.string().length(3)).exactOptional().describe('Currencies by signs that several share.'),
    statuses: wordsTo(Meaning).exactOptional().describe('Meanings of statuses.'),
    people: wordsTo(z.string().max(100)).exactOptional().describe('Roster entries by the names in the file.'),
    known: z.enum(['keep', 'update']).exactOptional().describe('Handling of known records that differ.'),
    totals: z.literal('ignore').exactOptional().describe('Leaves out a totals row that does not add up.'),
  })
  .meta({ example: { columns: { amount: 'Commission' }, dates: 'dmy' } });
export type ImportMapping = z.output<typeof ImportMapping>;

/** The room that reads takes exactly what the door lets in. */
export const toMapping = (mapping: ImportMapping): Mapping => mapping;

export const ImportOptions = z.strictObject({
  pays: z.boolean().optional().describe('Orders earn commission, as those that a store reports.'),
  add_creators: z.boolean().optional().describe('Unknown creators of commissions are added to the roster.'),
  create: z.boolean().optional().describe('Payouts without an open counterpart are recorded as paid by hand.'),
});

const Amount = z.number().describe('In major units.');
const LinesSeen = { lines: z.int(), first_lines: z.array(z.int()) };

const SumOfCurrency = z.object({
  currency: z.string(),
  records: z.int(),
  amount: Amount,
  refunded: Amount,
  net: Amount,
});

export const ImportQuestion = z.object({
  id: z.string(),
  code: z.enum(QUESTION_CODES),
  message: z.string(),
  field: z.string().nullable(),
  ...LinesSeen,
  options: z.array(
    z.object({
      mapping: ImportMapping.describe('Answers the question when it is sent by `PATCH`.'),
      label: z.string(),
      sums: z.array(SumOfCurrency),
    }),
  ),
});

const ImportColumn = z.object({
  position: z.int(),
  header: z.string(),
  field: z.string().nullable(),
  confidence: z.enum(['proved', 'likely', 'asked']).nullable(),
  by: z.enum(['mapping', 'stored', 'format', 'own', 'word', 'values']).nullable(),
  damaged: z.boolean(),
  samples: z.array(z.string()),
});

export const ImportLine = z.object({
  line: z.int(),
  lines: z.array(z.int()),
  outcome: z.enum(OUTCOMES),
  kind: z.string().nullable(),
  message: z.string().nullable(),
  record: z.record(z.string(), z.unknown()).nullable(),
  known_id: z.string().nullable(),
});

const Counts = z.object({
  lines: z.int(),
  records: z.int(),
  new: z.int(),
  known: z.int(),
  differs: z.int(),
  repeated: z.int(),
  left_out: z.int(),
  refused: z.int(),
});

const Readings = z.object({
  dates: z.enum(['dmy', 'mdy', 'ymd']).nullable(),
  time_zone: z.string(),
  time_zone_by: z.enum(['mapping', 'file', 'brand']),
  decimal: z.enum(['.', ',']).nullable(),
  unit: z.enum(['major', 'minor']),
  goods: z.string().nullable(),
  tax: z.enum(['on_top', 'included', 'by_line']).nullable(),
  currency: z.string().nullable(),
});

const Text = z.object({
  encoding: z.string(),
  separator: z.string(),
  header_line: z.int().nullable(),
  sheet: z.string().nullable(),
  sheets: z.array(z.string()),
  totals_lines: z.array(z.int()),
  repaired: z.int().describe('Cells that were decoded wrongly once, and were mended.'),
});

export const Import = z.object({
  id: z.string().meta({ example: 'imp_0Uo3xK2mVdT2aXs7LpRb' }),
  of: ImportKind,
  status: z.enum(IMPORT_STATUSES),
  source: z.string(),
  file: z.object({ name: z.string(), size_bytes: z.int(), sha256: z.string(), same_as: z.string().nullable() }),
  format: z.object({ key: z.string(), name: z.string() }).nullable(),
  text: Text,
  columns: z.array(ImportColumn),
  readings: Readings,
  statuses: z.array(
    z.object({
      value: z.string(),
      means: z.union([Meaning, z.literal('asked')]),
      lines: z.int(),
      sums: z.array(z.object({ currency: z.string(), amount: Amount })),
    }),
  ),
  questions: z.array(ImportQuestion),
  counts: Counts,
  sums: z.array(SumOfCurrency.extend({ outcome: z.enum(OUTCOMES) })),
  refusals: z.array(z.object({ kind: z.string(), ...LinesSeen, message: z.string() })),
  warnings: z.array(z.object({ code: z.string(), message: z.string() })),
  sample: z.array(ImportLine.omit({ kind: true, message: true, known_id: true })),
  reading_id: z.string().nullable().describe('Names exactly this reading; `confirm` takes it.'),
  job_id: z.string().nullable(),
  result: z.record(z.string(), z.int()).nullable(),
  undo: z.object({
    possible: z.boolean(),
    until: z.iso.datetime().nullable(),
    removes: z.int(),
    stays: z.int(),
    why: z.string().nullable(),
  }),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  by: z.string().nullable(),
});
export type Import = z.output<typeof Import>;
