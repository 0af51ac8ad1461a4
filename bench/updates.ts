import { setTimeout as pause } from 'node:timers/promises';
import { toDocument } from '../src/directory/search/document.ts';
import { sampleCreators } from './directory-file.ts';
import { alternate, median, medianRatio } from './load.ts';
import { type Add, progress, round } from './report.ts';
import { flawless, type Session, shallowMix, targetApi } from './session.ts';

const UPDATES_PER_SECOND = 1_000;
const UPDATES_AT_ONCE = 100;
const DIFFERENT_CREATORS = 20_000;
const ROUNDS = 5;
/** Elasticsearch keeps up with them. */
const KEPT_UP = 0.95 * UPDATES_PER_SECOND;

/** Bulk bodies that rewrite creators from all over the directory. */
function prepareUpdates(creators: number): string[] {
  const lines = sampleCreators(creators, DIFFERENT_CREATORS).map(
    (row) => `{"index":{"_id":"${row.pk}"}}\n${JSON.stringify(toDocument(row))}\n`,
  );
  const bodies: string[] = [];
  for (let i = 0; i < lines.length; i += UPDATES_AT_ONCE) bodies.push(lines.slice(i, i + UPDATES_AT_ONCE).join(''));
  return bodies;
}

/** Sends updates at a steady rate until `isOver`. Returns how many a second went through. */
async function keepUpdating(session: Session, bodies: readonly string[], isOver: () => boolean): Promise<number> {
  const { elastic } = session.context;
  const everyMs = (UPDATES_AT_ONCE * 1000) / UPDATES_PER_SECOND;
  const from = performance.now();
  let sent = 0;
  for (; !isOver(); sent += 1) {
    const body = bodies[sent % bodies.length] ?? '';
    const path = `/${session.index}/_bulk?filter_path=errors`;
    const answer = await elastic.post(path, body, { contentType: 'application/x-ndjson' });
    if (answer.toString() !== '{"errors":false}') throw new Error('An update was refused.');
    await pause(Math.max(0, from + (sent + 1) * everyMs - performance.now()));
  }
  return (sent * UPDATES_AT_ONCE * 1000) / (performance.now() - from);
}

/** Searches while the live index is being updated, against searches while it is not. */
export async function measureUpdates(session: Session, add: Add): Promise<void> {
  const { scale, api, context, index } = session;
  const shots = shallowMix(session).map((search) => search.api);
  const target = targetApi(session, api);
  const bodies = prepareUpdates(scale.creators);
  const search = async () => (await flawless('API', target, shots, { pid: api.pid, forMs: scale.updateMs })).perSecond;

  /** Every side starts with a refreshed index and warm counts. */
  async function settle(): Promise<void> {
    await context.elastic.client.indices.refresh({ index });
    await pause(1_500);
    await flawless('API', target, shots);
  }
  const updates: number[] = [];
  progress(`API, idle and with ${UPDATES_PER_SECOND} updates a second`);
  const [idle = [], updated = []] = await alternate(ROUNDS, [
    async () => {
      await settle();
      return await search();
    },
    async () => {
      await settle();
      let isOver = false;
      const updating = keepUpdating(session, bodies, () => isOver);
      const result = await search();
      isOver = true;
      updates.push(await updating);
      return result;
    },
  ]);
  const warm = "the API's counts until each refresh (every 5 s)";
  const ratios = updated.map((perSecond, place) => round(perSecond / (idle[place] ?? Number.NaN)));
  add(
    {
      ...{ name: 'updating_to_idle', value: medianRatio(updated, idle), floor: 0.85, bound: 'at least', warm },
      measured: `${round(median(updated))}/s with updates, ${round(median(idle))}/s idle; ${ratios.join(', ')}`,
    },
    {
      ...{ name: 'updates_per_second', value: median(updates), floor: KEPT_UP, bound: 'at least', warm },
      measured: `${updates.map(round).join(', ')}, of ${UPDATES_PER_SECOND} that were due`,
    },
  );
}
