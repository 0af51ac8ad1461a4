import { z } from 'zod';
import { TimeZone } from '../../kit/values/time-zone.ts';
import { ANSWERS, readConstantProblem } from './reading/constants.ts';
import { isCurrency } from './reading/currencies.ts';
import { FIELDS } from './reading/kinds.ts';
import type { Mapping } from './reading/shapes.ts';

const Header = z.string().trim().min(1).max(500);
const FIELD_NAMES = new Set(Object.values(FIELDS).flatMap((fields) => Object.keys(fields)));
const Field = z
  .string()
  .refine((name) => FIELD_NAMES.has(name), 'is not a field of any kind of file')
  .meta({ enum: [...FIELD_NAMES] });
const Meaning = z.enum(['counts', 'refunded', 'left_out', 'paid', 'active', 'paused']);
const MAX_ENTRIES = 300;

/** A currency in any case, as an answer to a question of a file. */
const AnyCurrency = z
  .string()
  .trim()
  .length(3)
  .toUpperCase()
  .refine(isCurrency, 'must be an ISO currency in use such as USD');

const CONSTANTS = new Set([...FIELD_NAMES, ...ANSWERS.keys()]);
const Constant = z
  .string()
  .refine((name) => CONSTANTS.has(name), 'is neither a field of any kind of file nor a question about one')
  .meta({ enum: [...CONSTANTS] });

/** Values of fields that a file lacks, and answers that have no name of their own. */
const Constants = z
  .record(Constant, z.string().max(500))
  .overwrite((constants) =>
    constants.currency === undefined ? constants : { ...constants, currency: constants.currency.trim().toUpperCase() },
  )
  .superRefine((constants, context) => {
    for (const [name, value] of Object.entries(constants)) {
      const message = readConstantProblem(name, value);
      if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
    }
  });

/** A map from words of a file, such as its statuses. */
const wordsTo = <Value extends z.ZodType>(value: Value) =>
  z
    .record(z.string().max(500), value)
    .refine((words) => Object.keys(words).length <= MAX_ENTRIES, `must have at most ${MAX_ENTRIES} entries`);

/** Settles how a file is read. Answers to questions are mappings, too. */
export const ImportMapping = z
  .strictObject({
    columns: z
      .record(Field, Header.nullable())
      .exactOptional()
      .describe('Header of each field; null if no column has it.'),
    constants: Constants.exactOptional().describe('Values of fields that the file lacks.'),
    sheet: z.string().max(100).exactOptional().describe('Sheet of a workbook.'),
    encoding: z.string().max(40).exactOptional().describe('Encoding of the text, such as windows-1252.'),
    separator: z.string().length(1).exactOptional().describe('Character between cells.'),
    header_line: z.int().min(0).max(1_000).exactOptional().describe('Line of the header; 0 if there is none.'),
    dates: z.enum(['dmy', 'mdy', 'ymd']).exactOptional().describe('Order of day, month and year.'),
    time_zone: TimeZone.exactOptional().describe('IANA time zone of times that name none.'),
    decimal: z.enum(['.', ',']).exactOptional().describe('Decimal mark, if the cells leave it open.'),
    unit: z.enum(['major', 'minor']).exactOptional().describe('Amounts are in major units, or in cents.'),
    goods: z
      .enum(['amount', 'subtotal', 'subtotal_less_discount', 'total_less_rest', 'total'])
      .exactOptional()
      .describe('Which amount of an order is its goods, without tax and shipping.'),
    tax: z.enum(['on_top', 'included']).exactOptional().describe('Where the tax is, if no total shows it.'),
    tax_in_prices: z
      .enum(['proportional', 'goods_only'])
      .exactOptional()
      .describe('How much of the tax in prices belongs to shipping.'),
    partial_refunds: z
      .enum(['proportional', 'goods_first'])
      .exactOptional()
      .describe('How much of a partial refund counts as goods.'),
    rate: z.enum(['percent', 'fraction']).exactOptional().describe('Scale of rates without a percent sign.'),
    symbols: wordsTo(AnyCurrency).exactOptional().describe('Currencies by signs that several share.'),
    statuses: wordsTo(Meaning).exactOptional().describe('Meanings of statuses.'),
    people: wordsTo(z.string().max(100)).exactOptional().describe('Roster entries by the names in the file.'),
    known: z.enum(['keep', 'update']).exactOptional().describe('Handling of known records that differ.'),
    zeros: z
      .enum(['same', 'other'])
      .exactOptional()
      .describe('Orders that are known only without the zeros before their ids: the same, or others.'),
    totals: z.literal('ignore').exactOptional().describe('Leaves out a totals row that does not add up.'),
  })
  .meta({ example: { columns: { amount: 'Commission' }, dates: 'dmy' } });
export type ImportMapping = z.output<typeof ImportMapping>;

/** The reading takes exactly what the API accepts; the compiler compares both. */
export const toMapping = (mapping: ImportMapping): Mapping => mapping;
