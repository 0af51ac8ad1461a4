import { act } from '../../../kit/operation/kit.ts';
import { createCodes } from './actions.ts';
import { BulkCreate, BulkCreated } from './schema.ts';

export const bulkCodeOperations = [
  act({
    id: 'bulk_create_affiliate_codes',
    path: '/v1/affiliates/links/bulk',
    tag: 'Affiliates',
    summary: 'Generate codes or links for creators on the roster',
    description:
      'For every creator without one, or for those you name: up to 500 new ones in a request. A code begins with the name ' +
      'of its creator. A creator who has one of the same campaign and type keeps it, even an inactive one. An invalid ' +
      'selection is refused before anything is written.',
    forAgents: {
      description:
        'For every creator on the roster without one, or for those you name: up to 500 in a call. A creator who has one of the same campaign and type keeps it.',
      example: { all_missing: true, commission_rate: 10 },
      omits: ['roster_ids'],
    },
    body: BulkCreate,
    item: BulkCreated,
    errors: ['INVALID_SELECTION'],
    hints: { idempotent: true },
    weighs: { rate: 'commissionRatePpm' },
    lookUp: async ({ config }) => config.linksUrl,
    apply: async (work, { body }, linksUrl) => await createCodes(work, body, linksUrl),
  }),
] as const;
