import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { durationText, readDuration } from '../../src/kit/values/duration.ts';
import { call, startApp, type TestApp } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { runCli } from '../harness/process/cli.ts';

const DAY_MS = 86_400_000;
let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  database = await makeDatabase('sandbox');
  app = await startApp({ urls: { postgres: database.url }, env: { ROLLCALL_SANDBOX: '1' } });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const clock = (...args: string[]) =>
  runCli(['clock', ...args], { DATABASE_URL: database.url, ROLLCALL_SANDBOX: 'really' });

describe('the clock of a sandbox', () => {
  it('only moves forward, by a valid duration, and at most ten years', async () => {
    for (const text of ['-1d', '31', 'a day', '1.5h', '0d', '', '1h1d']) {
      const { status, said } = await clock('advance', '--', text);
      expect([text, status, said]).toEqual([text, 2, expect.stringContaining('such as 31d, 12h, 90m')]);
    }
    const { status, said } = await clock('advance', '4000d');
    expect([status, said]).toEqual([1, expect.stringContaining('at most ten years')]);
  });

  it('does not exist outside a sandbox: no header, no command, and the real time', async () => {
    const plain = await startApp({ urls: { postgres: database.url } });
    await clock('advance', '1d');
    expect((await call(`${plain.url}/healthz`)).headers.has('x-rollcall-clock')).toBe(false);
    expect(plain.context.clock.now().getTime() - Date.now()).toBeLessThan(1_000);
    const { status, said } = await runCli(['clock', 'advance', '1d'], { DATABASE_URL: database.url });
    expect([status, said]).toEqual([1, expect.stringContaining('ROLLCALL_SANDBOX=1')]);
    await plain.close();
  });

  it('is refused by the command for a server that is not a sandbox, which it names', async () => {
    const plain = await startApp({ urls: { postgres: database.url } });
    const env = { DATABASE_URL: database.url, ROLLCALL_SANDBOX: 'really' };
    const shown = async () => Date.parse((await clock('show')).out.trim());
    const before = await shown();
    const refused = await runCli(['clock', 'advance', '300d'], { ...env, ROLLCALL_URL: plain.url });
    expect([refused.status, refused.said]).toEqual([1, expect.stringContaining(`${plain.url} is not a sandbox`)]);
    expect((await shown()) - before).toBeLessThan(DAY_MS);
    await plain.close();
    expect((await runCli(['clock', 'show'], { ...env, ROLLCALL_URL: app.url })).status).toBe(0);
  });

  it('is refused on external engines unless explicitly confirmed', () => {
    const DATABASE_URL = 'postgres://127.0.0.1/rollcall';
    expect(() => readConfig({ DATABASE_URL, ROLLCALL_SANDBOX: '1' })).toThrow(/DATABASE_URL.*ROLLCALL_SANDBOX=really/s);
    expect(() => readConfig({ ROLLCALL_SANDBOX: 'yes' })).toThrow('ROLLCALL_SANDBOX');
    expect(readConfig({ DATABASE_URL, ROLLCALL_SANDBOX: 'really' }).isSandbox).toBe(true);
    expect(readConfig({ ROLLCALL_SANDBOX: '1' }).isSandbox).toBe(true);
    expect(readConfig({}).isSandbox).toBe(false);
  });
});

describe('a duration', () => {
  it('is parsed as people write it, and formatted the same way', () => {
    const cases: [string, number][] = [
      ['31d', 31 * DAY_MS],
      ['12h', DAY_MS / 2],
      ['90m', 5_400_000],
      ['45s', 45_000],
      ['1d12h', 1.5 * DAY_MS],
    ];
    for (const [text, ms] of cases) expect([text, readDuration(text)]).toEqual([text, ms]);
    expect([durationText(1.5 * DAY_MS), durationText(5_400_000), durationText(0)]).toEqual(['1d12h', '1h30m', '0s']);
    for (const text of ['', 'd', '31', '1d ', '1h1d', '1e3d', '٣d']) {
      expect([text, readDuration(text)]).toEqual([text, text === '1d ' ? DAY_MS : undefined]);
    }
  });
});
