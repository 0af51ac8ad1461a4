import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { importDirectory } from '../../src/directory/imports/indexing/import.ts';
import { openFiles } from '../../src/directory/imports/indexing/source.ts';
import { rollback } from '../../src/directory/imports/indexing/versions.ts';
import { deleteCreators, patchCreators, upsertCreators } from '../../src/directory/imports/indexing/writes.ts';
import { forget } from '../../src/directory/opt-out/forget.ts';
import type { DirectoryCreatorDetail } from '../../src/directory/search/creator.shapes.ts';
import {
  call,
  keysInTurn,
  ledgerOf,
  makeBrand,
  startApp,
  type TestApp,
  type TestBrand,
  until,
} from '../harness/app.ts';
import { creator } from '../harness/directory/directory.ts';
import { FORCED, makeDirectory, type TestDirectory } from '../harness/directory/indexer.ts';
import { blocksOf } from '../harness/interfaces/manual.ts';
import { CHILD_ENV } from '../harness/process/child.ts';
import { longDeadlineMs } from '../run/deadline.ts';

const REPOSITORY = path.resolve('.');
const CREATORS = 240;
const IMPORTS = 10;
/** Outside the filters: shows which night the server has reached. */
const SENTINEL = 9_999;

const CITIES: [string, string | null, string][] = [
  ['Oakland', 'CA', 'US'],
  ['San Jose', 'CA', 'US'],
  ['San Francisco', 'CA', 'US'],
  ['Austin', 'TX', 'US'],
  ['Paris', null, 'France'],
];

let directory: TestDirectory;
let app: TestApp;
let brand: TestBrand;
let nextKey: () => string;
let folder: string;
let dataKey: string;
beforeAll(async () => {
  directory = await makeDirectory();
  const { alias } = directory.engines;
  app = await startApp({ alias, urls: { postgres: directory.env.DATABASE_URL ?? '' } });
  brand = await makeBrand(app.context, { plan: 'enterprise', credits: 100_000 });
  nextKey = await keysInTurn(brand, 20);
  dataKey = await brand.key('data');
  folder = await mkdtemp(path.join(tmpdir(), 'copy-'));
  await mkdir(path.join(folder, '.rollcall'));
  await mkdir(path.join(folder, 'bin'));
  await writeFile(path.join(folder, '.rollcall/demo.env'), '');
  // `npm run --silent cli -- …` in the folder of the copy.
  const npm = path.join(folder, 'bin/npm');
  await writeFile(npm, `#!/bin/sh\nshift 4\nexec "${process.execPath}" "${REPOSITORY}/src/cli.ts" "$@"\n`);
  await chmod(npm, 0o755);
});
afterAll(async () => {
  await app?.close();
  await directory?.close();
  await rm(folder, { recursive: true, force: true });
});

const [FIRST_NIGHT = '', LATER_NIGHT = ''] = blocksOf('docs/searching.md')
  .map((block) => block.text)
  .filter((commands) => commands.includes('copy.since'));

const Printed = z.object({ creators: z.number(), left: z.number().optional(), credits: z.number() });

/** Runs commands of the manual in the folder of the copy. Returns what the walk has cost. */
async function runNight(commands: string): Promise<z.infer<typeof Printed>> {
  const env = {
    ...CHILD_ENV,
    PATH: `${path.join(folder, 'bin')}:${path.dirname(process.execPath)}:${CHILD_ENV.PATH}`,
    ROLLCALL_URL: app.url,
    ROLLCALL_DATA_KEY: dataKey,
  };
  const shell = spawn('bash', ['-ec', commands], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, said] = [text(shell.stdout), text(shell.stderr)];
  await once(shell, 'close');
  expect([shell.exitCode, await said]).toEqual([0, expect.not.stringContaining('Error')]);
  return Printed.parse(JSON.parse(await out));
}

const Card = z.looseObject({ pk: z.number() });
const sort = (cards: z.infer<typeof Card>[]) => cards.toSorted((one, other) => one.pk - other.pk);

async function readCopy() {
  const lines = (await readFile(path.join(folder, 'copy.ndjson'), 'utf8')).split('\n').filter(Boolean);
  return sort(lines.map((line) => Card.parse(JSON.parse(line))));
}

async function readAll() {
  const found: z.infer<typeof Card>[] = [];
  for (let page = 1; ; page += 1) {
    const query = new URLSearchParams({ city: 'Bay Area', has_email: 'true', limit: '100', page: String(page) });
    const { body } = await call(`${app.url}/v1/creators/search?${query}`, nextKey());
    found.push(...z.array(Card).parse(body.data));
    if (!body.pagination.has_more) return sort(found);
  }
}

const makeRow = (pk: number, turn: number): DirectoryCreatorDetail => {
  const [city, state, country] = CITIES[(pk * 7 + turn * 3) % CITIES.length] ?? CITIES[0] ?? ['', null, ''];
  const email = (pk + turn) % 4 === 0 ? null : `a${pk}@copy.example`;
  return creator(pk, { city, state, country, extracted_email: email, follower_count: 1_000 + pk + turn });
};

type Rows = Map<number, DirectoryCreatorDetail>;

/** The next file of a supplier: one in eight creators changed, some are gone and some new. */
function makeNext(rows: Rows, turn: number): Rows {
  const next: Rows = new Map();
  for (const [pk, row] of rows) {
    if ((pk + turn) % 37 === 0) continue;
    next.set(pk, (pk + turn) % 8 === 0 ? makeRow(pk, turn) : row);
  }
  for (let i = 0; i < 6; i += 1) next.set(1_000 + turn * 10 + i, makeRow(1_000 + turn * 10 + i, turn));
  return next;
}

async function openRows(rows: Iterable<unknown>) {
  const lines = [...rows].map((row) => `${JSON.stringify(row)}\n`).join('');
  return await openFiles([await directory.file('rows.ndjson', lines)]);
}

async function importRows(rows: Rows): Promise<void> {
  await importDirectory(directory.engines, { source: await openRows(rows.values()), ...FORCED, restart: true });
}

async function write(how: typeof upsertCreators, ...rows: unknown[]): Promise<void> {
  await how(directory.engines, { source: await openRows(rows), rejectsFile: `${directory.folder}/rejects.ndjson` });
}

async function optOut(pk: number): Promise<void> {
  await forget(directory.engines, { kind: 'pk', value: pk }, { reason: 'A letter', by: 'operator' });
}

/** Waits until the server shows all that was written before. */
async function untilShown(night: number): Promise<void> {
  await write(
    upsertCreators,
    creator(SENTINEL, { city: 'Lyon', state: null, country: 'France', follower_count: night }),
  );
  await until('the server to show the night', async () => {
    const { body } = await call(`${app.url}/v1/creators/${SENTINEL}`, nextKey());
    return body.data?.follower_count === night;
  });
}

it(
  'the recipe of the manual keeps a filtered copy true through ten imports, a rollback, writes and opt-outs, and says its cost',
  async () => {
    let rows: Rows = new Map(Array.from({ length: CREATORS }, (_, i) => [i + 1, makeRow(i + 1, 0)]));
    await importRows(rows);
    await untilShown(1);
    let spent = (await runNight(FIRST_NIGHT)).credits;
    expect((await readCopy()).length).toBeGreaterThan(80);
    expect(await readCopy()).toEqual(await readAll());
    const costs: number[] = [];
    let left = 0;
    for (let turn = 1; turn <= IMPORTS; turn += 1) {
      const next = makeNext(rows, turn);
      await importRows(next);
      if (turn === 5) {
        // A copy is taken of the bad import too, which is then taken back.
        await untilShown(500);
        spent += (await runNight(LATER_NIGHT)).credits;
        expect(await readCopy()).toEqual(await readAll());
        await rollback(directory.engines, {});
      } else rows = next;
      if (turn % 3 === 0) {
        const [first = 0, second = 0, third = 0, fourth = 0] = [...rows.keys()].slice(turn * 5);
        await write(upsertCreators, makeRow(first, turn + 1), makeRow(2_000 + turn, turn));
        await write(
          patchCreators,
          { pk: second, extracted_email: null },
          { pk: third, city: 'Oakland', state: 'CA', country: 'US' },
        );
        await write(deleteCreators, fourth);
        rows.set(first, makeRow(first, turn + 1));
        rows.set(2_000 + turn, makeRow(2_000 + turn, turn));
        rows.delete(fourth);
      }
      if (turn % 4 === 0) await optOut([...rows.keys()][turn] ?? 0);
      await untilShown(turn + 1);
      const night = await runNight(LATER_NIGHT);
      costs.push(night.credits);
      spent += night.credits;
      left += night.left ?? 0;
      expect(await readCopy(), `night ${turn}`).toEqual(await readAll());
    }
    expect(left).toBeGreaterThan(20);
    // Nights that follow one another within ten seconds read some creators twice.
    expect(Math.max(...costs)).toBeLessThanOrEqual(30);
    expect((await ledgerOf(app.context, brand)).charged).toBe(spent);
  },
  longDeadlineMs,
);
