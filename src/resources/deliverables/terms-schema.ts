import { z } from 'zod';
import { besideOthers, type Unchecked } from '../../values/problems.ts';

/** A day of the calendar, within what a century plans. */
export const DueDate = z.iso
  .date({ error: 'must be a date such as 2027-01-31' })
  .refine((day) => day >= '2000-01-01' && day <= '2199-12-31', 'must be a date between 2000 and 2199')
  .meta({ example: '2027-01-31' });

/** What may be done with the work, in a form that is reckoned with. */
export const ContractTerms = z
  .object({
    channels: z.array(z.string().trim().min(1).max(100)).max(20).default([]).describe('Where; empty: anywhere.'),
    territory: z.string().trim().min(1).max(200).nullable().default(null).describe('Null: everywhere.'),
    days: z.number().int().min(1).max(36_500).nullable().default(null).describe('How long; null: without an end.'),
    starts: z.enum(['signed', 'posted', 'fixed']).default('signed').describe('From when the days are counted.'),
    starts_on: DueDate.nullable().default(null).describe('The day, where `starts` is `fixed`.'),
  })
  .superRefine(({ starts, starts_on }: Unchecked<'starts' | 'starts_on'>, context) => {
    if ((starts === 'fixed') === (typeof starts_on === 'string')) return;
    const message = 'must be a date where `starts` is `fixed`, and only there';
    context.addIssue({ code: 'custom', path: ['starts_on'], message, input: starts_on });
  }, besideOthers)
  .meta({ id: 'ContractTerms' });
export type ContractTerms = z.output<typeof ContractTerms>;
