import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, makeBrand, send, startApp, type TestApp, type TestBrand, unique } from '../harness/app.ts';

let app: TestApp;
let brand: TestBrand;
let key: string;

beforeAll(async () => {
  app = await startApp();
  brand = await makeBrand(app.context, { plan: 'scale', status: 'trialing' });
  key = await brand.key('brand');
});
afterAll(() => app?.close());

const read = async () => (await call(`${app.url}/v1/brand`, key)).body.data;
const patch = (body: unknown, caller = key) => send(`${app.url}/v1/brand`, caller, 'PATCH', body);

describe('the brand', () => {
  it('is returned with the plan of its own subscription and its settings', async () => {
    expect(await read()).toEqual({
      id: brand.id,
      name: expect.stringMatching(/^brand-/),
      logo: null,
      contact_name: null,
      contact_email: null,
      website: null,
      industry: null,
      description: null,
      plan: 'scale',
      subscription_status: 'trialing',
      settings: {
        auto_approve_commissions: false,
        require_payment_profile: false,
        bookkeeping_years: 10,
        default_commission_rate: 0,
        currency: 'USD',
        time_zone: 'UTC',
      },
      has_sample: false,
      created_at: expect.stringMatching(/Z$/),
      updated_at: null,
    });
  });

  it('is patched: a patch sets, omits and clears, also inside the settings', async () => {
    const first = await patch({
      description: 'Shoes',
      industry: 'fashion',
      website: 'https://shoes.example',
      contact_email: 'ann@shoes.example',
      settings: { default_commission_rate: 12.5, auto_approve_commissions: true },
    });
    expect([first.status, first.body.data.updated_at]).toEqual([200, expect.stringMatching(/Z$/)]);
    const second = await patch({ description: null, settings: { currency: 'EUR' } });
    expect(second.body.data).toMatchObject({
      description: null,
      industry: 'fashion',
      website: 'https://shoes.example',
      contact_email: 'ann@shoes.example',
      settings: { auto_approve_commissions: true, default_commission_rate: 12.5, currency: 'EUR' },
    });
    expect(await read()).toEqual(second.body.data);
  });

  it('has a time zone of IANA, in its own spelling; any other text is refused with what would be right', async () => {
    const set = async (time_zone: unknown) => await patch({ settings: { time_zone } });
    const berlin = await set('europe/berlin');
    expect([berlin.status, berlin.body.data.settings.time_zone]).toEqual([200, 'Europe/Berlin']);
    for (const zone of ['Mars/Olympus', '+02:00', '', 'CEST+1', null, 2]) {
      const { status, body } = await set(zone);
      expect([zone, status, body.details?.[0]?.field]).toEqual([zone, 422, 'settings.time_zone']);
    }
    expect((await set('Mars/Olympus')).body.error).toContain('must be an IANA time zone such as Europe/Berlin');
    for (const name of ['Asia/Kolkata', 'Asia/Kathmandu', 'Asia/Calcutta']) {
      expect((await set(name)).body.data.settings.time_zone).toBe(name);
    }
    expect((await set('UTC')).body.data.settings.time_zone).toBe('UTC');
  });

  it('loses nothing in concurrent patches of different fields', async () => {
    const answers = await Promise.all([
      patch({ logo: 'data:image/png;base64,iVBORw0KGgo=' }),
      patch({ contact_name: 'Ann' }),
      patch({ industry: 'sport' }),
      patch({ settings: { default_commission_rate: 7.25 } }),
      patch({ settings: { currency: 'JPY' } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await read()).toMatchObject({
      logo: 'data:image/png;base64,iVBORw0KGgo=',
      contact_name: 'Ann',
      industry: 'sport',
      settings: { default_commission_rate: 7.25, currency: 'JPY' },
    });
  });

  it.each([
    [{ name: null }, 'name'],
    [{ name: ' ' }, 'name'],
    [{ website: 'javascript:alert(1)' }, 'website'],
    [{ website: 'https://:pw@shoes.example' }, 'website'],
    [{ logo: 'https://me@shoes.example/logo.png' }, 'logo'],
    [{ logo: 'logo.png' }, 'logo'],
    [{ logo: 'data:text/html;base64,PHA+' }, 'logo'],
    [{ logo: `data:image/png;base64,${'A'.repeat(2_000)}` }, 'logo'],
    [{ contact_email: 'ann' }, 'contact_email'],
    [{ settings: null }, 'settings'],
    [{ settings: { default_commission_rate: 100.5 } }, 'settings.default_commission_rate'],
    [{ settings: { default_commission_rate: -1 } }, 'settings.default_commission_rate'],
    [{ settings: { default_commission_rate: 1.00001 } }, 'settings.default_commission_rate'],
    [{ settings: { currency: 'usd' } }, 'settings.currency'],
    [{ settings: { auto_approve_commissions: 'yes' } }, 'settings.auto_approve_commissions'],
  ])('refuses %j with 422 naming %s, and changes nothing', async (input, field) => {
    const before = await read();
    const { status, body } = await patch(input);
    expect([status, body.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(body.details.map((detail: { field: string }) => detail.field)).toContain(field);
    expect(await read()).toEqual(before);
  });

  it('cannot take another brand’s name, in any case: 409, and nothing changes', async () => {
    const name = unique('Taken');
    const other = await (await makeBrand(app.context)).key('brand');
    expect((await patch({ name }, other)).status).toBe(200);
    const before = await read();
    const { status, body } = await patch({ name: name.toUpperCase(), description: 'changed' });
    expect([status, body.code]).toEqual([409, 'CONFLICT']);
    expect(await read()).toEqual(before);
  });

  it('ignores plan and subscription in a patch, and names them as ignored', async () => {
    const { status, headers, body } = await patch({ plan: 'enterprise', subscription_status: 'active' });
    expect([status, body.data.plan, body.data.subscription_status]).toEqual([200, 'scale', 'trialing']);
    expect(headers.get('x-ignored-params')).toBe('body.plan, body.subscription_status');
  });

  it('is 401 without a key, and 403 for a data key', async () => {
    const dataKey = await brand.key('data');
    for (const method of ['GET', 'PATCH']) {
      expect((await call(`${app.url}/v1/brand`, undefined, { method })).body.code).toBe('AUTH_REQUIRED');
      expect((await call(`${app.url}/v1/brand`, dataKey, { method })).body.code).toBe('BRAND_KEY_REQUIRED');
    }
  });
});
