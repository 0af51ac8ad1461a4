import { z } from 'zod';
import { besideOthers, type Unchecked } from '../../values/problems.ts';

/** A calendar day between 2000 and 2199. */
export const DueDate = z.iso
  .date({ error: 'must be a date such as 2027-01-31' })
  .refine((day) => day >= '2000-01-01' && day <= '2199-12-31', 'must be a date between 2000 and 2199')
  .meta({ example: '2027-01-31' });

/** Usage rights as data, from which the end of an asset's rights is computed. */
export const ContractTerms = z
  .object({
    channels: z
      .array(z.string().trim().min(1).max(100))
      .max(20)
      .default([])
      .describe('Channels it may be used on; empty for any.')
      .meta({ example: ['paid_social'] }),
    territory: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .nullable()
      .default(null)
      .describe('Where it may be used; null for everywhere.')
      .meta({ example: 'US' }),
    days: z
      .number()
      .int()
      .min(1)
      .max(36_500)
      .nullable()
      .default(null)
      .describe('How many days it may be used; null for no end.')
      .meta({ example: 90 }),
    starts: z
      .enum(['signed', 'posted', 'fixed'])
      .default('signed')
      .describe('The days count from the signature, the first post or `starts_on`.'),
    starts_on: DueDate.nullable().default(null).describe('First day of use, when `starts` is `fixed`; null otherwise.'),
  })
  .superRefine(({ starts, starts_on }: Unchecked<'starts' | 'starts_on'>, context) => {
    if ((starts === 'fixed') === (typeof starts_on === 'string')) return;
    const message = 'must be a date where `starts` is `fixed`, and only there';
    context.addIssue({ code: 'custom', path: ['starts_on'], message, input: starts_on });
  }, besideOthers)
  .meta({ id: 'ContractTerms' });
export type ContractTerms = z.output<typeof ContractTerms>;
