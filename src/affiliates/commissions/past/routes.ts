import { act, list, remove } from '../../../kit/operation/kit.ts';
import { deletePastCommission, pastCommissions, recordPast } from '../past-commissions.ts';
import {
  PastCommission,
  PastCommissionFilter,
  PastCommissionsRecorded,
  PastCommissionsReported,
  pastCommissionOf,
} from './schema.ts';

const tag = 'Past commissions';
/** A person moves them from another tool, once. */
const forAgents = false;
const idempotent = { readOnly: false, idempotent: true };

export const pastCommissionOperations = [
  list({
    path: '/v1/past-commissions',
    ...{ id: 'list_past_commissions', tag, summary: 'What creators were paid elsewhere' },
    description: 'Last paid first. `created_after` and `created_before` mean the time of the payment.',
    forAgents,
    item: PastCommission,
    query: PastCommissionFilter,
    rows: pastCommissions,
    itemOf: pastCommissionOf,
  }),
  act({
    path: '/v1/past-commissions/batch',
    ...{ id: 'report_past_commissions', tag, summary: 'Record up to 500 past commissions' },
    description:
      'Keeps a record of what was paid with another tool. It pays nobody, emits no events, and is not in ' +
      'balances, statements or figures. All are recorded, or none if one is invalid; repeating a report changes nothing.',
    forAgents,
    hints: idempotent,
    body: PastCommissionsReported,
    item: PastCommissionsRecorded,
    apply: (work, { body }) => recordPast(work, body),
  }),
  remove({
    ...{ id: 'delete_past_commission', path: '/v1/past-commissions/{id}', tag },
    ...{
      summary: 'Delete a past commission',
      description: 'Deletes one that was recorded by mistake. Nothing else changes.',
    },
    forAgents,
    item: PastCommission,
    errors: ['NOT_FOUND'],
    hints: { ...idempotent, destructive: true },
    apply: async ({ db, brandId, audit }, { params: { id } }) => {
      const row = await pastCommissions.get(db, brandId, id);
      await deletePastCommission(db, brandId, id);
      audit({ resourceId: id, old: row, new: null });
      return pastCommissionOf(row);
    },
  }),
] as const;
