import { noun } from '../../kit/operation/noun.ts';
import { rosterOperations } from './routes.ts';

export const roster = noun({
  name: 'roster',
  tag: {
    name: 'Roster',
    about: 'The creators who work with your brand now: tags, notes, handles and balances.',
  },
  ids: { roster: 'rst' },
  operations: rosterOperations,
});
