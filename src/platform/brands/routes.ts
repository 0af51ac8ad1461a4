import { get, patch } from '../../kit/operation/kit.ts';
import { patchBrand } from './actions.ts';
import { getBrand } from './queries.ts';
import { Brand, BrandPatch, brandOf } from './schema.ts';

const tag = 'Brand';

export const brandOperations = [
  get({
    id: 'get_brand',
    path: '/v1/brand',
    tag,
    summary: 'The brand of this key',
    description: 'Includes the plan and the settings.',
    item: Brand,
    find: async ({ postgres }, { caller }) => brandOf(await getBrand(postgres.db, caller.brandId)),
  }),
  patch({
    id: 'update_brand',
    path: '/v1/brand',
    tag,
    summary: 'Change the brand',
    description:
      'Set changes, omit keeps, null clears; also inside `settings`. A new rate or currency applies to later orders.',
    forAgents: {
      description: 'Also inside `settings`, what is omitted stays. A new rate or currency applies to later orders.',
      example: { industry: 'Skin care' },
    },
    body: BrandPatch,
    item: Brand,
    errors: ['CONFLICT'],
    hints: { dataOut: ['contact_email', 'website'] },
    weighs: { rate: 'defaultCommissionRatePpm', counted: 'currency' },
    apply: async (work, { body }) => brandOf(await patchBrand(work, body)),
  }),
] as const;
