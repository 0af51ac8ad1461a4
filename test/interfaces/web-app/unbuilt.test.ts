import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../harness/app.ts';

let base: string;
let app: TestApp;
beforeAll(async () => {
  base = await mkdtemp(path.join(tmpdir(), 'rollcall-unbuilt-'));
  app = await startApp({ webApp: path.join(base, 'app') });
});
afterAll(async () => {
  await app?.close();
  await rm(base, { recursive: true, force: true });
});

describe('A web app that the first start still builds', () => {
  it('is where a browser is led from the root, and a program gets the list of documents', async () => {
    const root = (accept: string) => fetch(`${app.url}/`, { headers: { accept }, redirect: 'manual' });
    const led = await root('text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8');
    expect([led.status, led.headers.get('location')]).toEqual([302, '/app']);
    expect(await (await root('*/*')).json()).toMatchObject({ data: { docs: '/docs' } });
  });

  it('is a page that loads again by itself, and the app as soon as its build is in place', async () => {
    const waiting = await fetch(`${app.url}/app/roster`);
    expect(waiting.status).toBe(503);
    expect(waiting.headers.get('refresh')).toBe('3');
    expect(waiting.headers.get('retry-after')).toBe('3');
    expect(waiting.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(waiting.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(await waiting.text()).toContain('the page will open on its own');
    expect((await fetch(`${app.url}/app/assets/page-0a1b2c3d.js`)).status).toBe(404);
    expect((await fetch(`${app.url}/healthz`)).status).toBe(200);

    const draft = path.join(base, 'draft');
    await mkdir(path.join(draft, 'assets'), { recursive: true });
    await writeFile(path.join(draft, 'index.html'), '<!doctype html><title>App</title>');
    await writeFile(path.join(draft, 'assets/page-0a1b2c3d.js'), 'export {};');
    await rename(draft, path.join(base, 'app'));
    const built = await fetch(`${app.url}/app/roster`);
    expect([built.status, built.headers.get('refresh')]).toEqual([200, null]);
    expect(await built.text()).toBe('<!doctype html><title>App</title>');
    const script = await fetch(`${app.url}/app/assets/page-0a1b2c3d.js`);
    expect([script.status, await script.text()]).toEqual([200, 'export {};']);
  });
});
