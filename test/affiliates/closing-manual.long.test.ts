import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { approved, makePayer } from '../harness/affiliates/paying.ts';
import { daysAgo, makeAssignment } from '../harness/affiliates/sales.ts';
import { startApp, type TestApp } from '../harness/app.ts';

let app: TestApp;
const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-closing-'));

beforeAll(async () => {
  app = await startApp();
  mkdirSync(path.join(folder, '.rollcall'));
});
afterAll(async () => {
  await app?.close();
  rmSync(folder, { recursive: true, force: true });
});

const run = promisify(execFile);

/** The page's commands; where the demo's keys are read, the test gives its own. */
function commandsOf(page: string): string {
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(page) ?? [];
  return block.replace('. .rollcall/demo.env\n', '');
}

it('the commands of docs/money.md close a month as they are written', async () => {
  const owner = await makePayer(app);
  const ana = await makeAssignment(app.context, owner.brand, { email: 'ana@example.com', name: 'Ana' });
  await approved(owner, { assignment: ana, amountMinor: 40_000, occurredAt: daysAgo(75) });
  const script = `set -e\ncurl() { command curl -sS --fail-with-body "$@"; echo; }\n${commandsOf(readFileSync('docs/money.md', 'utf8'))}`;
  const env = { PATH: '/usr/bin:/bin', ROLLCALL_URL: app.url, ROLLCALL_BRAND_KEY: owner.key };
  const { stdout } = await run('bash', ['-c', script], { env, cwd: folder });
  expect(stdout).toContain('ana@example.com,Ana,USD,1,40,0,0,40,0,');
  expect(stdout).toMatch(/"payouts":\[\{"id":"pay_\w+","creator_email":"ana@example.com"/);
  expect(readFileSync(path.join(folder, '.rollcall/journal.csv'), 'utf8')).toContain('date,entry,kind,account');
  expect(stdout).toMatch(/"url":"https:\/\/go\.example\/statement\//);
});
