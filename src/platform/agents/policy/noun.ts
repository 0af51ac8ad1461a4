import { noun } from '../../../kit/operation/noun.ts';
import { agentPolicyOperations } from './routes.ts';

export const agentPolicy = noun({
  name: 'agent-policy',
  tag: {
    name: 'Agents',
    about: 'What agents may do at `/mcp`, and the plans that a person applies.',
  },
  operations: agentPolicyOperations,
});
