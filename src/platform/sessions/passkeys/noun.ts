import { noun } from '../../../kit/operation/noun.ts';
import { passkeyOperations } from './routes.ts';

export const passkeysNoun = noun({
  name: 'passkeys',
  operations: passkeyOperations,
});
