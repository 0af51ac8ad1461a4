import { z } from 'zod';
import type { Db } from '../../engines/postgres/open.ts';
import { create, list, read } from '../../operation/kit.ts';
import { change, noLookUp, nothing } from '../../operation/operation.ts';
import { createPayout, settlePayout } from './actions.ts';
import { getPayout, listAllocated, payouts } from './queries.ts';
import {
  Payout,
  PayoutCreate,
  PayoutDetail,
  PayoutFilter,
  PayoutPatch,
  PayoutPatchById,
  payoutOf,
  WEIGHED_PAYOUT,
} from './schema.ts';

const tag = 'Payouts';
const byId = z.object({ id: z.string().max(100) });
const SETTLING =
  'Pays the creator’s approved commissions of the currency, as listed or oldest first, each whole or not at all: one ' +
  'that does not fit is passed over. What refunds took back after an earlier payment is netted first; where a ' +
  'store takes back a refund that was netted, what the commissions leave gives it back. Said again, nothing changes.';

async function detailOf(db: Db, brandId: string, id: string): Promise<z.infer<typeof PayoutDetail>> {
  const row = await getPayout(db, brandId, id);
  return { ...payoutOf(row), commission_ids: await listAllocated(db, brandId, id) };
}

const listPayouts = list({
  id: 'list_payouts',
  path: '/v1/payouts',
  tag,
  summary: 'Payouts to creators',
  description: 'Newest first.',
  query: PayoutFilter,
  item: Payout,
  rows: payouts,
  itemOf: payoutOf,
});

const getPayoutById = read({
  id: 'get_payout',
  path: '/v1/payouts/{id}',
  tag,
  summary: 'One payout',
  description: 'With the commissions it paid.',
  response: z.object({ data: PayoutDetail }),
  errors: ['NOT_FOUND'],
  handler: async ({ postgres }, { caller, params }) => ({
    data: await detailOf(postgres.db, caller.brandId, params.id),
  }),
});

const createPayoutOperation = create({
  id: 'create_payout',
  path: '/v1/payouts',
  tag,
  summary: 'Record a payout',
  description: 'Moves no money. A manual payout or a bank transfer is settled with PATCH once it is paid.',
  body: PayoutCreate,
  item: Payout,
  hints: { readOnly: false, idempotent: false, destructive: false, moneyOut: true },
  weighs: WEIGHED_PAYOUT,
  apply: async (work, { body }) => payoutOf(await createPayout(work, body)),
});

const settlePayoutOperation = change({
  id: 'settle_payout',
  method: 'PATCH',
  path: '/v1/payouts/{id}',
  tag,
  summary: 'Record that a payout was paid',
  description: SETTLING,
  callers: ['brand'],
  params: byId,
  query: nothing,
  body: PayoutPatch,
  response: z.object({ data: PayoutDetail }),
  errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION', 'INVALID_SELECTION'],
  hints: { readOnly: false, idempotent: true, destructive: false, moneyOut: true },
  weighs: WEIGHED_PAYOUT,
  lookUp: noLookUp,
  apply: async (work, { params, body }) => {
    await settlePayout(work, params.id, body);
    return { data: await detailOf(work.db, work.brandId, params.id) };
  },
});

const settlePayoutByBody = change({
  id: 'settle_payout_by_body',
  method: 'PATCH',
  path: '/v1/payouts',
  tag,
  summary: 'Record that a payout was paid, named in the body',
  description: `As \`/v1/payouts/{id}\`. ${SETTLING}`,
  callers: ['brand'],
  params: nothing,
  query: nothing,
  body: PayoutPatchById,
  response: z.object({ data: PayoutDetail }),
  errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION', 'INVALID_SELECTION'],
  hints: { readOnly: false, idempotent: true, destructive: false, moneyOut: true },
  weighs: WEIGHED_PAYOUT,
  lookUp: noLookUp,
  apply: async (work, { body: { id, ...patch } }) => {
    await settlePayout(work, id, patch);
    return { data: await detailOf(work.db, work.brandId, id) };
  },
});

export const payoutOperations = [
  listPayouts,
  getPayoutById,
  createPayoutOperation,
  settlePayoutOperation,
  settlePayoutByBody,
] as const;
