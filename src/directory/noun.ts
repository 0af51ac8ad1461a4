import { noun } from '../operation/noun.ts';
import { autocompleteCreators } from './autocomplete.ts';
import { dictionaryOperations } from './dictionary.ts';
import { importWork } from './import/jobs.ts';
import { directoryOperations } from './routes.ts';

export const directory = noun({
  name: 'directory',
  tag: {
    name: 'Directory',
    about: 'Search over all creators, by place, niche and reach. Metered: a search costs 10 credits with a data key.',
  },
  operations: [...directoryOperations, autocompleteCreators, ...dictionaryOperations],
  work: [importWork],
});
