import { z } from 'zod';
import { ListQuery, timestamp } from '../../values/page.ts';
import { fromOutside } from '../../values/untrusted.ts';
import { toWire } from '../../values/wire.ts';
import type { DisputeFacts } from './queries.ts';

const status = z.enum(['open', 'answered', 'closed']);
const MAX_TEXT = 5_000;

export const Dispute = z
  .object({
    id: z.string(),
    creator_email: z.string().nullable(),
    creator_name: fromOutside(z.string().nullable()),
    status,
    statement_id: z.string().nullable().describe('The statement it was asked on; else `payout_id`.'),
    payout_id: z.string().nullable(),
    line_id: z.string().nullable().describe('The commission or payout that it is about; null: the whole.'),
    order_id: z.string().nullable().describe("Of that commission: the order's id at its store."),
    message: fromOutside(z.string().describe("The creator's words.")),
    answer: z.string().nullable(),
    answered_at: timestamp.nullable(),
    created_at: timestamp,
    updated_at: timestamp.nullable(),
  })
  .meta({ id: 'Dispute' });

export const DisputeFilter = z.object({
  status: status.optional(),
  creator_email: z.email().max(254).optional().describe('In any case.'),
  line_id: z.string().max(100).optional(),
  ...ListQuery,
});

/** Set changes, omit keeps. */
export const DisputePatch = z
  .object({
    status: status.exclude(['open']).optional().describe('`closed`: without an answer, or after it.'),
    answer: z.string().trim().min(1).max(MAX_TEXT).optional().describe('Is mailed to the creator; makes it answered.'),
  })
  .meta({ id: 'DisputePatch', examples: [{ answer: 'The customer sent the order back on the 4th.' }] });
export type DisputePatch = z.output<typeof DisputePatch>;

export const disputeOf = ({ storeOrderId, ...row }: DisputeFacts) => ({ ...toWire(row), order_id: storeOrderId });

/** What a creator may write. */
export const Question = z.string().trim().min(1).max(2_000);
