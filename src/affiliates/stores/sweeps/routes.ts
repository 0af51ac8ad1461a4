import { z } from 'zod';
import { Boundary, startOf } from '../../../analytics/figures/schema.ts';
import { act } from '../../../kit/operation/kit.ts';
import { timestamp } from '../../../kit/values/page.ts';
import { readAgain } from './actions.ts';
import { READ_AGAIN } from './policy.ts';

const ReadAgain = z
  .object({
    since: Boundary.describe('Orders that changed at the store since this UTC day or time are read again.').meta({
      example: '2026-03-01',
    }),
  })
  .meta({ id: 'ReadStoreAgain' });

const Reading = z
  .object({
    integration_id: z
      .string()
      .describe('Store whose orders are read again.')
      .meta({ example: 'int_0Uo3xK2mVdT2aXs7LpRb' }),
    since: timestamp
      .describe('Orders that changed after this time are read: the requested time, or 60 days ago if that is later.')
      .meta({ example: '2026-03-01T00:00:00.000Z' }),
  })
  .meta({ id: 'StoreReadAgain' });

export const sweepOperations = [
  act({
    id: READ_AGAIN,
    path: '/v1/affiliates/integrations/{id}/sweep',
    tag: 'Affiliates',
    item: Reading,
    summary: "Read a store's orders again",
    description:
      'A worker reads what changed at the store since a time, as it does every ten minutes, and records what is new: orders, ' +
      'refunds, cancellations. They are attributed and pay as usual. It goes back at most 60 days.',
    // A reconciliation offers it to people.
    forAgents: false,
    hints: { idempotent: true },
    body: ReadAgain,
    errors: ['NOT_FOUND', 'CONFLICT'],
    apply: async (work, { params: { id }, body }) => ({
      integration_id: id,
      since: (await readAgain(work, id, startOf(body.since))).toISOString(),
    }),
  }),
] as const;
