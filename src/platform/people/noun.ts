import { noun } from '../../kit/operation/noun.ts';
import { peopleMails } from './people.mails.ts';
import { peopleOperations } from './routes.ts';

export const peopleNoun = noun({
  name: 'people',
  operations: peopleOperations,
  mails: peopleMails,
});
