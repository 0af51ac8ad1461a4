import { z } from 'zod';
import { createdAt, idField, updatedAt } from '../../kit/values/fields.ts';
import { PageQuery, timestamp, WaitingListQuery } from '../../kit/values/page.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { ImportMapping } from '../../platform/imports/imports.shapes.ts';

export const OF = ['orders', 'commissions', 'roster', 'payouts', 'payment_details', 'reconciliation'] as const;
export type Of = (typeof OF)[number];

const STATUSES = [
  'reading',
  'needs_answers',
  'ready',
  'refused',
  'running',
  'done',
  'failed',
  'stopped',
  'undoing',
  'undone',
  'expired',
] as const;
export type ImportStatus = (typeof STATUSES)[number];

export const OUTCOMES = ['new', 'known', 'differs', 'repeated', 'left_out', 'refused'] as const;
export type LineOutcome = (typeof OUTCOMES)[number];

const importId = idField('imp', 'Import id.');
const count = (about: string) => z.number().int().describe(about).meta({ example: 4 });
const lines = z.array(z.number().int()).meta({ example: [2] });

const of = z
  .enum(OF)
  .describe(
    '`orders`: past orders. `commissions`: what creators were paid elsewhere. `roster`: creators with their codes and links. ' +
      '`payouts`: payments that were made. `payment_details`: where creators are paid. `reconciliation`: a store’s own ' +
      'list of orders, which is compared with ours and recorded nowhere.',
  );

export const Options = z.strictObject({
  pays: z
    .boolean()
    .exactOptional()
    .describe(
      'Whether orders pay creators by their codes, like orders of a shop that is not connected. Omitted: they are history and pay nobody.',
    ),
  add_creators: z
    .boolean()
    .exactOptional()
    .describe('Whether unknown creators of commissions are added to the roster.'),
  create: z
    .boolean()
    .exactOptional()
    .describe('Whether a payment that matches no open payout is recorded as a payout.'),
});
export type Options = z.output<typeof Options>;

/** Forms carry text only. */
export const orJson = <S extends z.ZodType>(shape: S) =>
  z.preprocess((value, context) => {
    if (typeof value !== 'string') return value;
    try {
      return JSON.parse(value);
    } catch {
      context.addIssue({ code: 'custom', message: 'must be JSON' });
      return z.NEVER;
    }
  }, shape);

const source = z
  .string()
  .trim()
  .min(1)
  .max(100)
  .refine((text) => !/\p{Cc}/u.test(text), 'must not have control characters');

const MAX_TEXT = 1024 * 1024;

export const ImportCreate = z
  .object({
    of: of.meta({ example: 'commissions' }),
    source: source
      .optional()
      .describe(
        'Where the file comes from, in your own words: a shop or a tool. Records of one source are known again.',
      )
      .meta({ example: 'Our former tool' }),
    integration_id: z
      .string()
      .max(100)
      .optional()
      .describe('Store whose orders a `reconciliation` compares. It may be omitted if the brand has only one.')
      .meta({ example: 'int_0Uo3xK2mVdT2aXs7LpRb' }),
    mapping: orJson(ImportMapping)
      .optional()
      .describe('How the file is read, where that is already settled; JSON in a form.')
      .meta({ example: { dates: 'dmy' } }),
    options: orJson(Options).optional().describe('What is recorded; JSON in a form.').meta({ example: {} }),
    text: z
      .string()
      .max(MAX_TEXT)
      .optional()
      .describe('The content of the file, in place of `file`.')
      .meta({ example: 'email,amount,currency,date\nana@example.com,12.50,USD,2026-03-02\n' }),
  })
  .meta({
    example: { of: 'commissions', text: 'email,amount,currency,date\nana@example.com,12.50,USD,2026-03-02\n' },
  });
export type ImportCreate = z.output<typeof ImportCreate>;

export const ImportPatch = z
  .object({
    mapping: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Merged into the mapping; null removes a field. The mapping of an option answers its question.')
      .meta({ example: { dates: 'dmy' } }),
    options: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Merged into the options; null removes one.')
      .meta({ example: { add_creators: true } }),
  })
  .meta({ id: 'ImportPatch' });
export type ImportPatch = z.output<typeof ImportPatch>;

export const ImportConfirm = z
  .object({
    reading_id: z
      .string()
      .max(100)
      .describe('The reading that was seen; another one is refused.')
      .meta({ example: '2f0c1d6f1b0f4f5d9a3f' }),
  })
  .meta({ id: 'ImportConfirm' });

const majorAmount = (about: string) => z.number().describe(about).meta({ example: 5300 });
const Sum = z.object({
  currency: z.string().describe('Currency of the sum; sums of several are never added.').meta({ example: 'USD' }),
  records: count('Records that it adds up.'),
  amount: majorAmount('Amounts, in major units.'),
  refunded: majorAmount('What was refunded of them, in major units.'),
  net: majorAmount('The amounts less the refunds, in major units.'),
});

const untrustedText = (about: string, example: string) => fromOutside(z.string().describe(about).meta({ example }));

const Column = z.object({
  position: z.number().int().describe('Place of the column, from 0.').meta({ example: 2 }),
  header: untrustedText('Header of the column.', 'Subtotal'),
  field: z.string().nullable().describe('Field that it is; null if it is not used.').meta({ example: 'amount' }),
  confidence: z
    .enum(['proved', 'likely', 'asked'])
    .nullable()
    .describe('`proved`: nothing else is possible. `likely`: names and notes only. `asked`: a question decides.'),
  by: z
    .enum(['mapping', 'stored', 'format', 'own', 'word', 'values'])
    .nullable()
    .describe(
      'What decided it: your mapping, an earlier import, a known format, our own names, a word, or its values.',
    ),
  damaged: z
    .boolean()
    .describe('Whether a spreadsheet has rounded the ids in it; they are then not used.')
    .meta({ example: false }),
  samples: fromOutside(
    z
      .array(z.string())
      .describe('Some of its cells.')
      .meta({ example: ['100.00'] }),
  ),
});

/** A record as an answer would read it. */
const OptionLine = z.object({
  line: z.number().int().describe('Line of the file at which the record starts.').meta({ example: 2 }),
  cells: fromOutside(
    z
      .array(z.string())
      .describe('Its original cells.')
      .meta({ example: ['03/04/2026', '12.50'] }),
  ),
  record: fromOutside(
    z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('The record as it would be read; null if it would not be recorded.')
      .meta({
        example: { email: 'ana@example.com', amount: 12.5, currency: 'USD', paid_at: '2026-04-03T12:00:00.000Z' },
      }),
  ),
  message: fromOutside(
    z.string().nullable().describe('Why it would not be recorded; null if it would.').meta({ example: null }),
  ),
});
export type OptionLine = z.output<typeof OptionLine>;

const Question = z.object({
  id: z.string().describe('Id of the question within the import.').meta({ example: 'date_order:paid_at' }),
  code: z.string().describe('Kind of question.').meta({ example: 'date_order' }),
  message: untrustedText('The question, in a sentence.', 'Is 03/04/2026 in “Date” April 3 or March 4?'),
  field: z.string().nullable().describe('Field that it is about.').meta({ example: 'paid_at' }),
  lines: count('Lines that it is about.'),
  first_lines: lines.describe('The first of them.'),
  options: z
    .array(
      z.object({
        mapping: z
          .record(z.string(), z.unknown())
          .describe('Answers the question when it is sent by `PATCH`.')
          .meta({ example: { dates: 'dmy' } }),
        label: untrustedText('The answer in words.', 'April 3'),
        sums: z.array(Sum).describe('What would be recorded then, by currency.'),
        records: count('Records that would be recorded then.'),
        refused: count('Records that would be refused then.'),
        sample: z.array(OptionLine).describe('The first records that it decides, as they would be read.'),
      }),
    )
    .describe('Possible answers.'),
});

const LineContent = {
  line: z.number().int().describe('Line of the file at which the record starts.').meta({ example: 2 }),
  lines: lines.describe('All lines of the record.'),
  outcome: z
    .enum(OUTCOMES)
    .describe(
      '`new`: recorded, or would be. `known`: recorded before. `differs`: known with other content, which stays. ' +
        '`repeated`: again in this file. `left_out`: it does not count. `refused`: it cannot be read or recorded.',
    ),
  kind: z.string().nullable().describe('Why it is left out or refused.').meta({ example: 'status' }),
  message: fromOutside(
    z.string().nullable().describe('The reason in a sentence; null for recorded ones.').meta({ example: null }),
  ),
  record: fromOutside(
    z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('The record as it was read; null if it could not be.')
      .meta({ example: { email: 'ana@example.com', amount: 12.5, currency: 'USD' } }),
  ),
  known_id: z.string().nullable().describe('The known record; null for a new one.').meta({ example: null }),
};

/** The cell for which a record is refused. */
const refusedCell = {
  field: z.string().nullable().describe('Field for which it is refused; null for none.').meta({ example: 'paid_at' }),
  column: fromOutside(
    z.string().nullable().describe('Header of its column; null if the file has none.').meta({ example: 'Date' }),
  ),
  value: fromOutside(z.string().nullable().describe('Its cell; null without one.').meta({ example: '31.02.2026' })),
  expected: z
    .string()
    .nullable()
    .describe('A value that would be right, in words.')
    .meta({ example: 'a date such as 2026-03-31' }),
};

export const ImportLine = z
  .object({
    ...LineContent,
    ...refusedCell,
    cells: fromOutside(
      z.array(z.string()).describe('Original cells of a refused record; empty for others.').meta({ example: [] }),
    ),
  })
  .meta({ id: 'ImportLine' });
export type ImportLine = z.output<typeof ImportLine>;

/** One of the first records, beside its cells. */
export const SampleLine = z.object({
  ...LineContent,
  cells: fromOutside(
    z
      .array(z.string())
      .describe('Its original cells.')
      .meta({ example: ['31.03.2026', '12,50'] }),
  ),
});
export type SampleLine = z.output<typeof SampleLine>;

const Result = z.object({
  written: count('Records that were written.'),
  updated: count('Known records that the file changed.'),
  known: count('Records that were known, and stay.'),
  refused: count('Records that were refused as they were written.'),
});
export type Result = z.output<typeof Result>;

export const Import = z
  .object({
    id: importId,
    of,
    status: z
      .enum(STATUSES)
      .describe(
        'Import status. `reading`: a worker reads the file. `needs_answers`: questions are open. `ready`: it can be ' +
          'confirmed. `refused`: the file cannot be read. `running`: it is being recorded. `expired`: nobody confirmed it in 7 days.',
      )
      .meta({ example: 'ready' }),
    source: source.describe('Where the file comes from.').meta({ example: 'Our former tool' }),
    integration_id: z
      .string()
      .nullable()
      .describe('Store whose orders are compared; null for other kinds.')
      .meta({ example: null }),
    file: z
      .object({
        name: untrustedText('Name of the file as it was sent.', 'orders_export.csv'),
        size_bytes: z.number().int().describe('Size of the sent file, in bytes.').meta({ example: 20_480 }),
        sha256: z
          .string()
          .describe('SHA-256 of the sent file, in hex digits.')
          .meta({ example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' }),
        same_as: z
          .string()
          .nullable()
          .describe('Earlier import of the same bytes; null if there is none.')
          .meta({ example: null }),
      })
      .describe('The file.'),
    format: z
      .object({
        key: z.string().describe('Key of the known format.').meta({ example: 'shopify_orders' }),
        name: z.string().describe('Name of the format.').meta({ example: "Shopify's orders export" }),
      })
      .nullable()
      .describe('The tool’s format that was recognized; null for none.'),
    text: z
      .object({
        encoding: z.string().describe('Encoding of the text.').meta({ example: 'utf-8' }),
        separator: z.string().describe('Character between cells.').meta({ example: ',' }),
        header_line: z.number().int().nullable().describe('Line of the header.').meta({ example: 1 }),
        sheet: z.string().nullable().describe('Sheet that was read; null for text.').meta({ example: null }),
        sheets: z.array(z.string()).describe('Sheets of the workbook.').meta({ example: [] }),
        totals_lines: z.array(z.number().int()).describe('Lines that add up others.').meta({ example: [] }),
        repaired: count('Cells that were decoded wrongly before, and repaired.'),
        differing: z
          .array(
            z.object({
              line: z.number().int().describe('Line of the cell.').meta({ example: 2 }),
              text: untrustedText('The cell, as this encoding reads it.', 'Jörg Müller'),
            }),
          )
          .describe('Some cells that another encoding would read differently; empty if the bytes prove the encoding.'),
      })
      .nullable()
      .describe('How the file is written; null while it is read.'),
    columns: z.array(Column).describe('Its columns.'),
    readings: z
      .object({
        dates: z.enum(['dmy', 'mdy', 'ymd']).nullable().describe('Order of day, month and year in dates.'),
        time_zone: z.string().describe('Time zone of times that name none.').meta({ example: 'Europe/Berlin' }),
        time_zone_by: z.enum(['mapping', 'file', 'brand']).describe('What says the time zone.'),
        decimal: z.enum(['.', ',']).nullable().describe('Decimal mark.'),
        unit: z.enum(['major', 'minor']).describe('Unit of amounts.'),
        goods: z.string().nullable().describe('Which amount of an order is its goods.').meta({ example: 'subtotal' }),
        tax: z.string().nullable().describe('Where the tax is.').meta({ example: 'by_line' }),
        currency: z.string().nullable().describe('Currency of amounts that name none.').meta({ example: 'EUR' }),
      })
      .nullable()
      .describe('How cells are read; null while the file is read.'),
    statuses: z
      .array(
        z.object({
          value: untrustedText('A status in the file.', 'Completed'),
          means: z.string().describe('What it means here, or `asked`.').meta({ example: 'counts' }),
          lines: count('Lines with that status.'),
          sums: z.array(Sum).describe('Their amounts.'),
        }),
      )
      .describe('Statuses in the file.'),
    questions: z.array(Question).describe('Open questions.'),
    counts: z
      .object({
        lines: count('Rows below the header.'),
        records: count('Records in these rows. The other counts add up to this.'),
        new: count('Records that are new.'),
        known: count('Records that are known, with the same content.'),
        differs: count('Records that are known with other content.'),
        repeated: count('Records that are in the file a second time.'),
        left_out: count('Records that do not count.'),
        refused: count('Records that cannot be read or recorded.'),
      })
      .nullable()
      .describe('Counts by outcome; null while the file is read.'),
    sums: z
      .array(Sum.extend({ outcome: z.enum(OUTCOMES).describe('Outcome of the records.') }))
      .describe('Amounts by outcome and currency.'),
    refusals: z
      .array(
        z.object({
          kind: z.string().describe('Kind of refusal.').meta({ example: 'time_unreadable' }),
          lines: count('Lines that are refused for it.'),
          first_lines: lines.describe('The first of those lines.'),
          message: untrustedText('The refusal in a sentence.', 'A date cannot be read.'),
          ...refusedCell,
        }),
      )
      .describe('Why records, or the whole file, are refused.'),
    warnings: z
      .array(
        z.object({
          code: z.string().describe('Kind of warning.').meta({ example: 'no_status' }),
          message: untrustedText('The warning in a sentence.', 'The file has no status: every line counts.'),
        }),
      )
      .describe('What to know before it is confirmed.'),
    sample: z.array(SampleLine).describe('The first 20 records, as they are read.'),
    mapping: z
      .record(z.string(), z.unknown())
      .describe('What you said about the file.')
      .meta({ example: { dates: 'dmy' } }),
    options: Options.describe('What is recorded.').meta({ example: {} }),
    reading_id: z
      .string()
      .nullable()
      .describe('Names this reading for the confirmation; null while the file is read.')
      .meta({ example: '2f0c1d6f1b0f4f5d9a3f' }),
    job_id: z
      .string()
      .nullable()
      .describe('Job that reads, writes or undoes it. That of a confirmed `reconciliation` has its result.')
      .meta({ example: 'job_0Uo3xK2mVdT2aXs7LpRb' }),
    handled: count('Records that the run has handled so far.'),
    result: Result.nullable().describe('What was written; null before the end of the run, and for a `reconciliation`.'),
    error: z.string().nullable().describe('Why it failed; null unless it did.').meta({ example: null }),
    undo: z
      .object({
        possible: z.boolean().describe('Whether it can be undone now.').meta({ example: true }),
        until: timestamp.nullable().describe('Until when it can be undone; null if it never could be.'),
        removes: count('Rows of the import that an undo would take back or check.'),
        stays: z
          .number()
          .int()
          .nullable()
          .describe(
            'Of these, rows that stay because something else changed or refers to them since, up to 10,000; null in lists, ' +
              'and where only the undo itself finds them.',
          )
          .meta({ example: 0 }),
        why: z.string().nullable().describe('Why it cannot be undone; null if it can.').meta({ example: null }),
      })
      .describe('What undoing it would do.'),
    by: z
      .string()
      .nullable()
      .describe('Key or session that sent the file.')
      .meta({ example: 'key_0Uo3xK2mVdT2aXs7LpRb' }),
    created_at: createdAt,
    confirmed_at: timestamp.nullable().describe('When it was confirmed; null until then.'),
    ended_at: timestamp.nullable().describe('When its run ended; null until then.'),
    updated_at: updatedAt,
  })
  .meta({ id: 'Import' });
export type Import = z.input<typeof Import>;

export const ImportFilter = z.object({
  ...WaitingListQuery,
  of: z.enum(OF).optional().describe('Only imports of this kind of record.'),
  status: z.enum(STATUSES).optional().describe('Only imports in this status.'),
});
export type ImportFilter = z.output<typeof ImportFilter>;

export const LineFilter = z.object({
  ...PageQuery,
  outcome: z.enum(OUTCOMES).optional().describe('Only lines with this outcome.'),
  kind: z.string().max(100).optional().describe('Only lines that are left out or refused for this.'),
});
export type LineFilter = z.output<typeof LineFilter>;

export const StoredMapping = z
  .object({
    id: idField('imm', 'Id of the stored mapping.'),
    of: Import.shape.of,
    source: Import.shape.source,
    headers: fromOutside(
      z
        .array(z.string())
        .describe('Header of the files.')
        .meta({ example: ['email', 'amount'] }),
    ),
    mapping: Import.shape.mapping.describe('What was said about them.'),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .meta({ id: 'StoredMapping' });
