import type { z } from 'zod';
import type { Db } from '../../kit/engines/postgres/open.ts';
import { act, create, get, list, patch } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { registerKind } from '../../platform/jobs/jobs.ts';
import { CommissionEvent, toCommission } from '../commissions/commissions.shapes.ts';
import { getCommission } from '../commissions/commissions.ts';
import { clawBackCommission, returnPayout, voidPayout } from './corrections.ts';
import { payoutDueOperations } from './due-payouts.api.ts';
import { PayoutReturnStarted } from './due-payouts.shapes.ts';
import { PAYOUT_RETURN, payoutReturnKind, startPayoutReturn } from './payout-return.jobs.ts';
import { payoutMails } from './payouts.mails.ts';
import {
  ClawBack,
  Payout,
  PayoutCreate,
  PayoutDetail,
  PayoutFilter,
  PayoutPatch,
  PayoutPatchById,
  PayoutReturn,
  PayoutVoid,
  toPayout,
  WEIGHED_PAYOUT,
} from './payouts.shapes.ts';
import { getPayout, listAllocated, payouts } from './payouts.ts';
import { createPayout, settlePayout } from './settle.ts';

const tag = 'Payouts';
const SETTLING =
  'Pays the creator’s approved commissions in its currency, those listed or the oldest first. Commissions are ' +
  'paid whole; one that does not fit is skipped. Refunds of paid commissions are deducted first. If a store ' +
  'reverts such a refund, the money that commissions leave over pays it back. Repeating the call changes nothing.';

async function getDetail(db: Db, brandId: string, id: string): Promise<z.infer<typeof PayoutDetail>> {
  const row = await getPayout(db, brandId, id);
  return { ...toPayout(row), commission_ids: await listAllocated(db, brandId, id) };
}

const payoutOperations = [
  list({
    id: 'list_payouts',
    path: '/v1/payouts',
    tag,
    summary: 'List payouts',
    description: 'Newest first.',
    forAgents: { example: { creator_email: 'ana@example.com' } },
    query: PayoutFilter,
    item: Payout,
    rows: payouts,
    sums: { amount: 'Money sent to creators; voided and returned payouts add nothing.' },
    itemOf: toPayout,
  }),
  get({
    id: 'get_payout',
    path: '/v1/payouts/{id}',
    tag,
    summary: 'Get a payout',
    description: 'Includes the ids of the commissions that it paid.',
    item: PayoutDetail,
    find: async ({ postgres }, { caller, params }) => await getDetail(postgres.db, caller.brandId, params.id),
  }),
  create({
    id: 'create_payout',
    path: '/v1/payouts',
    tag,
    summary: 'Record a payout',
    description:
      'Rollcall moves no money. Settle a `manual` or `bank_transfer` payout with PATCH once you have paid it.',
    forAgents: {
      description:
        'Rollcall moves no money. A `wallet` payout counts as paid at once; settle a `manual` or `bank_transfer` one with settle_payout once you have paid it.',
      example: { creator_email: 'ana@example.com', amount: 20, method: 'bank_transfer' },
      omits: ['description'],
    },
    body: PayoutCreate,
    item: Payout,
    hints: { moneyOut: true },
    weighs: WEIGHED_PAYOUT,
    apply: async (work, { body }) => toPayout(await createPayout(work, body)),
  }),
  patch({
    id: 'settle_payout',
    path: '/v1/payouts/{id}',
    tag,
    summary: 'Record that a payout was paid',
    description: SETTLING,
    forAgents: {
      description:
        "Pays the creator's approved commissions in its currency, in whole, those listed or the oldest first. What refunds took back from paid commissions is withheld first. Repeating the call changes nothing.",
    },
    body: PayoutPatch,
    item: PayoutDetail,
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION', 'INVALID_SELECTION'],
    hints: { moneyOut: true },
    weighs: WEIGHED_PAYOUT,
    apply: async (work, { params, body }) => {
      await settlePayout(work, params.id, body);
      return await getDetail(work.db, work.brandId, params.id);
    },
  }),
  patch({
    id: 'settle_payout_by_body',
    path: '/v1/payouts',
    tag,
    summary: 'Record that a payout was paid, by an id in the body',
    description: `The same as PATCH \`/v1/payouts/{id}\`, with the id in the body. ${SETTLING}`,
    forAgents: { isListed: false },
    body: PayoutPatchById,
    item: PayoutDetail,
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION', 'INVALID_SELECTION'],
    hints: { moneyOut: true },
    weighs: WEIGHED_PAYOUT,
    apply: async (work, { body: { id, ...patch } }) => {
      await settlePayout(work, id, patch);
      return await getDetail(work.db, work.brandId, id);
    },
  }),
  act({
    id: 'void_payout',
    path: '/v1/payouts/{id}/void',
    tag,
    summary: 'Void an unpaid payout',
    description:
      'Withdraws a payout that was recorded by mistake and not paid. It stays in the list. Repeating it changes nothing.',
    forAgents: { description: 'Withdraws a payout that was recorded by mistake and not paid.', isListed: false },
    body: PayoutVoid,
    item: PayoutDetail,
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
    hints: { idempotent: true, planned: true },
    apply: async (work, { params: { id }, body: { reason } }) => {
      await voidPayout(work, id, reason);
      return await getDetail(work.db, work.brandId, id);
    },
  }),
  act({
    id: 'return_payout',
    path: '/v1/payouts/{id}/return',
    tag,
    summary: 'Record that a paid payout came back',
    description:
      'The commissions that it paid are due again, and what it withheld for refunds is owed back again. What other ' +
      'payouts paid of these commissions stays with those payouts, for commissions that fit. Repeating it changes nothing. If it paid very ' +
      'many commissions, the response is 202 with a job, which goes through them in steps.',
    forAgents: {
      description:
        'The money of a paid payout came back: what it paid is due again, and what it withheld for refunds is owed back again.',
      isListed: false,
    },
    body: PayoutReturn,
    item: PayoutDetail,
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION', 'CONFLICT'],
    hints: { idempotent: true, planned: true },
    lookUp: async ({ config }) => config.commissionsAtOnce,
    later: { response: PayoutReturnStarted, begin: startPayoutReturn },
    apply: async (work, { params: { id }, body }, most) => {
      await returnPayout(work, id, body, most);
      return await getDetail(work.db, work.brandId, id);
    },
  }),
  act({
    id: 'claw_back_commission',
    path: '/v1/commissions/{id}/claw-back',
    tag: 'Commissions',
    summary: 'Take back a paid commission',
    description:
      'For a commission that turns out to be wrong after it was paid. It stays paid; what refunds left of it is deducted from the ' +
      "creator's next payout, as a refund is. Repeating it changes nothing.",
    forAgents: {
      description:
        "Takes back a commission that turned out to be wrong after it was paid: it is deducted from the creator's next payout.",
      isListed: false,
    },
    body: ClawBack,
    item: CommissionEvent,
    errors: ['NOT_FOUND', 'INVALID_STATE_TRANSITION'],
    hints: { idempotent: true, planned: true },
    apply: async (work, { params: { id }, body: { reason } }) => {
      await clawBackCommission(work, id, reason);
      return toCommission(await getCommission(work.db, work.brandId, id));
    },
  }),
] as const;

export const payoutsNoun = noun({
  name: 'payouts',
  tag: {
    name: 'Payouts',
    about: 'What creators were paid, what they are owed, and statements that explain both.',
  },
  ids: { payout: 'pay', payouts: 'pay' },
  operations: [...payoutOperations, ...payoutDueOperations],
  mails: payoutMails,
});

registerKind(PAYOUT_RETURN, payoutReturnKind);
