import { noun } from '../../kit/operation/noun.ts';
import { requestOperations } from './routes.ts';

export const requests = noun({ name: 'requests', operations: requestOperations });
