import { read } from '../../kit/operation/kit.ts';
import { readChanges } from './feed.ts';
import { ChangeFeed, ChangeFilter } from './schema.ts';

export const changeOperations = [
  read({
    id: 'list_directory_changes',
    path: '/v1/creators/changes',
    tag: 'Directory',
    summary: 'What changed in the directory, in order',
    description:
      'Creators that were added, updated or removed in the last 90 days, and those that opted out, at most 20 ' +
      'seconds late. Free. Send `next_after` as `after` to continue. A start older than 90 days gets 409 CONFLICT.',
    forAgents: false,
    directory: true,
    query: ChangeFilter,
    response: ChangeFeed,
    errors: ['CONFLICT', 'SUBSCRIPTION_REQUIRED'],
    handler: (context, { query }) => readChanges(context, query),
  }),
] as const;
