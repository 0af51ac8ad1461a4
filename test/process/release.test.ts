import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RELEASE } from '../../src/kit/values/release.ts';
import { call, startApp, type TestApp } from '../harness/app.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const read = (name: string) => readFile(path.join(ROOT, name), 'utf8');
/** The first capture of every match. */
const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, captured]) => captured);

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

describe('the release', () => {
  it('is the version that /healthz reports', async () => {
    const { status, body } = await call(`${app.url}/healthz`);
    expect([status, body]).toEqual([200, { status: 'ok', version: RELEASE }]);
  });

  it('is the newest version of the changelog, which has a date', async () => {
    const released = /^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}$/gm;
    expect(all(await read('CHANGELOG.md'), released)[0]).toBe(RELEASE);
  });

  it('is the version in the image’s label', async () => {
    const versions = all(await read('Dockerfile'), /org\.opencontainers\.image\.version="([^"]*)"/g);
    expect(versions).toEqual([RELEASE]);
  });

  it('is the version of the lock file and of both clients', async () => {
    for (const name of [
      'package-lock.json',
      'clients/typescript/package.json',
      'clients/typescript/package-lock.json',
    ]) {
      expect([name, JSON.parse(await read(name)).version]).toEqual([name, RELEASE]);
    }
    expect(all(await read('clients/python/pyproject.toml'), /^version = "(.*)"$/gm)).toEqual([RELEASE]);
  });

  it('has the licence of package.json in LICENSE and in the image’s label', async () => {
    const { license } = JSON.parse(await read('package.json'));
    expect(await read('LICENSE')).toContain(`"${license}" in package.json`);
    const labels = all(await read('Dockerfile'), /org\.opencontainers\.image\.licenses="([^"]*)"/g);
    expect(labels).toEqual([`LicenseRef-${license}`]);
  });
});
