import { isUndisturbed } from '../../directory/saved-searches/matches.ts';
import { saveSearch } from '../../directory/saved-searches/saved-searches.ts';
import type { Caller } from '../../kit/access/keys/callers.ts';
import type { Schedule } from './schedule.ts';

const SEARCHES = [
  ['Beauty in New York', { category: 'Beauty', city: 'NYC', follower_min: '5000' }],
  ['Small skin care creators in LA', { q: 'skincare', city: 'LA', follower_max: '50000' }],
] as const;

/**
 * Saves searches as of before the directory is imported, whose creators are then their new matches. After a creator opted
 * out, a search can no longer begin there.
 */
export function addSearches({ ago, add }: Schedule, caller: Caller): void {
  for (const [i, [name, filters]] of SEARCHES.entries()) {
    add(ago(34 - i), ({ change, context: { config } }) =>
      change('save_search', async (work) => {
        const tracking = { alias: config.directoryAlias, upTo: { seq: 0, at: null }, known: [] };
        if (await isUndisturbed(work.db, tracking.alias, tracking.upTo.seq)) {
          await saveSearch(work, caller, { name, filters }, tracking);
        }
      }),
    );
  }
}
