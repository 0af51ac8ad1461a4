import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, made, makeBrand, startApp, type TestApp, unique } from '../harness/app.ts';
import { runCli } from '../harness/process/cli.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

describe('the commands of people’s rights', () => {
  it('print what is kept of a creator, and erase them once', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const email = `${unique('gone')}@creators.example`;
    await made(`${app.url}/v1/roster`, key, { creator_email: email, note: 'calls at five' });
    const selector = ['--brand', brand.id, '--creator-email', email];
    const told = await runCli(['people', 'export', ...selector]);
    expect(JSON.parse(told.out).tables).toMatchObject({
      creators: [{ email }],
      roster_entries: [{ note: 'calls at five' }],
    });
    const erased = await runCli(['people', 'erase', ...selector]);
    expect([erased.status, JSON.parse(erased.out)]).toMatchObject([
      0,
      { source: 'cli', state: 'done', removed: { creators: 1, roster_entries: 1 } },
    ]);
    expect((await call(`${app.url}/v1/creators`, key)).body.data).toEqual([]);
    expect(JSON.parse((await runCli(['people', 'erase', ...selector])).out)).toMatchObject({ removed: {} });
    const wrong = await runCli(['people', 'erase', '--brand', brand.id, '--creator-id', 'rst_0Uo3xK2mVdT2aXs7LpRb']);
    expect([wrong.status, wrong.said]).toEqual([1, expect.stringMatching(/creator_id.*must be the id of a creator/s)]);
    expect(wrong.said).not.toContain('"path"');
    const two = await runCli(['people', 'erase', ...selector, '--creator-handle', 'x']);
    expect([two.status, two.said]).toEqual([1, expect.stringContaining('must stand alone')]);
  });
});
