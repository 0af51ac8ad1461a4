import { z } from 'zod';
import { Boundary, checkOrder } from '../../analytics/figures/sums.ts';
import { timeZoneInput } from '../../kit/values/page.ts';
import { besideOthers } from '../../kit/values/problems.ts';
import { ImportMapping } from '../../platform/imports/imports.shapes.ts';
import { orJson } from '../imports/imports.shapes.ts';
import { FINDING_KINDS, ROLES } from './compare.ts';

const Header = z.string().trim().min(1).max(200);
const Columns = z.partialRecord(z.enum(ROLES), Header);

/** Forms carry text only. */
const FormColumns = z
  .string()
  .max(4_000)
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue({ code: 'custom', message: 'must be JSON such as {"order_id": "Id", "amount": "Subtotal"}' });
      return z.NEVER;
    }
  })
  .pipe(Columns);

export const ReconciliationCreate = z
  .object({
    integration_id: z
      .string()
      .max(100)
      .optional()
      .describe('Store whose orders are compared. A file may omit it if the brand has only one.')
      .meta({ example: 'int_0Uo3xK2mVdT2aXs7LpRb' }),
    from: Boundary.optional()
      .describe('Start of the compared period, a day or a time. A file covers from its first known order if omitted.')
      .meta({ example: '2026-03-01' }),
    to: Boundary.optional()
      .describe(
        'End of the compared period; a day is included whole. A file covers up to its last known order if omitted.',
      )
      .meta({ example: '2026-03-31' }),
    time_zone: timeZoneInput,
    columns: FormColumns.optional()
      .describe(
        `Headers of the file as JSON, where they are not recognized: ${ROLES.join(', ')}. \`amount\` is goods after discounts; ` +
          'without it, it is `total` minus `shipping`, `taxes` and `fees`.',
      )
      .meta({ example: '{"order_id": "Id", "amount": "Subtotal"}' }),
    mapping: orJson(ImportMapping)
      .optional()
      .describe(
        'How the file is read, where it leaves something open; JSON in a form. A 422 with `questions` has the `mapping` of each answer.',
      )
      .meta({ example: { decimal: ',' } }),
  })
  .superRefine(checkOrder, besideOthers)
  .meta({
    example: { integration_id: 'int_0Uo3xK2mVdT2aXs7LpRb', from: '2026-03-01', to: '2026-03-31' },
  });
export type ReconciliationCreate = z.output<typeof ReconciliationCreate>;

/** Request that a reconciliation job stores. */
export const ReconciliationRequest = z.object({
  integration_id: z.string(),
  /** Null: the store lists its orders itself. */
  file: z.string().nullable(),
  columns: Columns.nullable(),
  mapping: ImportMapping.optional(),
  from: z.iso.datetime().nullable(),
  until: z.iso.datetime().nullable(),
  /** The zone of the requested days. */
  time_zone: z.string().default('UTC'),
});
export type ReconciliationRequest = z.output<typeof ReconciliationRequest>;

const text = z.string().nullable();

/** A row of the job's file. */
export const FindingRow = z.object({
  finding: z.enum(FINDING_KINDS),
  order_id: z.string(),
  placed_at: text,
  currency_here: text,
  currency_there: text,
  amount_here: text,
  amount_there: text,
  refunded_here: text,
  refunded_there: text,
  commission_id: text,
  commission_status: text,
  commission: text,
  creator_email: text,
  order_number: text.default(null),
});
export type FindingRow = z.output<typeof FindingRow>;
