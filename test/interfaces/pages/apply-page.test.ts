import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, makeBrand, send, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { apply, BEHIND_PROXY, listEvents, makeCampaign, someAddress } from '../../harness/workflow/applying.ts';

let app: TestApp;
let brand: TestBrand;
let key: string;

beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY });
  brand = await makeBrand(app.context);
  key = await brand.key('brand');
});
afterAll(() => app?.close());

const applications = async (campaign: string) =>
  (await call(`${app.url}/v1/campaigns/${campaign}/applications`, key)).body.data;
const open = async (path: string) => {
  const response = await fetch(`${app.url}${path}`);
  return { status: response.status, headers: response.headers, page: await response.text() };
};
const HOSTILE = `"><script>alert(1)</script>'&amp;`;
const ESCAPED = '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;amp;';

describe('the apply page', () => {
  it('shows the campaign and its form under a policy that runs and loads nothing', async () => {
    const campaign = await makeCampaign(app, key, {
      description: 'Be part of it.',
      compensation: { type: 'fixed', amount: 500, currency: 'USD' },
    });
    const { status, headers, page } = await open(`/apply/${campaign}`);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    for (const text of ['<html lang="en">', 'Launch', 'Be part of it.', '$500 fixed', 'autocomplete="email"']) {
      expect(page).toContain(text);
    }
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/]{43}='/);
    expect(page).not.toMatch(/<script|<link[^>]+https?:|<img/);
  });

  it('is not part of the API: it carries no rate headers, also when it refuses', async () => {
    const campaign = await makeCampaign(app, key);
    const answers = [
      await open(`/apply/${campaign}`),
      await open('/apply/cmp_missing'),
      await apply(app, campaign, {}),
      await apply(app, campaign, { email: 'ann@mail.example' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 422, 303]);
    for (const { headers } of answers) expect(headers.has('x-ratelimit-limit')).toBe(false);
  });

  it('stores a submitted form, emits it as an event and confirms it', async () => {
    const owner = await makeBrand(app.context);
    const campaign = await makeCampaign(app, await owner.key('brand'));
    const { status, headers } = await apply(app, campaign, {
      email: ' ann@mail.example ',
      name: 'Ann\u0000 Lee',
      video_app: '@ann_lee',
      message: 'One\r\nTwo',
    });
    expect([status, headers.get('location')]).toEqual([303, `/apply/${campaign}/thanks`]);
    const events = await listEvents(app, owner.id);
    expect(events).toEqual([
      {
        event: 'application.received',
        data: {
          id: expect.stringMatching(/^app_/),
          campaign_id: campaign,
          creator_email: 'ann@mail.example',
          creator_name: 'Ann Lee',
          creator_photo_app: null,
          creator_video_app: 'ann_lee',
          status: 'pending',
          message: 'One\nTwo',
          portfolio_urls: [],
          applied_at: expect.stringMatching(/Z$/),
        },
      },
    ]);
    expect((await open(headers.get('location') ?? '')).page).toContain('Your application has been received.');
  });

  it('completes links to work that were typed without https://', async () => {
    const campaign = await makeCampaign(app, key);
    const portfolio_urls = 'photo.example/ann\nwww.ann.example:8443?a=1 https://b.example/';
    expect((await apply(app, campaign, { email: 'ann@mail.example', portfolio_urls })).status).toBe(303);
    expect(await applications(campaign)).toMatchObject([
      { portfolio_urls: ['https://photo.example/ann', 'https://www.ann.example:8443?a=1', 'https://b.example/'] },
    ]);
  });

  it.each([
    [{ email: '' }, 'Email: Enter your email address.'],
    [{ email: 'ann' }, 'Email: Enter a complete email address'],
    [{ email: `${'a'.repeat(250)}@mail.example` }, 'Email: '],
    [{ name: 'x'.repeat(201) }, 'Name: Your name may have up to 200 characters.'],
    [{ photo_app: 'https://photo.example/ann' }, 'Instagram handle: Enter only the handle'],
    [{ photo_app: '../..' }, 'Instagram handle: Enter only the handle'],
    [{ video_app: 'two words' }, 'TikTok handle: Enter only the handle'],
    [{ message: 'x'.repeat(5_001) }, 'Message: Shorten your message to 5,000 characters; it has 5,001.'],
    [{ portfolio_urls: 'https://a.example http://b.example' }, 'Links to your work: Link 2 must be a complete URL'],
    [
      { portfolio_urls: 'https://:pw@a.example' },
      'Links to your work: Link 1 must not contain a user name or password',
    ],
    [
      { portfolio_urls: 'https://a.example https://b.example@c.example' },
      'Links to your work: Link 2 must not contain a user name',
    ],
    [{ portfolio_urls: 'javascript:alert(1)' }, 'Links to your work: Link 1 must be a complete URL'],
    [{ portfolio_urls: `https://a.example/${'x'.repeat(2_000)}` }, 'Links to your work: Link 1 is longer'],
    [{ portfolio_urls: 'https://a.example '.repeat(6) }, 'Links to your work: Give at most 5 links; there are 6.'],
  ])('answers 422 to %o, names the field, keeps what was typed and stores nothing', async (wrong, said) => {
    const campaign = await makeCampaign(app, key);
    const sent = { email: 'ann@mail.example', name: 'Ann', message: 'Hello', ...wrong };
    const { status, page } = await apply(app, campaign, sent);
    expect(status).toBe(422);
    expect(page).toContain(said);
    expect(page).toContain('<title>Error: ');
    expect(page.match(/aria-invalid="true"/g)).toHaveLength(1);
    for (const text of Object.values(sent)) expect(page).toContain(text);
    expect(await applications(campaign)).toEqual([]);
  });

  it('reports every error at once', async () => {
    const { page } = await apply(app, await makeCampaign(app, key), { photo_app: '!', portfolio_urls: 'x' });
    expect(page.match(/<li><a href="#(\w+)">/g)).toEqual([
      '<li><a href="#email">',
      '<li><a href="#photo_app">',
      '<li><a href="#portfolio_urls">',
    ]);
  });

  it('shows text of the brand and of a creator as text, never as HTML', async () => {
    const campaign = await makeCampaign(app, key, { name: HOSTILE, description: HOSTILE });
    const typed = { email: HOSTILE, name: HOSTILE, photo_app: HOSTILE, message: `</textarea>${HOSTILE}` };
    const { page } = await apply(app, campaign, typed);
    expect(page).not.toContain('<script');
    expect(page).not.toContain('</textarea>"');
    expect(page.split(ESCAPED).length - 1).toBeGreaterThanOrEqual(6);
    const thanks = await open(`/apply/${campaign}/thanks?outcome=${encodeURIComponent(HOSTILE)}`);
    expect(thanks.page).not.toContain('<script');
  });

  it('gives a second applicant with the same address, in any case, no effect and no information', async () => {
    const campaign = await makeCampaign(app, key);
    const first = await apply(app, campaign, { email: 'ann@mail.example', name: 'Ann', message: 'first' });
    const before = await applications(campaign);
    const second = await apply(app, campaign, { email: 'ANN@mail.example', name: 'Eve', message: 'second' });
    expect(await applications(campaign)).toEqual(before);
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect((await open(second.headers.get('location') ?? '')).page).toContain('has been received');
  });

  it('reports only that an application was received once the brand has decided, and changes nothing', async () => {
    const pages: string[] = [];
    for (const status of ['accepted', 'rejected', 'shortlisted']) {
      const campaign = await makeCampaign(app, key);
      await apply(app, campaign, { email: 'ann@mail.example', message: 'first' });
      const [{ id }] = await applications(campaign);
      await send(`${app.url}/v1/applications/${id}`, key, 'PATCH', { status, note: 'secret' });
      const { headers } = await apply(app, campaign, { email: 'ann@mail.example', message: 'second' });
      expect((await applications(campaign))[0]).toMatchObject({ status, message: 'first' });
      pages.push((await open(headers.get('location') ?? '')).page);
    }
    expect(new Set(pages).size).toBe(1);
    expect(pages[0]).toContain('has been received');
  });

  it('makes one application and one event of 20 concurrent forms from one address', async () => {
    const owner = await makeBrand(app.context);
    const caller = await owner.key('brand');
    const campaign = await makeCampaign(app, caller);
    const emails = ['ann@mail.example', 'bea@mail.example', 'cid@mail.example'];
    for (const email of emails) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => apply(app, campaign, { email })));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]));
    }
    expect(await listEvents(app, owner.id)).toHaveLength(emails.length);
    const { body } = await call(`${app.url}/v1/campaigns/${campaign}/applications`, caller);
    expect(body.pagination.total).toBe(emails.length);
  });

  it.each(['paused', 'completed'])('announces that a %s campaign is closed, and accepts nothing', async (status) => {
    const campaign = await makeCampaign(app, key, { status });
    const read = await open(`/apply/${campaign}`);
    expect([read.status, read.page.includes('is not accepting applications')]).toEqual([200, true]);
    expect(read.page).not.toContain('<form');
    expect((await apply(app, campaign, { email: 'ann@mail.example' })).status).toBe(409);
    expect(await applications(campaign)).toEqual([]);
  });

  it('is 404 for a draft, like the page of a campaign that does not exist', async () => {
    const draft = await makeCampaign(app, key, { status: 'draft' });
    const missing = await open('/apply/cmp_missing');
    for (const path of [draft, `${draft}/thanks`, 'cmp_%00', 'a%20b', '%3Cscript%3E']) {
      const answer = await open(`/apply/${path}`);
      expect([answer.status, answer.page]).toEqual([404, missing.page]);
    }
    expect((await apply(app, draft, { email: 'ann@mail.example' })).status).toBe(404);
    expect(await applications(draft)).toEqual([]);
  });

  it('accepts ten forms a minute from one address, without affecting another', async () => {
    const campaign = await makeCampaign(app, key);
    const address = someAddress();
    for (let i = 0; i < 10; i += 1) expect((await apply(app, campaign, {}, address)).status).toBe(422);
    const refused = await apply(app, campaign, { email: 'ann@mail.example' }, address);
    expect([refused.status, refused.headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.page).toContain('too many applications');
    expect((await apply(app, campaign, {})).status).toBe(422);
    expect(await applications(campaign)).toEqual([]);
  });

  it('applies its limit while Redis does not answer', async () => {
    const campaign = await makeCampaign(app, key);
    const alone = await startApp({ env: BEHIND_PROXY, urls: { redis: 'redis://127.0.0.1:1' } });
    const address = someAddress();
    const statuses: number[] = [];
    for (let i = 0; i < 11; i += 1) statuses.push((await apply(alone, campaign, {}, address)).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 422), 429]);
    await alone.close();
  });

  it('asks visitors to come back while Postgres is down', async () => {
    const alone = await startApp({ env: BEHIND_PROXY, urls: { postgres: 'postgres://127.0.0.1:1/x' } });
    const { status, headers, page } = await apply(alone, 'cmp_any', { email: 'ann@mail.example' });
    expect([status, headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
    expect(headers.has('retry-after')).toBe(true);
    expect(page).toContain('try again in a minute');
    await alone.close();
  });

  it('thanks a program that fills in the hidden field, and discards its form', async () => {
    const campaign = await makeCampaign(app, key);
    const { status } = await apply(app, campaign, { email: 'ann@mail.example', leave_empty: 'https://spam.example' });
    expect(status).toBe(303);
    expect(await applications(campaign)).toEqual([]);
  });

  it('answers 415 to a body of another type and 413 to one over 64 kB, both as a page', async () => {
    const url = `${app.url}/apply/${await makeCampaign(app, key)}`;
    const post = (body: string, type: string) =>
      fetch(url, { method: 'POST', body, headers: { 'content-type': type, 'x-forwarded-for': someAddress() } });
    const form = 'application/x-www-form-urlencoded';
    for (const [answer, status] of [
      [await post('{"email":"ann@mail.example"}', 'application/json'), 415],
      [await post(`email=ann@mail.example&message=${'x'.repeat(64 * 1024)}`, form), 413],
      [await post('%%%&=&email=%ff%fe', form), 422],
      [await post('', form), 422],
    ] as const) {
      expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
    }
  });
});
