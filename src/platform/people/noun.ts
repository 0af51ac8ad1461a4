import { noun } from '../../kit/operation/noun.ts';
import { peopleMails } from './mails.ts';
import { peopleOperations } from './routes.ts';

export const people = noun({
  name: 'people',
  operations: peopleOperations,
  mails: peopleMails,
});
