import { ensureMigrated } from '../../kit/engines/clickhouse/migrate.ts';
import type { Job } from '../../kit/operation/job.ts';
import { removeFigures } from './actions.ts';

export const removeSampleFigures: Job = {
  name: 'remove-sample-figures',
  everyMs: 5_000,
  asksFor: 'brands whose sample was removed and still has clicks and figures',
  run: async (context) => {
    await ensureMigrated(context.clickhouse);
    await removeFigures(context);
  },
};
