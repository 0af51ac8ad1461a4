import type { Ranged } from '../src/directory/search/order.ts';
import { latencyMs, median, percentile, type Shot } from './load.ts';
import { shuffled } from './queries.ts';
import { type Add, progress, round } from './report.ts';
import { type Session, targetApi } from './session.ts';

const LIMIT = 100;
/** This many different last pages, so that no cache holds their answers. */
const LAST_PAGES = 60;
const SAMPLES = 240;
const FLOORS: Record<Ranged, number> = { followers: 2, engagement: 5 };

const shot = (sort: Ranged, page: number): Shot => ({
  method: 'GET',
  path: `/v1/creators/search?sort=${sort}&limit=${LIMIT}&page=${page}`,
});

/** The last page of the whole directory against its first, one request at a time, in turn. */
export async function measurePages(session: Session, add: Add): Promise<void> {
  const { scale, api } = session;
  const target = targetApi(session, api);
  for (const sort of ['followers', 'engagement'] as const) {
    progress(`Page ${scale.lastPage} and page 1 by ${sort}`);
    const lasts = shuffled(
      Array.from({ length: LAST_PAGES }, (_, i) => shot(sort, scale.lastPage - i)),
      1,
    );
    for (const last of lasts) await latencyMs(target, last);
    for (let i = 0; i < LAST_PAGES; i += 1) await latencyMs(target, shot(sort, 1));
    const first: number[] = [];
    const last: number[] = [];
    for (let i = 0; i < SAMPLES; i += 1) {
      first.push(await latencyMs(target, shot(sort, 1)));
      last.push(await latencyMs(target, lasts[i % LAST_PAGES] ?? shot(sort, scale.lastPage)));
    }
    add({
      name: `last_page_to_first_by_${sort}`,
      value: median(last) / median(first),
      floor: FLOORS[sort],
      bound: 'at most',
      measured:
        `page ${scale.lastPage}: ${round(median(last))} ms (p99 ${round(percentile(last, 99))}), ` +
        `page 1: ${round(median(first))} ms (p99 ${round(percentile(first, 99))})`,
      warm: "the API's counts by region",
    });
  }
}
