import { afterAll, beforeAll, it } from 'vitest';
import { startApp, type TestApp, unique } from '../harness/app.ts';
import { growAcrossRestart } from '../harness/directory/growing-directory.ts';

const alias = unique('reopened');
let app: TestApp;

beforeAll(async () => {
  app = await startApp({ alias });
});
afterAll(() => app?.close());

it('a search counts its results when a restarted shard resets its refresh counter', async () => {
  await growAcrossRestart(app, alias, async () => {
    const { indices } = app.context.elastic.client;
    await indices.close({ index: alias });
    await indices.open({ index: alias, wait_for_active_shards: 1 });
  });
});
