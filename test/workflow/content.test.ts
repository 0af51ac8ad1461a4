import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ContentRefreshes, startContentRefreshes } from '../../src/workflow/content/content.jobs.ts';
import { readPostAddress } from '../../src/workflow/content/posts.ts';
import { call, engineUrls, made, makeBrand, send, startApp, type TestApp, unique, until } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { email } from '../harness/platform/people.ts';
import { answering, type ProfileProvider, startProvider } from '../harness/workflow/provider.ts';

const HOUR_MS = 3_600_000;

/** Posts of all brands are refreshed, and other tests' are not to be touched. */
let database: TestDatabase;
let provider: ProfileProvider;
let app: TestApp;
let refreshes: ContentRefreshes;
let nowMs = Date.parse('2026-03-01T10:00:00Z');

beforeAll(async () => {
  [provider, database] = await Promise.all([startProvider(), makeDatabase('content')]);
  app = await startApp({
    urls: { postgres: database.url },
    clock: { now: () => new Date(nowMs) },
    env: { CONTENT_PROVIDER_URL: provider.url, CONTENT_PROVIDER_TOKEN: 'token', TIKTOK_LINKS_URL: provider.url },
  });
  // Jobs of its own: another test's worker would take one, not know its row, and drop it.
  refreshes = startContentRefreshes(app.context, engineUrls().redis, { prefix: unique('content') });
});
afterEach(() => {
  provider.answer = provider.unknown;
});
afterAll(async () => {
  await refreshes?.close();
  await app?.close();
  await provider?.close();
  await database?.drop();
});

const reel = () => `https://www.instagram.com/reel/${unique('C').slice(0, 20)}/?igsh=abc&utm_source=x`;

async function desk() {
  const key = await (await makeBrand(app.context)).key('brand');
  const track = (input: object) => made(`${app.url}/v1/content`, key, input);
  const read = async (id: string) => (await call(`${app.url}/v1/content/${id}`, key)).body.data;
  const refresh = (id: string) => send(`${app.url}/v1/content/${id}/refresh`, key, 'POST');
  const refreshed = async (id: string) => {
    const { db } = app.context.postgres;
    const rows = await db.selectFrom('outbox').select('data').where('event', '=', 'content.refreshed').execute();
    return rows.filter(({ data }) => JSON.stringify(data).includes(id));
  };
  /** Until what is being refreshed has come to its end. */
  const settle = (id: string) =>
    until('the reading', async () => {
      await refreshes.sweep();
      const { db } = app.context.postgres;
      const row = await db.selectFrom('content').select('status').where('id', '=', id).executeTakeFirstOrThrow();
      return row.status === 'tracking';
    });
  return { key, track, read, refresh, settle, refreshed };
}

describe('a post’s address', () => {
  it.each([
    ['https://www.instagram.com/p/CxYz_12-a/?igsh=1', 'photo_app', 'post', 'instagram.com:CxYz_12-a'],
    ['http://m.instagram.com/some.one/reel/CxYz_12-a', 'photo_app', 'reel', 'instagram.com:CxYz_12-a'],
    ['instagr.am/p/CxYz_12-a', 'photo_app', 'post', 'instagram.com:CxYz_12-a'],
    [
      'https://www.tiktok.com/@some.one/video/7301234567890123456?is_from=1',
      'video_app',
      'video',
      'tiktok.com:7301234567890123456',
    ],
    ['https://youtu.be/dQw4w9WgXcQ?t=3', 'stream_app', 'video', 'youtube.com:dQw4w9WgXcQ'],
    ['https://www.youtube.com/watch?list=1&v=dQw4w9WgXcQ', 'stream_app', 'video', 'youtube.com:dQw4w9WgXcQ'],
    ['https://www.youtube.com/shorts/dQw4w9WgXcQ/', 'stream_app', 'reel', 'youtube.com:dQw4w9WgXcQ'],
    ['https://photo.app/p/abc', 'photo_app', 'post', 'photo.app:abc'],
  ])('such as %s is read as %s, %s', (address, platform, type, key) => {
    expect(readPostAddress(address)).toMatchObject({ platform, type, key });
  });

  it.each([
    ['https://example.com/p/abc', 'unsupported_platform'],
    ['https://instagram.com.evil.example/p/abc', 'unsupported_platform'],
    ['https://www.instagram.com/some.one', 'not_a_post'],
    ['https://www.youtube.com/watch', 'not_a_post'],
    [`https://u:${'p'}@www.instagram.com/p/abc`, 'not_an_address'],
    ['javascript://instagram.com/p/abc', 'not_an_address'],
    ['not an address', 'not_an_address'],
  ])('such as %s is %s', (address, problem) => {
    expect(readPostAddress(address)).toBe(problem);
  });
});

describe('POST /v1/content', () => {
  it('starts with metrics of zero, which are unknown until the first reading, and tracks a post once however its address is written', async () => {
    const { key, track, read } = await desk();
    const id = unique('C').slice(0, 20);
    const post = await track({ url: `https://www.instagram.com/reel/${id}/?igsh=abc` });
    expect(post).toMatchObject({
      ...{ url: `https://instagram.com/reel/${id}`, platform: 'photo_app', type: 'reel', status: 'tracking' },
      metrics: { views: 0, likes: 0, comments: 0, shares: 0, saves: 0, engagement_rate: 0 },
    });
    const older = await send(`${app.url}/api/v1/content`, key, 'POST', {
      url: `https://instagram.com/p/${unique('D').slice(0, 20)}`,
    });
    expect(older.body.data.metrics).toEqual(post.metrics);
    const unread = { views: null, likes: null, comments: null, shares: null, saves: null, engagement_rate: null };
    expect((await read(post.id)).metrics).toEqual(unread);
    const again = await send(`${app.url}/v1/content`, key, 'POST', { url: `http://instagr.am/reel/${id}` });
    expect([again.status, again.body.code, again.body.existing_id]).toEqual([409, 'CONFLICT', post.id]);
    const gone = await send(`${app.url}/v1/content/${post.id}`, key, 'DELETE');
    expect([gone.status, gone.body]).toEqual([200, { deleted: true, id: post.id }]);
    expect((await track({ url: `http://instagr.am/reel/${id}` })).id).not.toBe(post.id);
    expect((await send(`${app.url}/v1/content/${post.id}`, key, 'DELETE')).status).toBe(404);
  });

  it('names the supported platforms and every other problem', async () => {
    const { key } = await desk();
    const body = { url: 'https://example.com/x', creator_email: 'nobody@example.com', campaign_id: 'cmp_no' };
    const { status, body: answer } = await send(`${app.url}/v1/content`, key, 'POST', body);
    expect([status, answer.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(answer.details.map(({ code }: { code: string }) => code)).toEqual([
      ...['unsupported_platform', 'not_on_roster', 'not_found'],
    ]);
    expect(answer.supported).toContain('instagram.com');
  });

  it('lets one of 20 concurrent calls win', async () => {
    const { key } = await desk();
    const url = reel();
    const all = await Promise.all(
      Array.from({ length: 20 }, () => send(`${app.url}/v1/content`, key, 'POST', { url })),
    );
    expect(all.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
  });
});

describe('a short link of TikTok', () => {
  const leadTo = (location: string | undefined) => {
    provider.answer = (request, response) => {
      if (location === undefined) response.writeHead(404).end();
      else response.writeHead(301, { location: request.url === '/v2/ZSfirst' ? '/ZSsecond/' : location }).end();
    };
  };

  it('is tracked as the post that it leads to', async () => {
    const { key, track } = await desk();
    const number = String(Date.now());
    leadTo(`https://www.tiktok.com/@some.one/video/${number}?_t=8abc&_r=1`);
    const post = await track({ url: 'https://vm.tiktok.com/ZSfirst/' });
    expect(post).toMatchObject({ url: `https://tiktok.com/@some.one/video/${number}`, platform: 'video_app' });
    const again = await send(`${app.url}/v1/content`, key, 'POST', { url: 'https://www.tiktok.com/t/ZSother/' });
    expect([again.status, again.body.existing_id]).toEqual([409, post.id]);
  });

  it.each([
    [undefined, 'unresolved_link'],
    ['https://vm.tiktok.com/ZSfirst/', 'unresolved_link'],
    ['https://www.tiktok.com/@some.one', 'not_a_post'],
    ['http://127.0.0.1/@some.one/video/1', 'unsupported_platform'],
  ])('that leads to %s is refused as %s', async (location, problem) => {
    const { key } = await desk();
    leadTo(location);
    const { status, body } = await send(`${app.url}/v1/content`, key, 'POST', { url: 'vt.tiktok.com/ZSfirst' });
    expect([status, body.details]).toMatchObject([422, [{ field: 'url', code: problem }]]);
  });
});

describe('a refresh', () => {
  it('reads the metrics, stores them for the day, emits the previous metrics, and cools down for an hour', async () => {
    const { key, track, read, refresh, settle, refreshed } = await desk();
    const creator = email();
    await made(`${app.url}/v1/roster`, key, { creator_email: creator });
    const { id } = await track({ url: reel(), creator_email: creator });
    const requested: (string | undefined)[] = [];
    provider.answer = (request, response) => {
      requested.push(request.url, request.headers.authorization);
      answering({ views: 1_000, likes: 50, comments: 3, shares: 2, saves: null, caption: 'Hi' })(request, response);
    };
    const first = await refresh(id);
    expect([first.status, first.body.data.status]).toEqual([200, 'refreshing']);
    await settle(id);
    expect(requested[0]).toMatch(/^\/v2\/posts\?platform=photo_app&url=https%3A%2F%2Finstagram\.com%2Freel/);
    expect(requested[1]).toBe('Bearer token');
    const post = await read(id);
    expect(post).toMatchObject({
      metrics: { views: 1_000, likes: 50, comments: 3, shares: 2, saves: null, engagement_rate: 5.5 },
      metrics_history: [{ date: '2026-03-01', views: 1_000, likes: 50, comments: 3, shares: 2, saves: null }],
      ...{ caption: 'Hi', last_refreshed: new Date(nowMs).toISOString(), creator_email: creator },
    });
    const reported = await refreshed(id);
    expect(reported).toHaveLength(1);
    expect(reported[0]?.data).toMatchObject({ previous_metrics: { views: null }, metrics: { views: 1_000 } });
    const again = await refresh(id);
    expect([again.status, again.body.data.status]).toEqual([200, 'tracking']);
    expect(again.body.data.next_refresh_available).toBe(new Date(nowMs + HOUR_MS).toISOString());
    expect(await refreshed(id)).toHaveLength(1);
  });

  it('can be requested right after a scheduled reading: the hour counts from the last request', async () => {
    const { track, read, refresh, settle } = await desk();
    const { id } = await track({ url: reel() });
    await settle(id);
    await refreshes.sweep();
    await settle(id);
    expect(await read(id)).toMatchObject({ refresh_error: 'gone', next_refresh_available: null });
    expect((await refresh(id)).body.data.status).toBe('refreshing');
    await settle(id);
    expect((await refresh(id)).body.data.status).toBe('tracking');
  });

  it('that fails records the reason and changes no metrics', async () => {
    const { track, read, refresh, settle } = await desk();
    const { id } = await track({ url: reel() });
    await refresh(id);
    await settle(id);
    expect(await read(id)).toMatchObject({ refresh_error: 'gone', metrics: { views: null }, last_refreshed: null });
    nowMs += 2 * HOUR_MS;
    provider.answer = (_request, response) => void response.writeHead(500).end();
    await refresh(id);
    await settle(id);
    expect(await read(id)).toMatchObject({ refresh_error: 'unavailable', metrics: { views: null } });
    nowMs += 2 * HOUR_MS;
    provider.answer = answering({ views: -5 });
    await refresh(id);
    await settle(id);
    expect(await read(id)).toMatchObject({ refresh_error: 'unavailable', metrics: { views: null } });
  });

  it('is scheduled once a day, so a month’s history has a row per day', async () => {
    const { key, track, read, settle } = await desk();
    const { id } = await track({ url: reel() });
    for (let day = 1; day <= 30; day += 1) {
      provider.answer = answering({ views: day * 100, likes: day, comments: 0, shares: 0, saves: 0 });
      await refreshes.sweep();
      await settle(id);
      nowMs += 24 * HOUR_MS;
    }
    const { metrics_history: history, metrics } = await read(id);
    expect(history).toHaveLength(30);
    expect(history.map(({ views }: { views: number }) => views)).toEqual(
      history.map((_: unknown, i: number) => (i + 1) * 100),
    );
    expect(metrics.views).toBe(3_000);
    await made(`${app.url}/v1/content`, key, { url: reel() });
    const list = (await call(`${app.url}/v1/content?limit=1`, key)).body;
    expect(list.summary).toEqual({
      ...{ content_count: 2, total_views: 3_000, total_likes: 30, total_comments: 0, total_shares: 0, total_saves: 0 },
    });
    expect(list.data).toHaveLength(1);
  });

  it('returns to tracking two minutes after its worker died', async () => {
    const { track, read, refresh } = await desk();
    const { id } = await track({ url: reel() });
    await refresh(id);
    nowMs += 121_000;
    const { endInterrupted } = await import('../../src/workflow/content/content.ts');
    await endInterrupted(app.context.postgres.db, new Date(nowMs - 120_000), new Date(nowMs));
    expect(await read(id)).toMatchObject({ status: 'tracking', refresh_error: 'interrupted' });
  });
});

describe('YouTube', () => {
  it('is read by its own API with a key: every due video in one call, hidden and unread figures unknown, gone ones said', async () => {
    const youtube = await startApp({
      urls: { postgres: database.url },
      clock: { now: () => new Date(nowMs) },
      env: { YOUTUBE_API_URL: provider.url, YOUTUBE_API_KEY: 'yt-key' },
    });
    const reading = startContentRefreshes(youtube.context, engineUrls().redis, { prefix: unique('youtube') });
    try {
      const { track, read } = await desk();
      const names = [unique('a'), unique('b'), unique('c')].map((name) => name.slice(0, 11));
      const [first, second, gone] = await Promise.all(
        names.map((name) => track({ url: `https://youtu.be/${name}?si=x` })),
      );
      const calls: string[] = [];
      provider.answer = (request, response) => {
        const url = new URL(request.url ?? '', provider.url);
        calls.push(`${url.pathname} ${request.headers['x-goog-api-key']}`);
        const ids = (url.searchParams.get('id') ?? '').split(',').filter((id) => id !== names[2]);
        const items = ids.map((id) => ({
          ...{ kind: 'youtube#video', id, snippet: { title: 'Summer', publishedAt: '2026-02-20T08:00:00Z' } },
          statistics: { viewCount: '1200', favoriteCount: '0', ...(id === names[0] ? { likeCount: '60' } : {}) },
          paidProductPlacementDetails: { hasPaidProductPlacement: true },
        }));
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ items }));
      };
      await until('the readings', async () => {
        await reading.sweep();
        const readings = await Promise.all([first, second].map(({ id }) => read(id)));
        return (await read(gone.id))?.refresh_error === 'gone' && readings.every((one) => one && one.caption !== null);
      });
      const [one, other] = [await read(first.id), await read(second.id)];
      expect(one).toMatchObject({
        ...{ caption: 'Summer', posted_at: '2026-02-20T08:00:00.000Z', paid_partnership: true, refresh_error: null },
        metrics: { views: 1_200, likes: 60, comments: null, shares: null, saves: null, engagement_rate: 5 },
      });
      expect(other.metrics).toMatchObject({ views: 1_200, likes: null, engagement_rate: null });
      expect(calls).toEqual(['/v2/videos yt-key']);
    } finally {
      await reading.close();
      await youtube.close();
    }
  });
});
