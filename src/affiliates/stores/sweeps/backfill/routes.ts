import { act, get } from '../../../../kit/operation/kit.ts';
import { notFound } from '../../../../kit/values/errors.ts';
import { startBackfill } from './actions.ts';
import { findBackfill } from './queries.ts';
import { Backfill, backfillOf } from './schema.ts';

const one = { path: '/v1/affiliates/integrations/{id}/backfill', tag: 'Affiliates', item: Backfill } as const;
/** A person decides whether to read in what a store sold. */
const forAgents = false;

export const backfillOperations = [
  act({
    ...one,
    id: 'start_store_backfill',
    summary: "Read in a store's history",
    description:
      'A worker reads the orders from before the 60 days that were read when the store was connected, as it does once by ' +
      'itself. They make customers ' +
      'known; they pay nobody and emit no events. Shopify lists orders older than 60 days only to apps with ' +
      '`read_all_orders`. Repeating it continues, or begins again once it is done; no order is recorded twice.',
    forAgents,
    hints: { idempotent: true },
    errors: ['NOT_FOUND', 'CONFLICT'],
    apply: async (work, { params }) => backfillOf(await startBackfill(work, params.id)),
  }),
  get({
    ...one,
    ...{
      id: 'get_store_backfill',
      summary: "The progress of reading a store's history",
      description: 'Shows the last time that it was started.',
    },
    forAgents,
    find: async ({ postgres }, { caller, params }) => {
      const row = await findBackfill(postgres.db, caller.brandId, params.id);
      if (!row) throw notFound('backfill');
      return backfillOf(row);
    },
  }),
] as const;
