import { noun } from '../../kit/operation/noun.ts';
import { creatorOperations } from './routes.ts';

export const creators = noun({
  name: 'creators',
  tag: {
    name: 'Creators',
    about: 'The creators that your brand works with or has worked with, and what they earned.',
  },
  ids: { creators: 'crt' },
  operations: creatorOperations,
});
