import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '../../src/local/engines/port.ts';
import { engineUrls, SECRET, unique, until } from '../harness/app.ts';
import { hasBrowser, openBrowser } from '../harness/interfaces/browser.ts';
import { type BuiltImage, buildImage } from '../harness/process/image.ts';
import { deadlineMs, longDeadlineMs } from '../run/deadline.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
let folder: string;
let image: BuiltImage;
beforeAll(async () => {
  // Outside of the tree, whose packages would stand in for those that the image lacks.
  folder = await mkdtemp(path.join(tmpdir(), 'rollcall-image-'));
  image = await buildImage(ROOT, folder);
}, longDeadlineMs);
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const inImage = (name: string) => existsSync(path.join(image.root, image.workdir, name));

describe('the image', () => {
  it('has the built web app, but neither its sources nor the tools that build and test it', () => {
    expect(inImage('dist/web-app/index.html')).toBe(true);
    for (const name of ['web', 'test', 'node_modules/vite', 'node_modules/react', 'node_modules/vitest']) {
      expect([name, inImage(name)]).toEqual([name, false]);
    }
  });

  it('does not run as root', () => {
    expect(image.user).toMatch(/^[1-9]\d*$/);
  });

  it('starts without further files, serves the API and the web app, and exits with 0 on SIGTERM', async () => {
    const { postgres, redis, elasticsearch, clickhouse } = engineUrls();
    const port = await findFreePort();
    const [node, ...args] = image.command;
    expect(node).toBe('node');
    const uid = process.getuid?.() === 0 ? { uid: Number(image.user), gid: Number(image.user) } : {};
    const child = spawn(process.execPath, args, {
      ...uid,
      cwd: path.join(image.root, image.workdir),
      env: {
        ...image.env,
        ...{ HOST: '127.0.0.1', PORT: String(port), LINKS_PORT: '0' },
        ...{ ASSETS_URL: 'local', SMTP_URL: 'local' },
        ...{ ROLLCALL_SECRET: SECRET, DIRECTORY_ALIAS: unique('none'), LOG_LEVEL: 'error' },
        ...{ DATABASE_URL: postgres, REDIS_URL: redis, ELASTICSEARCH_URL: elasticsearch, CLICKHOUSE_URL: clickhouse },
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
    }
    const ended = once(child, 'exit');
    const url = `http://127.0.0.1:${port}`;
    await until('the start', () => said.includes('API reference:') || child.exitCode !== null);
    expect(child.exitCode, said).toBeNull();
    const page = await fetch(`${url}/app`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const script = /src="(\/app\/assets\/[^"]+\.js)"/.exec(await page.text())?.[1];
    expect((await fetch(`${url}${script}`)).status).toBe(200);
    expect((await fetch(`${url}/openapi.json`)).status).toBe(200);
    await until('readiness', async () => (await fetch(`${url}/readyz`)).status === 200);
    if (hasBrowser('The web app of the image')) {
      const browser = await openBrowser();
      const tab = await browser.newPage();
      tab.setDefaultTimeout(deadlineMs);
      await tab.goto(`${url}/app/sign-in`);
      await tab.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
      await browser.close();
    }
    child.kill('SIGTERM');
    expect([await ended, said.includes('could not')]).toEqual([[0, null], false]);
  });
});
