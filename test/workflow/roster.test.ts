import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLANS } from '../../src/kit/access/keys/limits.ts';
import { call, made as madeAt, makeBrand, send as sendTo, startApp, type TestApp, unique } from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';
import { email, handle, TIME } from '../harness/platform/people.ts';

let app: TestApp;
let key: string;

beforeAll(async () => {
  app = await startApp({ alias: unique('roster') });
  key = await (await makeBrand(app.context)).key('brand');
});
afterAll(() => app?.close());

const send = (method: string, path: string, body?: unknown, by = key) => sendTo(`${app.url}${path}`, by, method, body);
const get = (path: string, by = key) => call(`${app.url}${path}`, by);
const made = (path: string, input: object, by = key) => madeAt(`${app.url}${path}`, by, input);

describe('when added by email address,', () => {
  it('a creator is put on the roster and read back', async () => {
    const creator_email = email();
    const data = await made('/v1/roster', { creator_email, note: 'met in Berlin' });
    expect(data).toEqual({
      id: expect.stringMatching(/^rst_/),
      creator_email,
      status: 'active',
      added_at: expect.stringMatching(TIME),
    });
    expect((await get(`/v1/roster/${data.id}`)).body.data).toEqual({
      ...data,
      creator_id: expect.stringMatching(/^crt_/),
      creator_name: null,
      campaigns_completed: 0,
      total_earned: 0,
      total_sold: 0,
      by_currency: [],
      ig_handle: null,
      tt_handle: null,
      pfp_url: null,
      ig_followers: null,
      tt_followers: null,
      engagement_rate: null,
      tags: [],
      note: 'met in Berlin',
      group_id: null,
      updated_at: null,
    });
  });

  it('a creator who is already on the roster, in any case, is 409 with the existing entry', async () => {
    const creator_email = email();
    const { id } = await made('/v1/roster', { creator_email });
    const { status, body } = await send('POST', '/v1/roster', { creator_email: creator_email.toUpperCase() });
    expect([status, body.code, body.existing_id]).toEqual([409, 'ALREADY_ON_ROSTER', id]);
  });

  it('a removed creator returns as the same entry with all known fields', async () => {
    const creator_email = email();
    const { id } = await made('/v1/roster', { creator_email, note: 'kept', name: 'Kay Keller' });
    await send('PATCH', `/v1/roster/${id}`, { tags: ['vip'] });
    const removed = await send('DELETE', `/v1/roster/${id}`);
    expect([removed.status, removed.body]).toEqual([200, { data: { id, status: 'removed' } }]);
    expect((await send('DELETE', `/v1/roster/${id}`)).body).toEqual({ data: { id, status: 'removed' } });
    expect(await made('/v1/roster', { creator_email })).toMatchObject({ id, status: 'active' });
    expect((await get(`/v1/roster/${id}`)).body.data).toMatchObject({
      status: 'active',
      note: 'kept',
      tags: ['vip'],
      creator_name: 'Kay Keller',
    });
  });

  it.each([
    ['/v1/roster', {}, 'creator_email'],
    ['/v1/roster', { creator_email: 'ana' }, 'creator_email'],
    ['/v1/roster', { creator_email: 'ana@example.com', note: 5 }, 'note'],
    ['/v1/roster/add', {}, 'ig_handle'],
    ['/v1/roster/add', { ig_handle: null, name: 'Ana' }, 'ig_handle'],
    ['/v1/roster/add', { ig_handle: 'a b' }, 'ig_handle'],
    ['/v1/roster/add', { tt_handle: '@..' }, 'tt_handle'],
    ['/v1/roster/add', { tt_handle: 'a/../b' }, 'tt_handle'],
    ['/v1/roster/add', { tt_handle: 'ana', tags: 'vip' }, 'tags'],
  ])('an invalid body of POST %s %j is 422 naming %s', async (path, input, field) => {
    const { status, body } = await send('POST', path, input);
    expect([status, body.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(body.details.map((detail: { field: string }) => detail.field)).toContain(field);
  });
});

describe('when added by handle,', () => {
  it('an unknown handle is kept as given, without the @', async () => {
    const name = handle();
    const data = await made('/v1/roster/add', {
      ig_handle: `@${name}`,
      tt_handle: `${name}.tt`,
      name: 'Ana',
      tags: ['vip'],
    });
    expect(data).toEqual({
      id: expect.stringMatching(/^rst_/),
      name: 'Ana',
      ig_handle: name,
      tt_handle: `${name}.tt`,
      pfp_url: null,
      ig_followers: null,
      tt_followers: null,
      tags: ['vip'],
      status: 'hired',
    });
  });

  it('a creator gets public facts from the directory; a given name stays', async () => {
    const [known, other] = [handle(), handle()];
    await putDirectory(app.context.elastic, app.context.config.directoryAlias, [
      creator(1, {
        username: known,
        full_name: 'Public Name',
        follower_count: 4_200,
        profile_pic_url: 'https://pics.example/1.jpg',
        engagement_rate: 3.5,
      }),
      creator(2, { username: other, full_name: 'Other Name', follower_count: 7 }),
    ]);
    const data = await made('/v1/roster/add', { ig_handle: known.toUpperCase() });
    expect(data).toMatchObject({
      name: 'Public Name',
      ig_handle: known.toUpperCase(),
      pfp_url: 'https://pics.example/1.jpg',
      ig_followers: 4_200,
      tt_followers: null,
    });
    expect((await get(`/v1/roster/${data.id}`)).body.data).toMatchObject({ engagement_rate: 3.5 });
    expect(await made('/v1/roster/add', { ig_handle: other, name: 'Given' })).toMatchObject({
      name: 'Given',
      ig_followers: 7,
    });
    expect(await made('/v1/roster/add', { tt_handle: known })).toMatchObject({ name: null, tt_followers: null });
  });

  it('the same handle, with or without @ and in any case, is one creator per platform', async () => {
    const name = handle();
    const { id } = await made('/v1/roster/add', { ig_handle: name });
    const again = await send('POST', '/v1/roster/add', { ig_handle: `@${name.toUpperCase()}`, tt_handle: handle() });
    expect([again.status, again.body.code, again.body.existing_id]).toEqual([409, 'ALREADY_ON_ROSTER', id]);
    expect((await get(`/v1/roster/${id}`)).body.data.tt_handle).toBeNull();
    expect((await made('/v1/roster/add', { tt_handle: name })).id).not.toBe(id);
  });

  it('a removed creator returns and gets the missing handle', async () => {
    const [ig_handle, tt_handle] = [handle(), handle()];
    const { id } = await made('/v1/roster/add', { ig_handle, name: 'Ana', tags: ['old'] });
    await send('PATCH', `/v1/roster/${id}`, { status: 'removed' });
    expect(await made('/v1/roster/add', { ig_handle, tt_handle, tags: ['new'] })).toMatchObject({
      id,
      name: 'Ana',
      ig_handle,
      tt_handle,
      tags: ['new'],
      status: 'hired',
    });
  });

  it('a conflict between two creators of the brand names one of them', async () => {
    const [ig_handle, tt_handle] = [handle(), handle()];
    const first = await made('/v1/roster/add', { ig_handle });
    await made('/v1/roster/add', { tt_handle });
    const both = await send('POST', '/v1/roster/add', { ig_handle, tt_handle });
    expect([both.status, both.body.code, both.body.existing_id]).toEqual([409, 'CONFLICT', first.id]);
  });

  it('a known handle with a new one on a platform where the creator has another is a conflict', async () => {
    const ig_handle = handle();
    const { id } = await made('/v1/roster/add', { ig_handle, tt_handle: handle() });
    const { status, body } = await send('POST', '/v1/roster/add', { ig_handle, tt_handle: handle() });
    expect([status, body.code, body.existing_id]).toEqual([409, 'CONFLICT', id]);
  });

  it('a creator keeps the email address beside the handle, and joins the creator with that address', async () => {
    const [ig_handle, creator_email] = [handle(), email()];
    const first = await made('/v1/roster/add', { ig_handle, creator_email, name: 'Ana' });
    expect((await get(`/v1/roster/${first.id}`)).body.data).toMatchObject({ ig_handle, creator_email });
    const known = email();
    const { id } = await made('/v1/roster', { creator_email: known });
    await send('DELETE', `/v1/roster/${id}`);
    const back = await made('/v1/roster/add', { tt_handle: handle(), creator_email: known.toUpperCase(), name: 'Bo' });
    expect(back.id).toBe(id);
    expect((await get(`/v1/roster/${id}`)).body.data).toMatchObject({
      ...{ creator_email: known, creator_name: 'Bo', tt_handle: back.tt_handle },
    });
    const other = await send('POST', '/v1/roster/add', { ig_handle, creator_email: known });
    expect([other.status, other.body.code, other.body.existing_id]).toEqual([409, 'CONFLICT', first.id]);
    const changed = await send('POST', '/v1/roster/add', { ig_handle, creator_email: email() });
    expect([changed.status, changed.body.code, changed.body.existing_id]).toEqual([409, 'CONFLICT', first.id]);
    const mine = await (await makeBrand(app.context)).key('brand');
    const shared = email();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        send('POST', '/v1/roster/add', { ig_handle: handle(), creator_email: shared }, mine),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
  });

  it('a handle added by 20 concurrent calls is one creator', async () => {
    const owner = await makeBrand(app.context);
    const mine = await owner.key('brand');
    const name = handle();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        send('POST', '/v1/roster/add', { ig_handle: i % 2 ? name : `@${name.toUpperCase()}` }, mine),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)]);
    expect((await get('/v1/roster', mine)).body.pagination.total).toBe(1);
    expect((await get('/v1/creators', mine)).body.pagination.total).toBe(1);
  });
});

describe("the plan's limit", () => {
  const { rosterLimit } = PLANS.free;

  it('stops 20 concurrent adds exactly, of both kinds and of removed creators', async () => {
    const mine = await (await makeBrand(app.context, { plan: 'free' })).key('brand');
    const entries: { id: string }[] = await Promise.all(
      Array.from({ length: rosterLimit }, () => made('/v1/roster', { creator_email: email() }, mine)),
    );
    const removed = entries.slice(0, 7);
    await Promise.all(removed.map(({ id }) => send('DELETE', `/v1/roster/${id}`, undefined, mine)));
    const adds = [
      ...removed.map(({ id }) => send('PATCH', `/v1/roster/${id}`, { status: 'active' }, mine)),
      ...removed.slice(0, 6).map(() => send('POST', '/v1/roster', { creator_email: email() }, mine)),
      ...removed.map(() => send('POST', '/v1/roster/add', { tt_handle: handle() }, mine)),
    ];
    const answers = await Promise.all(adds);
    expect(answers).toHaveLength(20);
    expect(answers.filter(({ status }) => status < 300)).toHaveLength(7);
    for (const { status, body } of answers.filter(({ status }) => status >= 300)) {
      expect([status, body.code, body.limit, body.current]).toEqual([
        403,
        'CREATOR_LIMIT_REACHED',
        rosterLimit,
        rosterLimit,
      ]);
    }
    const [active, all, creators] = await Promise.all([
      get('/v1/roster?status=active', mine),
      get('/v1/roster', mine),
      get('/v1/creators', mine),
    ]);
    expect(active.body.pagination.total).toBe(rosterLimit);
    expect(creators.body.pagination.total).toBe(all.body.pagination.total);
  });

  it('does not apply to a creator who is already on the roster, and each removal frees a place', async () => {
    const mine = await (await makeBrand(app.context, { plan: 'free' })).key('brand');
    const emails = Array.from({ length: rosterLimit }, email);
    await Promise.all(emails.map((creator_email) => made('/v1/roster', { creator_email }, mine)));
    const again = await send('POST', '/v1/roster', { creator_email: emails[0] }, mine);
    expect(again.body.code).toBe('ALREADY_ON_ROSTER');
    await send('PATCH', `/v1/roster/${again.body.existing_id}`, { status: 'paused' }, mine);
    expect((await send('POST', '/v1/roster', { creator_email: email() }, mine)).status).toBe(403);
    await send('PATCH', `/v1/roster/${again.body.existing_id}`, { status: 'removed' }, mine);
    expect((await send('POST', '/v1/roster', { creator_email: email() }, mine)).status).toBe(201);
  });
});

describe('a search of the roster', () => {
  const NAMES = ['Siobhán O’Connor', 'Renée  Müller', '𝓐𝓷𝓪 Vega', 'Nguyễn Thị', '김민지'];

  it.each([
    ['siobhan oconnor', 0],
    ["O'CONNOR", 0],
    ['renee muller', 1],
    ['Müller', 1],
    ['ana vega', 2],
    ['nguyen thi', 3],
    ['김민지'.normalize('NFD'), 4],
    ["'", undefined],
    ['100%', undefined],
  ])('for %s finds the name as people write it', async (search, place) => {
    const mine = await (await makeBrand(app.context)).key('brand');
    for (const name of NAMES) await made('/v1/roster/add', { ig_handle: handle(), name }, mine);
    const { body } = await get(`/v1/roster?search=${encodeURIComponent(search)}`, mine);
    expect(body.data.map((one: { creator_name: string }) => one.creator_name)).toEqual(
      place === undefined ? [] : [NAMES[place]],
    );
  });
});

describe('an email address at a domain in another script', () => {
  it('is the same person as in ASCII, and shown as people write it', async () => {
    const mailbox = unique('ana');
    const address = `${mailbox}@bücher.example`;
    const made = await send('POST', '/v1/roster', { creator_email: `${mailbox}@BÜCHER.example` });
    expect([made.status, made.body.data.creator_email]).toEqual([201, address]);
    const again = await send('POST', '/v1/roster', { creator_email: `${mailbox}@xn--bcher-kva.example` });
    expect(again.status).toBe(409);
    const links = await get(`/v1/affiliates/links?creator_email=${encodeURIComponent(address)}`);
    expect(links.status).toBe(200);
    for (const search of [address, '@BÜCHER.example', mailbox]) {
      const { body } = await get(`/v1/roster?search=${encodeURIComponent(search)}`);
      expect(body.data.map((one: { creator_email: string }) => one.creator_email)).toContain(address);
    }
  });

  it('may end with a label in that script', async () => {
    const address = `${unique('dima')}@пример.рф`;
    const { status, body } = await send('POST', '/v1/roster', { creator_email: address });
    expect([status, body.data?.creator_email]).toEqual([201, address]);
  });

  it.each([
    ...['/v1/orders', '/v1/commissions', '/v1/affiliates/commissions', '/v1/payouts', '/v1/affiliates/ledger/journal'],
    ...[
      '/v1/payouts/preview',
      '/v1/statements',
      '/v1/affiliates/ledger',
      '/v1/deliverables',
      '/v1/contracts',
      '/v1/shipments',
      '/v1/messages',
      '/v1/briefs',
    ],
  ])('is a filter of %s', async (path) => {
    const { status, body } = await get(`${path}?creator_email=${encodeURIComponent('ana@bücher.example')}`);
    expect([status, body.details]).toEqual([200, undefined]);
  });

  it('takes a message and is the address of a brand', async () => {
    const address = `${unique('ana')}@bücher.example`;
    await send('POST', '/v1/roster', { creator_email: address });
    expect((await send('POST', '/v1/messages', { creator_email: address, body: 'Hello' })).status).toBe(201);
    expect((await send('PATCH', '/v1/brand', { contact_email: 'team@bücher.example' })).status).toBe(200);
  });

  it('is 422 with another script before the @, and says so', async () => {
    const { status, body } = await send('POST', '/v1/roster', { creator_email: 'müller@shop.example' });
    expect([status, body.details[0].field, body.details[0].message]).toEqual([
      422,
      'creator_email',
      expect.stringContaining('before the @'),
    ]);
  });
});
