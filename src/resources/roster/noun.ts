import { noun } from '../../operation/noun.ts';
import { rosterOperations } from './routes.ts';

export const roster = noun({
  name: 'roster',
  tag: {
    name: 'Roster',
    about: 'Who works with your brand now: tags, notes, handles and balances.',
  },
  ids: { roster: 'rst' },
  operations: rosterOperations,
});
