import { z } from 'zod';
import { Email } from '../../kit/values/email.ts';
import { currencyField } from '../../kit/values/fields.ts';
import { Currency } from '../../kit/values/money.ts';
import { throughInput, timeZoneInput } from '../../kit/values/page.ts';
import { Job } from '../../platform/jobs/jobs.api.ts';

export const note = z
  .string()
  .trim()
  .max(5_000)
  .nullable()
  .optional()
  .describe('Reason for the review, stored as `status_note`.')
  .meta({ example: 'Order checked by hand.' });

export const DueApproval = z
  .object({
    cutoff: throughInput.describe(
      'Approves only commissions of orders placed at or before this time; a date alone includes that day.',
    ),
    time_zone: timeZoneInput,
    currency: Currency.optional().describe('Approves only commissions in this currency; in every one when omitted.'),
    creator_email: Email.optional()
      .describe('Approves only the commissions of this creator. Case does not matter.')
      .meta({ example: 'ana@example.com' }),
    flagged: z
      .boolean()
      .default(false)
      .describe('Whether to approve commissions with a high fraud flag, too. By default they wait for a person.'),
    note,
  })
  .meta({ id: 'DueApproval', examples: [{ cutoff: '2026-03-31', note: 'March' }] });
export type DueApproval = z.output<typeof DueApproval>;

const count = z.number().int().min(0);

export const CommissionsApproved = z
  .object({
    updated: count.describe('Number of commissions that were approved.').meta({ example: 240 }),
    flagged: count.describe('Number of commissions that a high fraud flag left to a person.').meta({ example: 2 }),
    by_currency: z
      .array(
        z.object({
          currency: currencyField,
          commissions: count.describe('Commissions approved in this currency.').meta({ example: 240 }),
          total: z.number().describe('Sum of the approved commissions, in major units.').meta({ example: 3120.4 }),
        }),
      )
      .describe('Sums of what was approved, one row per currency.'),
  })
  .meta({ id: 'CommissionsApproved' });

/** Response if more can be approved than a call does. */
export const ApprovalStarted = z.object({ data: Job }).meta({ id: 'ApprovalStarted' });
