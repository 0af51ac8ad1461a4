import type { RequestListener } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../../src/kit/operation/context.ts';
import { profileCreators } from '../../src/workflow/creators/profiles.ts';
import { call, made, makeBrand, startApp, type TestApp, type TestBrand, unique } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';
import { handle } from '../harness/platform/people.ts';
import { answering, type ProfileProvider, startProvider } from '../harness/workflow/provider.ts';

const MINUTE_MS = 60_000;
const TOKEN = 'provider-token';

/** Profiling is for the creators of all brands, and other tests' are not to be touched. */
let database: TestDatabase;
let provider: ProfileProvider;
let app: TestApp;
let context: Context;
let nowMs = Date.now();

beforeAll(async () => {
  [provider, database] = await Promise.all([startProvider(), makeDatabase('profiles')]);
  app = await startApp({
    urls: { postgres: database.url },
    alias: unique('profiles'),
    clock: { now: () => new Date(nowMs) },
    env: { PROFILE_PROVIDER_URL: provider.url, PROFILE_PROVIDER_TOKEN: TOKEN },
  });
  context = app.context;
});
afterEach(() => {
  provider.answer = provider.unknown;
});
afterAll(async () => {
  await app?.close();
  await provider?.close();
  await database?.drop();
});

async function brandWithKey() {
  const brand = await makeBrand(context);
  return { brand, key: await brand.key('brand') };
}

const post = (path: string, key: string, input: object) => made(`${app.url}${path}`, key, input);
const read = async (key: string, id: string) => (await call(`${app.url}/v1/roster/${id}`, key)).body.data;

describe('the profile provider', () => {
  it('is called with its token for creators missing from the directory', async () => {
    const { key } = await brandWithKey();
    const [known, ig, tt] = [handle(), handle(), handle()];
    await putDirectory(context.elastic, context.config.directoryAlias, [
      creator(1, { username: known, follower_count: 42 }),
    ]);
    const requested: (string | undefined)[] = [];
    provider.answer = (request, response) => {
      requested.push(request.url, request.headers.authorization);
      answering({ name: 'Provided', picture_url: 'https://pics.example/p.jpg', followers: 1_234 })(request, response);
    };
    expect(await post('/v1/roster/add', key, { ig_handle: known })).toMatchObject({ ig_followers: 42 });
    expect(requested).toEqual([]);
    expect(await post('/v1/roster/add', key, { ig_handle: ig })).toMatchObject({
      name: 'Provided',
      ig_followers: 1_234,
      pfp_url: 'https://pics.example/p.jpg',
    });
    expect(requested).toEqual([`/v2/profiles/photo_app/${ig}`, `Bearer ${TOKEN}`]);
    expect(await post('/v1/roster/add', key, { tt_handle: tt, name: 'Given' })).toMatchObject({
      name: 'Given',
      tt_followers: 1_234,
    });
    expect(requested.slice(2)).toEqual([`/v2/profiles/video_app/${tt}`, `Bearer ${TOKEN}`]);
  });

  const WRONG: [what: string, answer: RequestListener][] = [
    ['does not know', (_request, response) => void response.writeHead(404).end()],
    ['fails', (_request, response) => void response.writeHead(500).end()],
    [
      'redirects',
      (request, response) => {
        if (request.url === '/elsewhere') answering({ followers: 1 })(request, response);
        else response.writeHead(302, { location: '/elsewhere' }).end();
      },
    ],
    ['answers no JSON', (_request, response) => void response.writeHead(200).end('<html>')],
    ['answers another shape', answering({ followers: 'many' })],
    ['answers a picture that is a script', answering({ picture_url: 'javascript:alert(1)', followers: 1 })],
    ['answers endlessly', (_request, response) => void response.writeHead(200).end('x'.repeat(1_000_000))],
    ['hangs up', (request) => void request.socket.destroy()],
    ['hangs', () => undefined],
    ['hangs in mid-answer', (_request, response) => void response.writeHead(200).write('{')],
  ];
  it.each(WRONG)('that %s leaves the creator as given, and is asked for both handles at once', async (what, answer) => {
    const { key } = await brandWithKey();
    const [ig_handle, tt_handle] = [handle(), handle()];
    let [open, most] = [0, 0];
    provider.answer = (request, response) => {
      open += 1;
      most = Math.max(most, open);
      response.once('close', () => {
        open -= 1;
      });
      answer(request, response);
    };
    const data = await post('/v1/roster/add', key, { ig_handle, tt_handle, name: 'Ana' });
    if (['hangs', 'hangs in mid-answer'].includes(what)) expect(most).toBe(2);
    expect(data).toMatchObject({
      name: 'Ana',
      ig_handle,
      tt_handle,
      pfp_url: null,
      ig_followers: null,
      status: 'hired',
    });
  });
});

describe('profiling unknown creators', () => {
  /** Of the brand's one creator. */
  const attemptsOf = async ({ id }: TestBrand) =>
    (
      await context.postgres.db
        .selectFrom('creators')
        .select('profileAttempts')
        .where('brandId', '=', id)
        .executeTakeFirstOrThrow()
    ).profileAttempts;

  it('fills in values found later and keeps an existing name', async () => {
    const { brand, key } = await brandWithKey();
    const named = await post('/v1/roster/add', key, { tt_handle: handle(), name: 'Ana' });
    const unnamed = await post('/v1/roster/add', key, { ig_handle: handle() });
    provider.answer = answering({ name: 'Provided', picture_url: null, followers: 77 });
    await profileCreators.run(context);
    expect(await read(key, named.id)).toMatchObject({ creator_name: 'Ana', tt_followers: 77 });
    expect(await read(key, unnamed.id)).toMatchObject({ creator_name: 'Provided', ig_followers: 77 });
    const audit = await context.postgres.db
      .selectFrom('auditLog')
      .selectAll()
      .where('brandId', '=', brand.id)
      .where('operation', '=', 'profile_creator')
      .execute();
    expect(audit.map(({ keyId, newValues }) => [keyId, newValues?.name])).toEqual(
      expect.arrayContaining([
        [null, 'Ana'],
        [null, 'Provided'],
      ]),
    );
  });

  it('retries after a minute, then two, until the profile is found', async () => {
    const { brand, key } = await brandWithKey();
    const { id } = await post('/v1/roster/add', key, { ig_handle: handle() });
    const attempts: number[] = [];
    for (const minutes of [0, 0.9, 0.2, 1.8, 0.3]) {
      nowMs += minutes * MINUTE_MS;
      await profileCreators.run(context);
      attempts.push(await attemptsOf(brand));
    }
    expect(attempts).toEqual([1, 1, 2, 2, 3]);
    nowMs += 60 * MINUTE_MS;
    provider.answer = answering({ followers: 5 });
    await profileCreators.run(context);
    expect(await read(key, id)).toMatchObject({ ig_followers: 5 });
    nowMs += 48 * 60 * MINUTE_MS;
    await profileCreators.run(context);
    expect(await attemptsOf(brand)).toBe(4);
  });

  it('keeps the values of one platform while it retries the other', async () => {
    const { key } = await brandWithKey();
    const [ig, tt] = [handle(), handle()];
    provider.answer = (request, response) =>
      request.url?.includes(ig) ? answering({ followers: 11 })(request, response) : provider.unknown(request, response);
    const { id } = await post('/v1/roster/add', key, { ig_handle: ig, tt_handle: tt });
    expect(await read(key, id)).toMatchObject({ ig_followers: 11, tt_followers: null });
    provider.answer = (request, response) =>
      request.url?.includes(tt) ? answering({ followers: 22 })(request, response) : provider.unknown(request, response);
    await profileCreators.run(context);
    expect(await read(key, id)).toMatchObject({ ig_followers: 11, tt_followers: 22 });
  });

  it('looks up each creator once with any number of workers', async () => {
    const { key } = await brandWithKey();
    const handles = Array.from({ length: 25 }, handle);
    await Promise.all(handles.map((ig_handle) => post('/v1/roster/add', key, { ig_handle })));
    const requested: string[] = [];
    provider.answer = (request, response) => {
      requested.push(request.url?.split('/').at(-1) ?? '');
      answering({ followers: 1 })(request, response);
    };
    await Promise.all([profileCreators.run(context), profileCreators.run(context), profileCreators.run(context)]);
    expect(requested.filter((name) => handles.includes(name)).sort()).toEqual([...handles].sort());
  });
});
