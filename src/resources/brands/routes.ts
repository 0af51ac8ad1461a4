import { z } from 'zod';
import { change, noLookUp, nothing, operation } from '../../operation/operation.ts';
import { patchBrand } from './actions.ts';
import { getBrand } from './queries.ts';
import { Brand, BrandPatch, brandOf } from './schema.ts';

const tag = 'Brand';

const getBrandOperation = operation({
  id: 'get_brand',
  method: 'GET',
  path: '/v1/brand',
  tag,
  summary: 'The brand of this key',
  description: 'With its plan and its settings.',
  callers: ['brand'],
  params: nothing,
  query: nothing,
  body: nothing,
  response: z.object({ data: Brand }),
  hints: { readOnly: true, idempotent: true, destructive: false },
  handler: async ({ postgres }, { caller }) => ({ data: brandOf(await getBrand(postgres.db, caller.brandId)) }),
});

const updateBrandOperation = change({
  id: 'update_brand',
  method: 'PATCH',
  path: '/v1/brand',
  tag,
  summary: 'Change the brand',
  description:
    'Set changes, omit keeps, null clears; also inside `settings`. A new rate or currency holds for later orders.',
  callers: ['brand'],
  params: nothing,
  query: nothing,
  body: BrandPatch,
  response: z.object({ data: Brand }),
  errors: ['CONFLICT'],
  hints: { readOnly: false, idempotent: true, destructive: false, dataOut: ['contact_email', 'website'] },
  weighs: { rate: 'defaultCommissionRatePpm', counted: 'currency' },
  lookUp: noLookUp,
  apply: async (work, { body }) => ({ data: brandOf(await patchBrand(work, body)) }),
});

export const brandOperations = [getBrandOperation, updateBrandOperation] as const;
