import { setTimeout as pause } from 'node:timers/promises';
import { toDocument } from '../src/directory/search/document.ts';
import { sampleCreators } from './directory-file.ts';
import { alternate, median, medianRatio } from './load.ts';
import { type Add, progress, round } from './report.ts';
import { flawless, type Session, shallowMix, targetApi } from './session.ts';

const UPDATES_PER_SECOND = 1_000;
const UPDATES_AT_ONCE = 100;
const DIFFERENT_CREATORS = 20_000;

/** Bulk bodies that rewrite creators from all over the directory. */
function prepareUpdates(creators: number): string[] {
  const lines = sampleCreators(creators, DIFFERENT_CREATORS).map(
    (row) => `{"index":{"_id":"${row.pk}"}}\n${JSON.stringify(toDocument(row))}\n`,
  );
  const bodies: string[] = [];
  for (let i = 0; i < lines.length; i += UPDATES_AT_ONCE) bodies.push(lines.slice(i, i + UPDATES_AT_ONCE).join(''));
  return bodies;
}

/** Sends updates at a steady rate until `isOver`; fails if Elasticsearch cannot keep up. */
async function keepUpdating(session: Session, bodies: readonly string[], isOver: () => boolean): Promise<void> {
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
  const perSecond = (sent * UPDATES_AT_ONCE * 1000) / (performance.now() - from);
  if (perSecond < UPDATES_PER_SECOND * 0.95) throw new Error(`Only ${round(perSecond)} updates a second went through.`);
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
  progress(`API, idle and with ${UPDATES_PER_SECOND} updates a second`);
  const [idle = [], updated = []] = await alternate(scale.isFull ? 4 : 1, [
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
      await updating;
      return result;
    },
  ]);
  add({
    name: 'updating_to_idle',
    value: medianRatio(updated, idle),
    floor: 0.85,
    bound: 'at least',
    measured: `${round(median(updated))}/s with ${UPDATES_PER_SECOND} updates/s, ${round(median(idle))}/s idle`,
    warm: "the API's counts until each refresh (every 5 s)",
  });
}
