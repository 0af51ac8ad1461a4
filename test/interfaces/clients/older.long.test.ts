import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildOlder } from '../../../clients/build.ts';
import { makeSale } from '../../harness/affiliates/sales.ts';
import { makeBrand, startApp, type TestApp, unique } from '../../harness/app.ts';
import { creator, putDirectory } from '../../harness/directory/directory.ts';
import { longDeadlineMs } from '../../run/deadline.ts';

const run = promisify(execFile);
const alias = unique('older');
let app: TestApp;

beforeAll(async () => {
  app = await startApp({ alias });
  await putDirectory(app.context.elastic, alias, [
    creator(1, { username: 'ann.older', city: 'New York', gender: 'Female' }),
    creator(2, { username: 'ben.older', city: 'York', gender: 'male' }),
  ]);
});
afterAll(() => app?.close());

test(
  'A client generated from the older interface’s document goes through a brand’s day, and every answer fits its types',
  async () => {
    const home = await mkdtemp(path.join(tmpdir(), 'rollcall-older-'));
    await mkdir(path.join(home, 'src'));
    await copyFile('test/interfaces/clients/older.ts.txt', path.join(home, 'src', 'day.ts'));
    const programs = await buildOlder(home);
    const brand = await makeBrand(app.context, { plan: 'scale' });
    const email = `${unique('ann')}@mail.example`;
    await makeSale(app.context, brand, { email });
    const key = await brand.key('brand');
    const { stdout } = await run(process.execPath, ['day.js', app.url, key, email, unique('ben')], { cwd: programs });
    expect(JSON.parse(stdout)).toEqual({
      search: [1, 'ann.older'],
      campaign: ['live', 'organic_ugc'],
      application: 'accepted',
      work: ['A reel', 'draft', 'Oakland', '2 × Serum (S-1)', 'refreshing'],
      link: [true, 'active', 'disabled'],
      sale: [10, 'discount_code', true],
      paid: [
        'paid',
        expect.arrayContaining([
          ['discount_code', 10],
          ['manual', 12.5],
        ]),
      ],
      figures: 'number',
      webhook: ['our-own-secret', 'active', true],
      refusal: [404, 'NOT_FOUND'],
      deprecated: [true],
    });
  },
  longDeadlineMs,
);
