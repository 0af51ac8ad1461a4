import { noun } from '../../kit/operation/noun.ts';
import { listOperations } from './routes.ts';

export const lists = noun({
  name: 'lists',
  tag: {
    name: 'Lists',
    about: 'Creators of the directory that the brand collects, and that a search can include or exclude.',
  },
  ids: { lists: 'lst' },
  operations: listOperations,
});
