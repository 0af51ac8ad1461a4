import { write } from '../../kit/operation/kit.ts';
import { ignoreFailure } from '../../kit/values/errors.ts';
import { removeFigures, removeSample } from './actions.ts';
import { SampleRemoved } from './schema.ts';

export const sampleOperations = [
  write({
    id: 'remove_sample',
    method: 'DELETE',
    path: '/v1/brand/sample',
    tag: 'Brand',
    summary: 'Remove the sample data',
    description:
      'For a brand with `has_sample`. Deletes everything in it, including what was added since: creators, campaigns, orders, money and history. People, keys, plan, settings, lists and saved searches stay.',
    ownersOnly: true,
    forAgents: false,
    response: SampleRemoved,
    errors: ['NOT_FOUND'],
    hints: { idempotent: true, destructive: true },
    apply: async (work) => {
      await removeSample(work);
      return { data: { removed_at: work.now.toISOString() } };
    },
    afterwards: (context) => removeFigures(context).catch(ignoreFailure('a job removes them soon')),
  }),
] as const;
