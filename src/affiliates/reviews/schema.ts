import { z } from 'zod';
import { besideOthers, type Unchecked } from '../../kit/values/problems.ts';
import { CommissionEvent } from '../commissions/schema.ts';

const note = z
  .string()
  .trim()
  .max(5_000)
  .nullable()
  .optional()
  .describe('Reason for the review, stored as `status_note`.')
  .meta({ example: 'Order checked by hand.' });
const reviewed = z
  .enum(['approved', 'rejected'])
  .describe('`approved`: the commission is owed to the creator. `rejected`: it owes nothing.');
const id = z.string().min(1).max(100);

const MAX_EVENTS = 100;
const eventIds = z
  .array(id)
  .min(1)
  .max(MAX_EVENTS)
  .describe('Ids of the commissions to review. If one cannot be reviewed, none are.')
  .meta({ example: ['com_0Uo3xK2mVdT2aXs7LpRb'] });

export const CommissionReview = z
  .object({
    status: reviewed,
    event_id: id
      .optional()
      .describe('Id of the one commission to review. Give either this or `event_ids`.')
      .meta({ example: 'com_0Uo3xK2mVdT2aXs7LpRb' }),
    event_ids: eventIds.optional(),
    note,
  })
  .superRefine(({ event_id, event_ids }: Unchecked<'event_id' | 'event_ids'>, context) => {
    if ((event_id === undefined) !== (event_ids === undefined)) return;
    const params = { code: event_id === undefined ? 'required' : 'ambiguous' };
    const message = 'give exactly one of `event_id` and `event_ids`';
    context.addIssue({ code: 'custom', path: ['event_id'], params, message });
  }, besideOthers)
  .meta({ id: 'CommissionReview' });

export const CommissionsReviewed = z.object({
  updated: z
    .number()
    .int()
    .min(0)
    .describe('Number of commissions whose status changed; 0 when all had the status already.')
    .meta({ example: 2 }),
});

export const CommissionPatch = z.object({ status: reviewed, note }).meta({ id: 'CommissionPatch' });
export type CommissionPatch = z.output<typeof CommissionPatch>;

export const CommissionPatched = CommissionEvent.pick({
  id: true,
  status: true,
  status_updated_at: true,
  status_note: true,
});

export const CommissionBulk = z.object({ event_ids: eventIds, status: reviewed, note }).meta({ id: 'CommissionBulk' });

export const CommissionsBulkReviewed = z.object({
  status: reviewed,
  updated_count: z.number().int().min(0).describe('Commissions that got the new status.').meta({ example: 2 }),
  skipped_count: z
    .number()
    .int()
    .min(0)
    .describe('Number of ids that changed nothing: their commission had the status already, or they were sent twice.'),
  total_requested: z.number().int().min(1).describe('Number of ids in the request.').meta({ example: 2 }),
});
