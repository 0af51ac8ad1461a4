import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeBrand, startApp, type TestApp } from '../../harness/app.ts';
import { startKeyed } from '../../harness/interfaces/keyed.ts';

const run = promisify(execFile);
/** The suite asks more than one brand may in a minute. */
const BRANDS = 8;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

/**
 * The suite wants tools, prompts and resources of a server that was made for it, which ours has none of: these
 * scenarios are the baseline. The suite fails when another one fails, and when one of the baseline passes.
 */
test.each(['2025-11-25', '2026-07-28'])(
  'The official conformance suite for %s finds only what the baseline expects',
  async (version) => {
    const keys = await Promise.all(
      Array.from({ length: BRANDS }, async () => await (await makeBrand(app.context)).key('brand')),
    );
    const keyed = await startKeyed(app.url, keys);
    const output = await mkdtemp(path.join(tmpdir(), 'rollcall-conformance-'));
    const baseline = `test/interfaces/mcp/conformance-${version}.yml`;
    const args = ['server', '--url', keyed.url, '--spec-version', version];
    const { stdout } = await run(
      'node_modules/.bin/conformance',
      [...args, '--expected-failures', baseline, '--output-dir', output],
      { maxBuffer: 16 * 1024 * 1024 },
    );
    keyed.close();
    expect(stdout).toMatch(/✓ tools-list: [1-9]\d* passed, 0 failed/);
    expect(stdout).toMatch(/✓ dns-rebinding-protection: [1-9]\d* passed, 0 failed/);
  },
);
