import { noun } from '../../kit/operation/noun.ts';
import { contentConsumer, refreshWork } from './jobs.ts';
import { contentOperations } from './routes.ts';

export const content = noun({
  name: 'content',
  tag: {
    name: 'Tracked content',
    about: 'Posts whose metrics are read regularly.',
  },
  ids: { content: 'cnt' },
  operations: contentOperations,
  work: [refreshWork],
  consumers: [contentConsumer],
});
