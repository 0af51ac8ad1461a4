import { z } from 'zod';
import { act, create, patch } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { Email } from '../../kit/values/email.ts';
import { Currency } from '../../kit/values/money.ts';
import { besideOthers, type Unchecked } from '../../kit/values/problems.ts';
import { registerKind } from '../../platform/jobs/jobs.ts';
import { CommissionEvent, toCommission } from '../commissions/commissions.shapes.ts';
import { getCommission } from '../commissions/commissions.ts';
import { APPROVAL, approvalKind, approveAll, startApproval } from './approve-due.ts';
import { approveCommissions } from './reviews.jobs.ts';
import { ApprovalStarted, CommissionsApproved, DueApproval, note } from './reviews.shapes.ts';
import { createManualCommission, reviewAll, reviewOne } from './reviews.ts';

const ReviewStatus = z
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

const CommissionReview = z
  .object({
    status: ReviewStatus,
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

const CommissionsReviewed = z.object({
  updated: z
    .number()
    .int()
    .min(0)
    .describe('Number of commissions whose status changed; 0 when all had the status already.')
    .meta({ example: 2 }),
});

const CommissionPatch = z.object({ status: ReviewStatus, note }).meta({ id: 'CommissionPatch' });

const CommissionPatched = CommissionEvent.pick({
  id: true,
  status: true,
  status_updated_at: true,
  status_note: true,
});

const CommissionBulk = z.object({ event_ids: eventIds, status: ReviewStatus, note }).meta({ id: 'CommissionBulk' });

const CommissionsBulkReviewed = z.object({
  status: ReviewStatus,
  updated_count: z.number().int().min(0).describe('Commissions that got the new status.').meta({ example: 2 }),
  skipped_count: z
    .number()
    .int()
    .min(0)
    .describe('Number of ids that changed nothing: their commission had the status already, or they were sent twice.'),
  total_requested: z.number().int().min(1).describe('Number of ids in the request.').meta({ example: 2 }),
});

const ManualCommission = z
  .object({
    creator_email: Email.describe('A creator who is or was on the roster.'),
    amount: z
      .number()
      .positive()
      .describe('What the creator gets, in major units of `currency`.')
      .meta({ example: 25 }),
    currency: Currency.optional().describe("Currency of the commission; the brand's when omitted."),
    description: note.describe('What it is for, stored as `status_note`.').meta({ example: 'Bonus for March.' }),
    status: z.enum(['pending', 'approved']).default('pending').describe('Status in which it is recorded.'),
  })
  .meta({ id: 'ManualCommission' });

const tag = 'Commissions';
const reviewing = { readOnly: false, idempotent: true, destructive: false };
const RULES =
  'Approval requires a paid order past its review period. You can approve and reject again until the commission is ' +
  'paid. Repeating a review, or approving a commission that was paid in the meantime, changes nothing. Rejecting a ' +
  'commission that a refund or cancellation has already rejected makes the rejection yours: it stays when the store ' +
  'reverts the refund.';

const reviewOperations = [
  act({
    id: 'review_commissions',
    path: '/v1/commissions',
    tag,
    summary: 'Approve or reject commissions',
    description: `Reviews one commission (\`event_id\`) or up to 100 (\`event_ids\`), all or none. ${RULES}`,
    forAgents: {
      description:
        'One commission or up to 100, all or none. Approval requires a paid order past its review period; list_affiliate_commissions with `approvable: true` finds those. You can approve and reject again until the commission is paid.',
      example: { status: 'approved', event_ids: ['com_…'] },
    },
    body: CommissionReview,
    item: CommissionsReviewed,
    errors: ['NOT_FOUND', 'REVIEW_PERIOD_ACTIVE', 'ORDER_NOT_PAID', 'COMMISSION_PAID', 'INVALID_SELECTION'],
    hints: reviewing,
    apply: async (work, { body: { status, note = null, event_id, event_ids = [] } }) => {
      const review = { status, note };
      const isOne = event_id !== undefined;
      return { updated: isOne ? await reviewOne(work, event_id, review) : await reviewAll(work, event_ids, review) };
    },
  }),
  patch({
    id: 'update_commission',
    path: '/v1/affiliates/commissions/{id}',
    tag,
    summary: 'Approve or reject one commission',
    description: RULES,
    forAgents: { isListed: false },
    body: CommissionPatch,
    item: CommissionPatched,
    errors: ['NOT_FOUND', 'REVIEW_PERIOD_ACTIVE', 'ORDER_NOT_PAID', 'COMMISSION_PAID'],
    apply: async (work, { params, body: { status, note = null } }) => {
      await reviewOne(work, params.id, { status, note });
      return toCommission(await getCommission(work.db, work.brandId, params.id));
    },
  }),
  patch({
    id: 'update_commissions',
    path: '/v1/affiliates/commissions/bulk',
    tag,
    summary: 'Approve or reject up to 100 commissions',
    description: `Reviews all of them or none. ${RULES}`,
    forAgents: { isListed: false },
    body: CommissionBulk,
    item: CommissionsBulkReviewed,
    errors: ['INVALID_SELECTION'],
    apply: async (work, { body: { status, note = null, event_ids } }) => {
      const updated_count = await reviewAll(work, event_ids, { status, note });
      const total_requested = event_ids.length;
      return { status, updated_count, skipped_count: total_requested - updated_count, total_requested };
    },
  }),
  act({
    id: 'approve_due_commissions',
    path: '/v1/commissions/approve-due',
    tag,
    summary: 'Approve every commission that can be approved',
    description:
      'What `GET /v1/affiliates/commissions?approvable=true` lists, up to `cutoff`, without commissions that have a high fraud ' +
      'flag. Repeating it approves nothing twice. If there are very many, the response is 202 with a job.',
    forAgents: {
      isListed: false,
      description: 'Approves all pending commissions of paid orders past their review period, up to `cutoff`.',
      example: { cutoff: '2026-03-31' },
    },
    body: DueApproval,
    item: CommissionsApproved,
    errors: ['CONFLICT'],
    hints: { idempotent: true, planned: true },
    lookUp: async ({ config }) => config.commissionsAtOnce,
    later: { response: ApprovalStarted, begin: startApproval },
    apply: async (work, { body }, most) => await approveAll(work, body, most),
  }),
  create({
    id: 'record_manual_commission',
    path: '/v1/commissions/manual',
    tag,
    summary: 'Record a commission by hand',
    description:
      'Without an order and a review period: it can be approved and paid at once. It counts as commission, not as a conversion ' +
      'or revenue, and performance, which has rows of codes and links, leaves it out.',
    forAgents: {
      isListed: false,
      description: 'A commission without an order, such as a bonus: it can be approved and paid at once.',
      example: { creator_email: 'ana@example.com', amount: 25 },
    },
    body: ManualCommission,
    item: CommissionEvent,
    hints: { planned: true },
    apply: async (work, { body }) => toCommission(await createManualCommission(work, body)),
  }),
] as const;

registerKind(APPROVAL, approvalKind);

export const reviews = noun({
  name: 'reviews',
  operations: reviewOperations,
  jobs: [approveCommissions],
});
