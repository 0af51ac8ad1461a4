import { z } from 'zod';
import { write } from '../../kit/operation/kit.ts';
import { noun } from '../../kit/operation/noun.ts';
import { ignoreFailure } from '../../kit/values/errors.ts';
import { timestamp } from '../../kit/values/page.ts';
import { removeFigures, removeSample, removeSampleFigures } from './sample.ts';

const SampleRemoved = z
  .object({
    data: z.object({ removed_at: timestamp.describe('When the sample was removed.') }).describe('The removal.'),
  })
  .meta({ id: 'SampleRemoved' });

const sampleOperations = [
  write({
    id: 'remove_sample',
    method: 'DELETE',
    path: '/v1/brand/sample',
    tag: 'Brand',
    summary: 'Remove the sample data',
    description:
      'For a brand with `has_sample`. Deletes everything in it, including what was added since: creators, campaigns, orders, money and history. People, keys, plan, settings, lists and saved searches stay.',
    ownersOnly: true,
    forAgents: { isListed: false },
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

export const sample = noun({ name: 'sample', operations: sampleOperations, jobs: [removeSampleFigures] });
