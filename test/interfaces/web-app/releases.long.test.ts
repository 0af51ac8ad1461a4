import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keepRelease } from '../../../src/interfaces/web-app/releases.ts';
import { call, startApp, type TestApp } from '../../harness/app.ts';
import { builtClient } from '../../harness/kit/offered.ts';

let release: string;
let older: string;
let app: TestApp;
let oldScript: string;

beforeAll(async () => {
  release = await builtClient();
  app = await startApp({ webApp: release });
  older = await mkdtemp(path.join(tmpdir(), 'rollcall-release-'));
  oldScript = `page-${randomBytes(4).toString('hex')}.js`;
  await mkdir(path.join(older, 'assets'));
  await writeFile(path.join(older, 'assets', oldScript), 'export const release = "before";');
  await writeFile(path.join(older, 'assets', `${oldScript}.br`), 'compressed');
  await keepRelease(app.context.files, older);
});
afterAll(async () => {
  await app?.close();
  if (older) await rm(older, { recursive: true, force: true });
});

const get = (name: string) => fetch(`${app.url}/app/assets/${name}`);

describe('A process of one release', () => {
  it('serves the files of the release before to pages that it gave out', async () => {
    const answer = await get(oldScript);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(await answer.text()).toBe('export const release = "before";');
  });

  it('serves its own files from its own folder, compressed', async () => {
    const [own = ''] = (await readdir(path.join(release, 'assets'))).filter((name) => name.endsWith('.js'));
    const answer = await get(own);
    expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, 'gzip']);
  });

  it.each(['page-00000000.js', 'page.js', '..%2F..%2Fsecret', `${'x'.repeat(200)}-00000000.js`, 'page-00000000.html'])(
    'answers %s, which no release has, with 404',
    async (name) => {
      const { status, body } = await call(`${app.url}/app/assets/${name}`);
      expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
    },
  );
});
