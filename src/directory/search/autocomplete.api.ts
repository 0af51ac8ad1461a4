import { z } from 'zod';
import { read } from '../../kit/operation/kit.ts';
import { foldAccents } from '../../kit/values/fold.ts';
import { clampedParameter } from '../../kit/values/page.ts';
import { DirectoryCreator } from './creator.shapes.ts';
import { toSort } from './order.ts';
import { usernameStartsWith } from './query.ts';

const Suggestion = DirectoryCreator.pick({
  pk: true,
  username: true,
  full_name: true,
  follower_count: true,
  is_verified: true,
  profile_pic_url: true,
}).meta({ id: 'CreatorSuggestion' });

const Hits = z.object({
  hits: z.object({ hits: z.array(z.object({ _source: z.object({ card: DirectoryCreator }) })) }),
});

const parseBeginning = (q: string) => q.trim().replace(/^@/, '').trim();

export const autocompleteCreators = read({
  id: 'autocomplete_creators',
  path: '/v1/creators/autocomplete',
  tag: 'Directory',
  summary: 'Complete a username',
  description: 'Free. Most followed first; a leading @ is ignored.',
  forAgents: { example: { q: 'an' } },
  directory: true,
  query: z.object({
    q: z
      .string()
      .min(1)
      .max(100)
      .refine((value) => foldAccents(parseBeginning(value)) !== '', 'must have a character of a username')
      .describe('Start of a username, with or without `@`.')
      .meta({ example: 'gord' }),
    limit: clampedParameter(20).default(10).describe('Most suggestions to return; larger values are clamped to 20.'),
  }),
  response: z.object({ data: z.array(Suggestion) }),
  errors: ['SUBSCRIPTION_REQUIRED'],
  handler: async ({ directory }, { caller, query }) => {
    const snapshot = await directory.snapshot();
    const { hits } = await directory.work.run(caller.brandId, 1, () =>
      directory.counts.ask(snapshot.index, Hits, {
        size: query.limit,
        track_total_hits: false,
        query: { bool: { filter: [usernameStartsWith(parseBeginning(query.q))] } },
        sort: toSort('followers'),
      }),
    );
    return { data: hits.hits.map((hit) => Suggestion.parse(hit._source.card)) };
  },
});
