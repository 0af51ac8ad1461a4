import { noun } from '../../../kit/operation/noun.ts';
import { attributionRulesOperations } from './routes.ts';

export const attributionRules = noun({ name: 'attribution-rules', operations: attributionRulesOperations });
