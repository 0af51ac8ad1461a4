import { expect, test } from 'vitest';
import { seededRandom } from '../../src/directory/imports/indexing/random.ts';
import { ledgerOf, makeBrand, type ServerProcess, startApp, startServer, unique } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';
import { walkOnce } from '../harness/directory/walking.ts';
import { randomRuns, testSeed as SEED } from '../harness/kit/random-runs.ts';
import { longDeadlineMs } from '../run/deadline.ts';

const KILLS = randomRuns(10);
/** A whole walk takes 0.6 s on a machine that has nothing else to do. */
const KILLED_WITHIN_MS = 150;
const CREATORS = 15_050;

test(
  'A walk over three processes that are killed at random moments has every creator once and costs what it costs in one go',
  async () => {
    const alias = unique('kills');
    const app = await startApp({ alias });
    const random = seededRandom(SEED);
    const servers: ServerProcess[] = [];
    try {
      await putDirectory(
        app.context.elastic,
        alias,
        Array.from({ length: CREATORS }, (_, i) => creator(i + 1, { follower_count: i % 40 })),
      );
      const brand = await makeBrand(app.context, { plan: 'enterprise', credits: 100_000 });
      const key = await brand.key('data');
      for (let i = 0; i < 3; i += 1) servers.push(await startServer(alias));
      const requestId = unique('walk');
      const pks: number[] = [];
      let cursor: string | undefined;
      let kills = 0;
      let isComplete = false;
      for (let attempt = 0; !isComplete; attempt += 1) {
        const turn = attempt % servers.length;
        const server = servers[turn];
        if (!server) throw new Error('There is no server.');
        const isKilled = kills < KILLS;
        const timer = setTimeout(() => void server.kill(), isKilled ? random.below(KILLED_WITHIN_MS) : 2 ** 31 - 1);
        const walked = await walkOnce(server.url, key, cursor === undefined ? {} : { cursor }, { requestId }).catch(
          () => undefined,
        );
        clearTimeout(timer);
        if (isKilled) {
          await server.kill();
          kills += 1;
          // A start takes as long as several kills; the next attempt is at another process.
          servers[turn] = await startServer(alias);
        }
        // A server that has just started may wait too long for an engine.
        if (walked?.status === 503) continue;
        if (walked && walked.status !== 200)
          expect([attempt, walked.status, walked.refusal]).toEqual([attempt, 200, undefined]);
        if (!walked?.cursor) continue;
        isComplete = walked.end?.complete === true;
        pks.push(...(isComplete ? walked.pks : walked.pks.slice(0, walked.before)));
        cursor = walked.cursor;
      }
      expect([kills >= Math.min(KILLS, 10), pks.length, new Set(pks).size]).toEqual([true, CREATORS, CREATORS]);
      const { charged, refunded } = await ledgerOf(app.context, brand);
      expect([charged, refunded]).toEqual([Math.ceil(CREATORS / 100) * 10, 0]);
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
      await app.close();
    }
  },
  longDeadlineMs,
);
