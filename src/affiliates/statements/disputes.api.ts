import { z } from 'zod';
import { get, list, patch } from '../../kit/operation/kit.ts';
import { Email } from '../../kit/values/email.ts';
import { createdAt, creatorEmail, idField, updatedAt } from '../../kit/values/fields.ts';
import { timestamp, WaitingListQuery } from '../../kit/values/page.ts';
import { fromOutside } from '../../kit/values/untrusted.ts';
import { toWire } from '../../kit/values/wire.ts';
import { orderNumber } from '../orders/order-names.ts';
import { payeeName } from '../payouts/payouts.shapes.ts';
import { type DisputeView, disputes, getDispute, patchDispute } from './disputes.ts';

const status = z
  .enum(['open', 'answered', 'closed'])
  .describe(
    'Status of the question. `open`: awaiting your answer. `answered`: the creator got your answer. `closed`: settled, with or without an answer.',
  );
const disputeId = idField('dsp', 'Id of the question.');
const MAX_TEXT = 5_000;

export const Dispute = z
  .object({
    id: disputeId,
    creator_email: creatorEmail,
    creator_name: payeeName,
    status,
    statement_id: z
      .string()
      .nullable()
      .describe('Statement that the question was asked on; null when it was asked on the statement of a payout.')
      .meta({ example: 'stm_0Uo3xK2mVdT2aXs7LpRb' }),
    payout_id: z
      .string()
      .nullable()
      .describe('Payout whose statement the question was asked on; null when `statement_id` is given.')
      .meta({ example: null }),
    line_id: z
      .string()
      .nullable()
      .describe('Commission or payout of the line in question; null when it is about the whole statement.')
      .meta({ example: 'com_0Uo3xK2mVdT2aXs7LpRb' }),
    order_id: z
      .string()
      .nullable()
      .describe("Id of that commission's order at its store; null when the line has no order.")
      .meta({ example: '1001' }),
    message: fromOutside(
      z.string().describe('The question, as the creator wrote it.').meta({ example: 'Is order 1001 missing a bonus?' }),
    ),
    answer: z
      .string()
      .nullable()
      .describe('Your answer, which the creator sees; null without one.')
      .meta({ example: 'The order was refunded on March 5.' }),
    answered_at: timestamp
      .nullable()
      .describe('When you last answered; null without an answer.')
      .meta({ example: '2026-03-05T10:00:00.000Z' }),
    created_at: createdAt,
    updated_at: updatedAt,
    order_number: orderNumber,
  })
  .meta({ id: 'Dispute' });

const DisputeFilter = z.object({
  status: status.optional().describe('Only questions of this status.'),
  creator_email: Email.optional()
    .describe("Only this creator's questions. Case does not matter.")
    .meta({ example: 'ana@example.com' }),
  line_id: z
    .string()
    .max(100)
    .optional()
    .describe('Only questions about this commission or payout.')
    .meta({ example: 'com_0Uo3xK2mVdT2aXs7LpRb' }),
  ...WaitingListQuery,
});
export type DisputeFilter = z.output<typeof DisputeFilter>;

export const DisputePatch = z
  .object({
    status: status
      .exclude(['open'])
      .optional()
      .describe('`closed` settles the question, with or without an answer. An `answer` alone makes it `answered`.'),
    answer: z
      .string()
      .trim()
      .min(1)
      .max(MAX_TEXT)
      .optional()
      .describe('Your answer. It is emailed to the creator and makes the question `answered`.'),
  })
  .meta({ id: 'DisputePatch', examples: [{ answer: 'The customer sent the order back on the 4th.' }] });
export type DisputePatch = z.output<typeof DisputePatch>;

const toDispute = ({ storeOrderId, ...row }: DisputeView) => ({ ...toWire(row), order_id: storeOrderId });

/** The text of a question, as the creator enters it. */
export const Question = z.string().trim().min(1).max(2_000);

const tag = 'Payouts';

export const disputeOperations = [
  list({
    id: 'list_disputes',
    path: '/v1/disputes',
    tag,
    summary: "List creators' questions about their statements",
    description: 'Newest first. Creators ask on the page of a statement, about one line or all of it.',
    query: DisputeFilter,
    item: Dispute,
    rows: disputes,
    itemOf: toDispute,
  }),
  get({
    id: 'get_dispute',
    path: '/v1/disputes/{id}',
    tag,
    summary: "Get a creator's question",
    description: 'The same fields as in `/v1/disputes`.',
    forAgents: { description: 'The same fields as in list_disputes.' },
    item: Dispute,
    find: async ({ postgres: { db } }, { caller, params }) =>
      toDispute(await getDispute(db, caller.brandId, params.id)),
  }),
  patch({
    id: 'update_dispute',
    path: '/v1/disputes/{id}',
    tag,
    summary: 'Answer or close a question',
    description: 'An answer is emailed to the creator and shown on their page. Repeating the call changes nothing.',
    forAgents: { example: { id: 'dsp_…', answer: 'The order was refunded.' } },
    body: DisputePatch,
    item: Dispute,
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
    hints: { dataOut: 'links' },
    apply: async (work, { params, body }) => {
      await patchDispute(work, params.id, body);
      return toDispute(await getDispute(work.db, work.brandId, params.id));
    },
  }),
] as const;
