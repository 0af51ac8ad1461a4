import { noun } from '../../kit/operation/noun.ts';
import { finishDirectoryChanges, forgetDirectoryChanges } from '../changes/jobs.ts';
import { changeOperations } from '../changes/routes.ts';
import { importWork } from '../imports/indexing/jobs.ts';
import { forgetJobs } from '../opt-out/jobs.ts';
import { autocompleteCreators } from './autocomplete.ts';
import { dictionaryOperations } from './dictionary.ts';
import { directoryOperations } from './routes.ts';

export const directory = noun({
  name: 'directory',
  tag: {
    name: 'Directory',
    about: 'Search over all creators, by place, niche and reach. Metered: a search costs 10 credits with a data key.',
  },
  operations: [...directoryOperations, autocompleteCreators, ...changeOperations, ...dictionaryOperations],
  jobs: [finishDirectoryChanges, forgetDirectoryChanges, ...forgetJobs],
  work: [importWork],
});
