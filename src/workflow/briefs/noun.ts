import { noun } from '../../kit/operation/noun.ts';
import { briefConsumer } from './jobs.ts';
import { briefMails } from './mails.ts';
import { briefOperations } from './routes.ts';

export const briefs = noun({
  name: 'briefs',
  tag: {
    name: 'Briefs',
    about: 'Instructions for creators, sent by mail.',
  },
  ids: { briefs: 'brf' },
  operations: briefOperations,
  consumers: [briefConsumer],
  mails: briefMails,
});
