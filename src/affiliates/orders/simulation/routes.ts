import { nothing, operation } from '../../../kit/operation/operation.ts';
import { beginSimulation, simulate } from './actions.ts';
import { Simulation, SimulationRequest, SimulationStarted } from './schema.ts';

export const simulationOperations = [
  operation({
    id: 'simulate_rules',
    method: 'POST',
    path: '/v1/affiliates/simulate',
    tag: 'Affiliates',
    summary: 'What other rules would have paid',
    description:
      'Decides the paid orders of a period again under the given rules, with what came with each order, and compares. Changes ' +
      'nothing. More than 50,000 orders take a job: the response is 202, the answer is in its file `simulation.json`, and its ' +
      '`result` is the same with up to 100 creators.',
    forAgents: false,
    callers: ['brand'],
    params: nothing,
    query: nothing,
    body: SimulationRequest,
    response: Simulation,
    errors: ['CONFLICT'],
    hints: { readOnly: true, idempotent: true, destructive: false },
    handler: (context, { caller, body }) => simulate(context, caller.brandId, body),
    later: {
      response: SimulationStarted,
      begin: (context, { caller, body }) => beginSimulation(context, caller.brandId, body),
    },
  }),
] as const;
