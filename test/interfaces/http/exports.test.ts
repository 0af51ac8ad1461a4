import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, until } from '../../harness/app.ts';
import {
  download,
  endDownloads,
  isWhole,
  linesOf,
  ROSTER,
  unread,
  withLongRoster,
  withRoster,
} from '../../harness/kit/downloads.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterEach(endDownloads);
afterAll(() => app?.close());

describe('concurrent exports', () => {
  it.each(['/v1/creators', '/v1/roster'])(
    'of %s are all answered completely, at the latest when they are requested again',
    async (path) => {
      const desk = await withRoster(app, 1_001, 10);
      /** One of a brand's at a time: whoever has waited for 10 s is told to come again. */
      const whole = async (): Promise<string> => {
        const { status, body, headers } = await desk.get(path, 'text/csv');
        if (status === 200) return body;
        expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'SERVICE_UNAVAILABLE', '10']);
        return await whole();
      };
      const answers = await Promise.all(Array.from({ length: 12 }, whole));
      expect(answers.map(linesOf)).toEqual(Array(12).fill(1_002));
    },
  );
});

describe('exports that nobody reads', () => {
  it('delay no other call or brand’s export and are ended; the same brand’s next ones wait and then get 503', async () => {
    const [slow, other] = [await withLongRoster(app), await withRoster(app, 5, 10)];
    const first = await unread(app, slow);
    const more = await Promise.all(Array.from({ length: 14 }, () => download(app, slow)));
    for (let i = 0; i < 3; i += 1) {
      const calls = [other.get('/v1/campaigns'), other.get(ROSTER), other.get(ROSTER, 'text/csv')];
      expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200]);
    }
    for (const answer of await Promise.all(more.map((one) => one.rest()))) {
      expect(answer).toMatch(/^HTTP\/1\.1 503 .*^retry-after: \d+\r$.*"code":"SERVICE_UNAVAILABLE"/ims);
      expect(answer).not.toContain('nnnn');
    }
    await until('the end of what is not read', async () => (await slow.get(ROSTER, 'text/csv')).status === 200);
    const said = await first.rest();
    expect(said).toMatch(/^HTTP\/1\.1 200 /);
    expect(isWhole(said)).toBe(false);
  });

  it('are ended at once if the reader disconnects', async () => {
    const desk = await withLongRoster(app);
    for (let i = 0; i < 2; i += 1) (await unread(app, desk)).leave();
    const { status, body } = await desk.get(ROSTER, 'text/csv');
    expect([status, linesOf(body)]).toEqual([200, 12_001]);
  });
});
