import { z } from 'zod';
import { creatorEmail, currencyField, idField } from '../../kit/values/fields.ts';
import { throughInput, timestamp, timestampInput } from '../../kit/values/page.ts';
import { besideOthers, type Unchecked } from '../../kit/values/problems.ts';

export const CustomerBackfill = z
  .object({
    from: timestampInput
      .describe('Only orders placed at or after this time; a date means its start.')
      .meta({ example: '2026-01-01' }),
    to: throughInput
      .describe('Only orders placed at or before this time; a date includes the whole day.')
      .meta({ example: '2026-03-31' }),
    apply: z
      .boolean()
      .default(false)
      .describe('`true` decides the orders; `false` only says what they would pay.')
      .meta({ example: false }),
  })
  .superRefine(({ from, to }: Unchecked<'from' | 'to'>, context) => {
    if (!(from instanceof Date && to instanceof Date) || from <= to) return;
    context.addIssue({ code: 'custom', path: ['from'], message: 'must not be after `to`' });
  }, besideOthers)
  .meta({ id: 'CustomerBackfill' });
export type CustomerBackfill = z.output<typeof CustomerBackfill>;

/** The stored request of a job. */
export const BackfillRequest = z.object({ from: z.coerce.date(), to: z.coerce.date(), apply: z.boolean() });

/** A paying order, real or planned. */
export const BackfilledOrder = z.object({
  id: idField('ord', 'Id of the order.'),
  order_id: z.string(),
  integration_id: z.string(),
  occurred_at: timestamp,
  currency: currencyField,
  amount_minor: z.number().int(),
  commission_minor: z.number().int(),
  creator_id: z.string(),
  creator_email: creatorEmail,
  link_id: z.string().nullable(),
  customer_id: z.string().nullable(),
  kind: z.string(),
});
export type BackfilledOrder = z.output<typeof BackfilledOrder>;
