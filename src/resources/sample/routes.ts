import { change, noLookUp, nothing } from '../../operation/operation.ts';
import { ignoreFailure } from '../../values/errors.ts';
import { removeFigures, removeSample } from './actions.ts';
import { SampleRemoved } from './schema.ts';

const removeSampleOperation = change({
  id: 'remove_sample',
  method: 'DELETE',
  path: '/v1/brand/sample',
  tag: 'Brand',
  summary: 'Remove the sample data',
  description:
    'For a brand with `has_sample`. Deletes everything in it, also what was added since: creators, campaigns, orders, money and history. People, keys, plan, settings, lists and saved searches stay.',
  callers: ['brand'],
  ownersOnly: true,
  forAgents: false,
  params: nothing,
  query: nothing,
  body: nothing,
  response: SampleRemoved,
  errors: ['NOT_FOUND'],
  hints: { readOnly: false, idempotent: true, destructive: true },
  lookUp: noLookUp,
  apply: async (work) => {
    await removeSample(work);
    return { data: { removed_at: work.now.toISOString() } };
  },
  afterwards: (context) => removeFigures(context).catch(ignoreFailure('a job removes them soon')),
});

export const sampleOperations = [removeSampleOperation] as const;
