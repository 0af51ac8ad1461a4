import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findFreePort } from '../../../src/local/engines/port.ts';
import { sampleData } from '../../../src/platform/webhooks/event-catalogue.ts';
import { Content } from '../../../src/workflow/content/content.shapes.ts';
import { call, makeBrand, startApp, type TestApp, until } from '../../harness/app.ts';
import { APPLICATION, emit } from '../../harness/platform/webhooks.ts';
import { type Run, run as runChild } from '../../harness/process/child.ts';
import { runCli } from '../../harness/process/cli.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-listen-'));
const manual = readFileSync('docs/webhooks.md', 'utf8');
const running: Run[] = [];
function run(command: readonly string[], env: NodeJS.ProcessEnv): Run {
  const started = runChild(command, env);
  running.push(started);
  return started;
}
afterEach(() => {
  for (const { child } of running.splice(0)) child.kill('SIGKILL');
});

/** A receiver as the manual has it, in a file of its own. */
function receiverOf(language: 'ts' | 'python'): string[] {
  const code = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(manual)?.[1] ?? '';
  const file = path.join(folder, language === 'ts' ? 'receiver.mts' : 'receiver.py');
  writeFileSync(file, code);
  return language === 'ts' ? [process.execPath, file] : ['python3', file];
}

const isUp = (port: number) =>
  fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }).then(
    ({ status }) => status === 401,
    () => false,
  );

describe('cli listen', () => {
  it.each(['ts', 'python'] as const)(
    'sends events, signed, to the %s receiver of the manual, which verifies them; its secret stays the same',
    async (language) => {
      const brand = await makeBrand(app.context);
      const key = await brand.key('brand');
      const port = await findFreePort();
      const env = { ROLLCALL_URL: app.url, ROLLCALL_BRAND_KEY: key, ROLLCALL_DIR: folder };
      const target = `http://127.0.0.1:${port}/hook`;
      const cli = (...args: string[]) => run([process.execPath, 'src/cli.ts', ...args], env);
      const listening = cli('listen', '--forward-to', target);
      await until('listen', () => listening.said().includes('Listening'));
      const secret = /whsec_\S+/.exec(listening.said())?.[0] ?? '';
      const receiver = run(receiverOf(language), { PORT: String(port), WEBHOOK_SECRET: secret });
      await until('the receiver', () => isUp(port));
      await emit(app, brand, 'application.received', APPLICATION);
      await until('the event', () => receiver.out().includes('verified application.received app_example'));
      await until('its line', () => /^→ application\.received evt_\w+ 204 \(\d+ ms\)$/m.test(listening.out()));
      const trigger = cli('trigger', 'payout.created');
      await until('the sample', () => receiver.out().includes('verified payout.created'));
      if (trigger.child.exitCode === null) await once(trigger.child, 'exit');
      listening.child.kill('SIGINT');
      await once(listening.child, 'exit');
      expect(listening.child.exitCode).toBe(0);
      const again = cli('listen', '--forward-to', target);
      await until('listen again', () => again.said().includes('Listening'));
      expect(again.said()).toContain(secret);
      expect((await call(`${app.url}/v1/webhooks`, key)).body.data).toEqual([]);
    },
  );

  it('prints a line of JSON for each event without a receiver, with recent ones on request', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    for (const id of ['app_1', 'app_2', 'app_3']) {
      await emit(app, brand, 'application.received', { ...APPLICATION, id });
    }
    const env = { ROLLCALL_URL: app.url, ROLLCALL_BRAND_KEY: key, ROLLCALL_DIR: folder };
    const listening = run([process.execPath, 'src/cli.ts', 'listen', '--last', '2'], env);
    await until('two lines', () => listening.out().split('\n').length > 2);
    const lines = listening.out().trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).data.id)).toEqual(['app_2', 'app_3']);
  });

  it('prints every event that is emitted after it says that it listens', async () => {
    const brand = await makeBrand(app.context);
    const env = { ROLLCALL_URL: app.url, ROLLCALL_BRAND_KEY: await brand.key('brand'), ROLLCALL_DIR: folder };
    await emit(app, brand, 'application.received', { ...APPLICATION, id: 'app_before' });
    const listening = run([process.execPath, 'src/cli.ts', 'listen'], env);
    await until('listen', () => listening.said().includes('Listening'));
    await emit(app, brand, 'application.received', { ...APPLICATION, id: 'app_after' });
    await until('a line', () => listening.out().includes('\n'));
    expect(JSON.parse(listening.out().split('\n')[0] ?? '').data.id).toBe('app_after');
  });

  it('says that the event of a trigger is unknown, also when nothing listens', async () => {
    const brand = await makeBrand(app.context);
    const env = { ROLLCALL_URL: app.url, ROLLCALL_BRAND_KEY: await brand.key('brand'), ROLLCALL_DIR: folder };
    const trigger = run([process.execPath, 'src/cli.ts', 'trigger', 'payout.craeted'], env);
    if (trigger.child.exitCode === null) await once(trigger.child, 'exit');
    expect(trigger.child.exitCode).toBe(1);
    expect(trigger.said()).toContain('Did you mean payout.created?');
  });

  it.each([
    ['an unknown key', 'none', [], /INVALID_API_KEY[\s\S]*Set ROLLCALL_BRAND_KEY/],
    ['a data key', 'data', [], /BRAND_KEY_REQUIRED[\s\S]*a data key has no events/],
    [
      'an unknown event',
      'brand',
      ['--events', 'payout.lost'],
      /payout\.lost is not an event\. The events are:\n[\s\S]*payout\.created/,
    ],
    [
      'a mistyped event',
      'brand',
      ['--events', 'payout.craeted'],
      /payout\.craeted is not an event\.\n\(Did you mean payout\.created\?\)\n$/,
    ],
    ['an event of nobody', 'brand', ['--since', 'evt_0Uo3xK2mVdT2aXs7LpRb'], /[\s\S]*--since/],
    ['--since beside --last', 'brand', ['--since', 'evt_0Uo3xK2mVdT2aXs7LpRb', '--last', '2'], /cannot be used with/],
    [
      'an older event that the feed lacks',
      'brand',
      ['--legacy', '--events', 'contract.signed'],
      /The feed has no contract\.signed/,
    ],
  ] as const)('ends with a failure and says what to do about %s', async (_what, kind, args, message) => {
    const brand = await makeBrand(app.context);
    const key = kind === 'none' ? `svk_${'0'.repeat(40)}` : await brand.key(kind);
    const env = { ROLLCALL_URL: app.url, ROLLCALL_BRAND_KEY: key, ROLLCALL_DIR: folder };
    const { status, said } = await runCli(['listen', ...args], env);
    expect(status).toBeGreaterThan(0);
    expect(said).toMatch(message);
    expect(said).not.toContain('Listening');
  });

  it('says with --legacy which events only webhooks of the older interface get, and takes the older names', async () => {
    const brand = await makeBrand(app.context);
    const env = { ROLLCALL_URL: app.url, ROLLCALL_BRAND_KEY: await brand.key('brand'), ROLLCALL_DIR: folder };
    const command = [process.execPath, 'src/cli.ts', 'listen', '--legacy', '--events', 'content.metrics_updated'];
    const listening = run(command, env);
    await until('listen', () => listening.said().includes('Listening'));
    expect(listening.said()).toMatch(
      /The feed has no .*contract\.signed.*: only webhooks of the older interface get them\./,
    );
    const sample = JSON.parse(sampleData('current', 'content.refreshed') ?? '{}');
    const item = Content.parse(sample);
    await emit(app, brand, 'content.refreshed', { ...item, previous_metrics: item.metrics });
    await until('a line', () => listening.out().includes('\n'));
    expect(JSON.parse(listening.out().split('\n')[0] ?? '').event).toBe('content.metrics_updated');
  });
});
