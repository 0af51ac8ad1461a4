import { noun } from '../../../kit/operation/noun.ts';
import { forgetStoreAuthorizations } from './jobs.ts';
import { storeAuthorizationOperations } from './routes.ts';

export const storeAuthorizations = noun({
  name: 'store-authorizations',
  ids: { authorizations: 'sau' },
  operations: storeAuthorizationOperations,
  jobs: [forgetStoreAuthorizations],
});
