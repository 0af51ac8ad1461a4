import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listNamedLinks } from '../../src/affiliates/links/links.ts';
import { codeValue, type Desk, LINKS, openDesk, problemsOf, SHOP } from '../harness/affiliates/affiliates.ts';
import { linkBySlug } from '../harness/affiliates/clicks.ts';
import { startApp, type TestApp, unique } from '../harness/app.ts';

let app: TestApp;
let desk: Desk;
let creator_email: string;

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

beforeAll(async () => {
  app = await startApp();
  desk = await openDesk(app);
  creator_email = await desk.onRoster();
});
afterAll(() => app?.close());

async function codeNamed(codes: string[]) {
  const now = { first: new Date(), last: new Date() };
  return (await listNamedLinks(app.context.postgres.db, desk.brand.id, [{ codes, linkIds: [], ...now }]))[0];
}

/** The terms of a code that nobody said any of, where the brand's rate is 0. */
const PLAIN = {
  ...{ rate: { percent: 0 }, rules: [], covers: 'order' },
  ...{ months: null, payments: null, caps: null, budget: null },
};

describe('an assignment', () => {
  it('of a code is created with the defaults and read back', async () => {
    const value = codeValue();
    const data = await desk.made({ creator_email, value });
    expect(data).toEqual({
      id: expect.stringMatching(/^lnk_/),
      creator_email,
      discount_percent: null,
      expires_at: null,
      creator_name: null,
      campaign_id: null,
      type: 'discount_code',
      value,
      clicks: 0,
      conversions: 0,
      revenue: 0,
      commission: 0,
      by_currency: [],
      commission_rate: 0,
      currency: 'USD',
      platform: null,
      last_sync_at: null,
      created_at: expect.stringMatching(TIME),
      url: null,
      destination_url: null,
      pays_renewals: false,
      forward_parameters: true,
      active: true,
      terms: PLAIN,
      effective_terms: PLAIN,
      budget: [],
      terms_source: 'link',
      terms_summary: '0% of each order.',
    });
    expect((await desk.get(`${LINKS}/${data.id}`)).body).toEqual({ data });
    const row = await codeNamed(['none', value.toLowerCase()]);
    expect([row?.id, row?.code, row?.holdDays, row?.attributionDays]).toEqual([data.id, value.toLowerCase(), 30, 30]);
  });

  it('keeps every given term', async () => {
    const campaign = (await desk.send('POST', '/v1/campaigns', { name: 'Summer' })).body.data.id;
    const data = await desk.made({
      value: codeValue(),
      commission_rate: 12.3456,
      campaign_id: campaign,
      creator_name: 'Ana',
      platform: 'video_app',
      hold_days: 0,
      attribution_days: 90,
      currency: 'JPY',
    });
    expect(data).toMatchObject({
      commission_rate: 12.3456,
      campaign_id: campaign,
      creator_name: 'Ana',
      currency: 'JPY',
    });
    const row = await codeNamed([data.value]);
    expect([row?.holdDays, row?.attributionDays, row?.commissionRatePpm]).toEqual([0, 90, 123_456]);
  });

  it('of a link has a short URL of its value, in lower case', async () => {
    const value = unique('Anna');
    const data = await desk.made({ type: 'link', value, destination_url: SHOP });
    expect(data).toMatchObject({
      value,
      url: `https://go.example/r/${value.toLowerCase()}`,
      destination_url: SHOP,
    });
    const found = await linkBySlug(app, value.toUpperCase());
    expect([found?.id, found?.brandId]).toEqual([data.id, desk.brand.id]);
  });

  it('whose value is an https URL leads there, and its value is generated; repeated, it creates two links', async () => {
    const [first, second] = [
      await desk.made({ type: 'link', value: SHOP, creator_name: 'Zoë Ångström' }),
      await desk.made({ type: 'link', value: SHOP, creator_name: 'Zoë Ångström' }),
    ];
    for (const link of [first, second]) {
      expect(link.value).toMatch(/^zoe[a-z0-9]{3,}$/);
      expect(link).toMatchObject({ destination_url: SHOP, url: `https://go.example/r/${link.value}` });
    }
    expect(first.value).not.toBe(second.value);
  });

  it('whose value cannot be in a URL gets a slug with a suffix', async () => {
    const data = await desk.made({ type: 'link', value: 'Été 50% ☀', destination_url: SHOP });
    expect(data.value).toBe('Été 50% ☀');
    expect(data.url).toMatch(/^https:\/\/go\.example\/r\/ete-50-[a-z0-9]{3,}$/);
  });

  it('leads to no short URL under a prefix, and to no path next to it', async () => {
    const other = await startApp({ env: { LINKS_URL: 'https://example.com/go/' } });
    const { send } = await openDesk(other);
    const problems = async (destination_url: string) =>
      problemsOf(await send('POST', LINKS, { creator_email, value: unique('a'), type: 'link', destination_url }));
    for (const circular of ['https://example.com/go/r/a', 'http://example.com:8080/go/r/']) {
      expect(await problems(circular)).toContain('destination_url circular');
    }
    expect(await problems('https://example.com/r/a')).toEqual(['creator_email not_on_roster']);
    await other.close();
  });

  it.each([
    [{}, ['creator_email required', 'value required']],
    [{ creator_email: 'ana', value: 'A' }, ['creator_email invalid_format']],
    [{ creator_email: 'nobody@example.com', value: 'A' }, ['creator_email not_on_roster']],
    [{ value: 'A', campaign_id: 'cmp_x' }, ['campaign_id not_found']],
    [
      { creator_email: 'nobody@example.com', value: 'A', campaign_id: 'cmp_x' },
      ['creator_email not_on_roster', 'campaign_id not_found'],
    ],
    [{ value: 'A', integration_id: 'int_x' }, ['integration_id not_found']],
    [{ value: 'a', type: 'link', destination_url: SHOP, integration_id: 'int_x' }, ['integration_id not_found']],
    [{ value: 'a', type: 'link' }, ['destination_url required']],
    [{ value: 'http://shop.example', type: 'link' }, ['destination_url required']],
    [{ value: 'a', type: 'link', destination_url: 'ftp://shop.example' }, ['destination_url invalid_format']],
    [{ value: 'a', type: 'link', destination_url: 'https://me@shop.example' }, ['destination_url invalid']],
    [{ value: 'a', type: 'link', destination_url: 'https://:pw@shop.example/' }, ['destination_url invalid']],
    [{ value: 'https://:pw@shop.example/', type: 'link' }, ['value invalid']],
    [{ value: 'a', type: 'link', destination_url: 'https://go.example/r/b' }, ['destination_url circular']],
    [{ value: 'a', type: 'link', destination_url: 'http://go.example:81/r/b' }, ['destination_url circular']],
    [{ value: 'a', type: 'link', destination_url: 'https://GO.example./x/../r/b' }, ['destination_url circular']],
    [{ value: 'A', hold_days: 91 }, ['hold_days too_big']],
    [{ value: 'A', hold_days: -1 }, ['hold_days too_small']],
    [{ value: 'A', attribution_days: 0 }, ['attribution_days too_small']],
    [{ value: 'A', attribution_days: 91 }, ['attribution_days too_big']],
    [{ value: 'A', commission_rate: 100.1 }, ['commission_rate too_big']],
    [{ value: 'A', commission_rate: 1.00001 }, ['commission_rate invalid']],
    [{ value: 'A', currency: 'usd' }, ['currency invalid_format']],
    [{ value: 'A', type: 'coupon' }, ['type invalid_value']],
  ])('with %j is 422 naming %j', async (input, expected) => {
    const base = Object.keys(input).length === 0 ? {} : { creator_email, ...input };
    const answer = await desk.send('POST', LINKS, base);
    expect([answer.status, answer.body.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(problemsOf(answer)).toEqual(expect.arrayContaining(expected));
  });

  it('is refused for a removed creator and for one of another brand', async () => {
    const email = await desk.onRoster();
    const entry = (await desk.get('/v1/roster')).body.data.find(
      (one: { creator_email: string }) => one.creator_email === email,
    );
    await desk.send('DELETE', `/v1/roster/${entry.id}`);
    expect(problemsOf(await desk.send('POST', LINKS, { creator_email: email, value: codeValue() }))).toEqual([
      'creator_email not_on_roster',
    ]);
    const other = await openDesk(app);
    const foreign = await other.send('POST', LINKS, { creator_email, value: codeValue() });
    expect(problemsOf(foreign)).toEqual(['creator_email not_on_roster']);
  });
});

describe('a value', () => {
  it('is unique per brand and type, in any case, even while inactive', async () => {
    const { id, value } = await desk.made({ value: unique('Anna') });
    await desk.send('DELETE', `${LINKS}/${id}`);
    const again = await desk.send('POST', LINKS, { creator_email, value: value.toUpperCase() });
    expect([again.status, again.body.code, again.body.existing_id]).toEqual([409, 'DUPLICATE_CODE', id]);
    await desk.made({ type: 'link', value, destination_url: SHOP });
    await (await openDesk(app)).made({ value });
  });

  it('that twenty calls request at once goes to one; the others are 409 with the existing link', async () => {
    const value = codeValue();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        desk.send('POST', LINKS, { creator_email, value: i % 2 ? value : value.toLowerCase() }),
      ),
    );
    const winner = answers.find(({ status }) => status === 201)?.body.data.id;
    const others = answers.filter(({ status }) => status !== 201);
    expect(others).toHaveLength(19);
    for (const { status, body } of others) {
      expect([status, body.code, body.existing_id]).toEqual([409, 'DUPLICATE_CODE', winner]);
    }
  });

  it('that several links are changed to at once goes to one', async () => {
    const links = await Promise.all(Array.from({ length: 6 }, () => desk.made({ value: codeValue() })));
    const value = codeValue();
    const answers = await Promise.all(links.map(({ id }) => desk.send('PATCH', `${LINKS}/${id}`, { value })));
    const winner = answers.find(({ status }) => status === 200)?.body.data.id;
    expect(winner).toBeDefined();
    for (const { status, body } of answers.filter(({ status }) => status !== 200)) {
      expect([status, body.code, body.existing_id]).toEqual([409, 'DUPLICATE_CODE', winner]);
    }
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });
});

describe('a slug', () => {
  it('is unique over all brands: of brands that want it at once one gets it, the others a suffix', async () => {
    const desks = await Promise.all(Array.from({ length: 5 }, () => openDesk(app)));
    const value = unique('summer');
    const links = await Promise.all(desks.map((one) => one.made({ type: 'link', value, destination_url: SHOP })));
    const urls = links.map(({ url }) => url);
    expect(new Set(urls).size).toBe(5);
    expect(urls.filter((url) => url === `https://go.example/r/${value}`)).toHaveLength(1);
    for (const url of urls) expect(url.startsWith(`https://go.example/r/${value}`)).toBe(true);
    for (const link of links) {
      expect((await linkBySlug(app, link.url.split('/r/')[1]))?.id).toBe(link.id);
    }
  });

  it('changes with its value, while the old one still redirects; changed back, it is the first again', async () => {
    const [first, second] = [unique('one'), unique('two')];
    const { id } = await desk.made({ type: 'link', value: first, destination_url: SHOP });
    const renamed = await desk.send('PATCH', `${LINKS}/${id}`, { value: second });
    expect(renamed.body.data).toMatchObject({ value: second, url: `https://go.example/r/${second}` });
    expect((await linkBySlug(app, first))?.id).toBe(id);
    expect((await linkBySlug(app, second))?.id).toBe(id);
    const other = await desk.made({ type: 'link', value: first, destination_url: SHOP });
    expect(other.url).toMatch(new RegExp(`/r/${first}-[a-z0-9]{3,}$`));
    await desk.send('PATCH', `${LINKS}/${other.id}`, { value: unique('free') });
    const back = await desk.send('PATCH', `${LINKS}/${id}`, { value: first });
    expect(back.body.data.url).toBe(`https://go.example/r/${first}`);
  });
});
