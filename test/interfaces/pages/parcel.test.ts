import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, made, makeBrand, send, startApp, type TestApp, unique } from '../../harness/app.ts';
import { mailsOf, pathOf } from '../../harness/kit/mail.ts';
import { email } from '../../harness/platform/people.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

async function desk() {
  const brand = await makeBrand(app.context);
  const key = await brand.key('brand');
  const creator = email();
  await made(`${app.url}/v1/roster`, key, { creator_email: creator });
  const ship = (input: object = {}) => made(`${app.url}/v1/shipments`, key, { creator_email: creator, ...input });
  const notify = (id: string) => send(`${app.url}/v1/shipments/${id}/notify`, key, 'POST');
  return { brand, key, creator, ship, notify };
}

const form = (choice: string) => ({
  method: 'POST',
  body: new URLSearchParams({ report: choice }),
  redirect: 'manual' as const,
  headers: { 'sec-fetch-site': 'same-origin' },
});

describe('the page of a parcel', () => {
  it('is mailed once for each status, and records a confirmation only by POST', async () => {
    const { brand, key, creator, ship, notify } = await desk();
    const { id } = await ship({ product_description: 'Serum <3', carrier: 'UPS', tracking_number: '1Z' });
    expect((await notify(id)).body).toEqual({ data: { id, creator_email: creator, mail: 'queued' } });
    expect((await notify(id)).body.data.mail).toBe('already_sent');
    await send(`${app.url}/v1/shipments/${id}`, key, 'PATCH', { status: 'shipped' });
    expect((await notify(id)).body.data.mail).toBe('queued');
    const [mail] = await mailsOf(app.context, brand.id);
    const page = `${app.links}${pathOf(mail?.links.find((link) => link.includes('/parcel/')) ?? '')}`;
    const shown = await call(page);
    expect([shown.status, shown.body.includes('Serum &lt;3'), shown.body.includes('On its way')]).toEqual([
      200,
      true,
      true,
    ]);
    const read = async () => (await call(`${app.url}/v1/shipments/${id}`, key)).body.data;
    expect((await read()).creator_confirmed_receipt).toBe(false);
    expect((await call(page, undefined, form(''))).status).toBe(303);
    expect((await read()).reported_missing_at).toBeNull();
    expect((await call(page, undefined, form('missing'))).status).toBe(303);
    expect((await read()).reported_missing_at).not.toBeNull();
    expect((await call(page, undefined, form('arrived'))).status).toBe(303);
    expect(await read()).toMatchObject({
      creator_confirmed_receipt: true,
      reported_missing_at: null,
      status: 'shipped',
    });
    expect((await call(page)).body).toContain('You confirmed that it has arrived');
    const { data } = (await call(`${app.url}/v1/audit-log?resource_id=${id}`, key)).body;
    expect(data[0]).toMatchObject({ operation: 'page_parcel', key_id: null });
  });

  it('is not found under another token', async () => {
    expect((await call(`${app.url}/parcel/${unique('p')}`)).status).toBe(404);
  });
});

describe('POST /api/brand/shipments/share', () => {
  it('makes a live page without email addresses and streets, until it is revoked', async () => {
    const { key, creator, ship } = await desk();
    const address = { street: '1 Secret St', city: 'Oakland', state: 'CA' };
    const { id } = await ship({
      product_description: 'Serum',
      carrier: 'UPS',
      shipping_address: address,
      notes: 'private',
    });
    const answer = await send(`${app.url}/api/brand/shipments/share`, key, 'POST', { title: 'Summer', logoUrl: null });
    expect([answer.status, Object.keys(answer.body)]).toEqual([201, ['shareId', 'url']]);
    const { shareId, url } = answer.body;
    expect(shareId).toMatch(/^[0-9A-Za-z]{22}$/);
    expect(answer.headers.get('x-ratelimit-remaining')).not.toBeNull();
    const page = `${app.links}${pathOf(url)}`;
    const shown = await call(page);
    expect(shown.body).toContain('Oakland, CA');
    for (const secret of [creator, 'Secret St', 'private']) expect(shown.body).not.toContain(secret);
    await send(`${app.url}/v1/shipments/${id}`, key, 'PATCH', { status: 'delivered' });
    expect((await call(page)).body).toContain('Delivered');
    const stranger = await (await makeBrand(app.context)).key('brand');
    const revoke = (by: string) => send(`${app.url}/api/brand/shipments/share/${shareId}`, by, 'DELETE');
    expect((await revoke(stranger)).status).toBe(404);
    expect((await revoke(key)).body).toEqual({ deleted: true, shareId });
    expect([(await call(page)).status, (await revoke(key)).status]).toEqual([404, 404]);
  });

  it('says when a parcel is expected and for which public campaign, tells no tracking number, and once revoked answers like an unknown one', async () => {
    const { key, ship } = await desk();
    const titles = [unique('Open'), unique('Secret')] as const;
    const open = await made(`${app.url}/v1/campaigns`, key, { name: titles[0], status: 'active' });
    const draft = await made(`${app.url}/v1/campaigns`, key, { name: titles[1], status: 'draft' });
    const sent = { carrier: 'UPS', tracking_number: '1Z999AA10123456784', estimated_arrival: '2026-12-04' };
    const { id } = await ship({ ...sent, campaign_id: open.id });
    await ship({ campaign_id: draft.id });
    const share = (body: object) => send(`${app.url}/api/brand/shipments/share`, key, 'POST', body);
    const { shareId, url } = (await share({ title: 'Parcels' })).body;
    const page = `${app.links}${pathOf(url)}`;
    const { body } = await call(page);
    for (const text of ['December 4, 2026', titles[0], 'Being prepared']) expect(body).toContain(text);
    for (const text of [sent.tracking_number, titles[1]]) expect(body).not.toContain(text);
    await send(`${app.url}/v1/shipments/${id}`, key, 'PATCH', { status: 'delivered' });
    expect((await call(page)).body).not.toContain('December 4, 2026');
    const ofCampaign = `${app.links}${pathOf((await share({ campaignId: open.id })).body.url)}`;
    expect((await call(ofCampaign)).body).toContain(`<h1>${titles[0]}</h1>`);
    await send(`${app.url}/api/brand/shipments/share/${shareId}`, key, 'DELETE');
    const [ended, unknown] = [await call(page), await call(`${app.links}/s/4fV8kQ2mXz7LpRb0Uo3xKt`)];
    expect([ended.status, ended.body]).toEqual([404, unknown.body]);
  });

  it('shows only the parcels of a named campaign, and needs a title or a campaign', async () => {
    const { key, ship } = await desk();
    const campaign = await made(`${app.url}/v1/campaigns`, key, { name: 'One' });
    await ship({ product_description: 'Inside', campaign_id: campaign.id });
    await ship({ product_description: 'Outside' });
    const share = (body: object) => send(`${app.url}/api/brand/shipments/share`, key, 'POST', body);
    const { url } = (await share({ campaignId: campaign.id, campaignName: 'One' })).body;
    const { body } = await call(`${app.links}${pathOf(url)}`);
    expect([body.includes('Inside'), body.includes('Outside')]).toEqual([true, false]);
    const empty = await share({});
    expect([empty.status, empty.body.details[0].field]).toEqual([422, 'title']);
    expect((await share({ campaignId: 'cmp_no' })).body.details[0]).toMatchObject({
      field: 'campaignId',
      code: 'not_found',
    });
  });

  it('is for brand keys, and 401 without one', async () => {
    const { brand } = await desk();
    const requested = await send(`${app.url}/api/brand/shipments/share`, await brand.key('data'), 'POST', {
      title: 'x',
    });
    expect([requested.status, requested.body.code]).toEqual([403, 'BRAND_KEY_REQUIRED']);
    const nobody = await call(`${app.url}/api/brand/shipments/share`, undefined, { method: 'POST' });
    expect([nobody.status, nobody.body.code]).toEqual([401, 'AUTH_REQUIRED']);
  });
});
