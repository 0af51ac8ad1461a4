import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, makeBrand, send, startApp, type TestApp, type TestBrand } from '../../harness/app.ts';
import { apply, BEHIND_PROXY, makeCampaign } from '../../harness/workflow/applying.ts';

let app: TestApp;
let brand: TestBrand;
let key: string;
let now = new Date();

beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY, clock: { now: () => now } });
  brand = await makeBrand(app.context);
  key = await brand.key('brand');
});
afterAll(() => app?.close());

const pageOf = async (campaign: string) => await (await fetch(`${app.url}/apply/${campaign}`)).text();
const total = async (campaign: string) =>
  (await call(`${app.url}/v1/campaigns/${campaign}/applications`, key)).body.pagination.total;

/** What the page shows at that time, and how it answers an application. */
async function at(time: string, campaign: string): Promise<[isOpen: boolean, status: number]> {
  now = new Date(time);
  const isOpen = (await pageOf(campaign)).includes('<form');
  return [isOpen, (await apply(app, campaign, { email: `${now.getTime()}@mail.example` })).status];
}

describe("a campaign's deadline", () => {
  it('that is a date admits applications until the end of that day in UTC, which is a brand’s time zone unless set, and none after it', async () => {
    now = new Date('2026-11-01T00:00:00Z');
    const campaign = await makeCampaign(app, key, { deadline: '2026-11-20' });
    expect(await pageOf(campaign)).toContain(
      'Apply by the end of <time datetime="2026-11-20">November 20, 2026</time>',
    );
    expect(await at('2026-11-20T23:59:59.999Z', campaign)).toEqual([true, 303]);
    expect(await at('2026-11-21T00:00:00.000Z', campaign)).toEqual([false, 409]);
    expect(await pageOf(campaign)).toContain(
      'Applications closed on <time datetime="2026-11-20">November 20, 2026</time>',
    );
    expect(await total(campaign)).toBe(1);
  });

  it('that is a date ends with that day in the time zone of the brand, also where the clocks change', async () => {
    now = new Date('2026-11-01T00:00:00Z');
    const east = await makeBrand(app.context);
    const itsKey = await east.key('brand');
    await send(`${app.url}/v1/brand`, itsKey, 'PATCH', { settings: { time_zone: 'Asia/Tokyo' } });
    const campaign = await makeCampaign(app, itsKey, { deadline: '2026-11-20' });
    expect(await pageOf(campaign)).toContain('November 20, 2026</time> (Asia/Tokyo)');
    expect(await at('2026-11-20T14:59:59.999Z', campaign)).toEqual([true, 303]);
    expect(await at('2026-11-20T15:00:00.000Z', campaign)).toEqual([false, 409]);
    // New York is four hours behind UTC until 1 November at 06:00Z, and five after it.
    await send(`${app.url}/v1/brand`, itsKey, 'PATCH', { settings: { time_zone: 'America/New_York' } });
    await send(`${app.url}/v1/campaigns/${campaign}`, itsKey, 'PATCH', { deadline: '2026-11-01' });
    expect(await at('2026-11-02T04:59:59.999Z', campaign)).toEqual([true, 303]);
    expect(await at('2026-11-02T05:00:00.000Z', campaign)).toEqual([false, 409]);
    await send(`${app.url}/v1/campaigns/${campaign}`, itsKey, 'PATCH', { deadline: '2026-10-31' });
    expect(await at('2026-11-01T03:59:59.999Z', campaign)).toEqual([true, 303]);
    expect(await at('2026-11-01T04:00:00.000Z', campaign)).toEqual([false, 409]);
  });

  it('that is a time is exact, and once postponed the page accepts applications again', async () => {
    now = new Date('2026-11-01T00:00:00Z');
    const campaign = await makeCampaign(app, key, { deadline: '2026-11-20T15:30:00+02:00' });
    expect(await pageOf(campaign)).toContain('November 20, 2026 at 1:30 PM UTC');
    expect(await at('2026-11-20T13:29:59.999Z', campaign)).toEqual([true, 303]);
    expect(await at('2026-11-20T13:30:00.000Z', campaign)).toEqual([false, 409]);
    const moved = await send(`${app.url}/v1/campaigns/${campaign}`, key, 'PATCH', { deadline: '2026-11-21' });
    expect(moved.status).toBe(200);
    expect(await at('2026-11-21T12:00:00.000Z', campaign)).toEqual([true, 303]);
    expect(await total(campaign)).toBe(2);
  });
});
