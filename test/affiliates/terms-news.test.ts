import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp, unique } from '../harness/app.ts';
import { mailsOf } from '../harness/kit/mail.ts';
import { openShop, type TermsShop } from './terms-shop.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

/** The mails of changed terms, by recipient, as text. */
async function listNews(shop: TermsShop): Promise<Record<string, string>> {
  const mails = await mailsOf(app.context, shop.brand.id);
  const news = mails.filter(({ kind }) => kind === 'terms_changed');
  return Object.fromEntries(news.map(({ to, text }) => [to, text]));
}

/** A creator with a code that takes the terms of a place. */
async function makeInheriting(shop: TermsShop, more: object = {}) {
  const creator_email = `${unique('ana')}@mail.example`;
  await shop.tell('POST', '/v1/roster', { creator_email });
  const body = { creator_email, value: unique('CODE').toUpperCase(), ...more };
  const { status, body: answer } = await shop.tell('POST', '/v1/affiliates/links', body);
  expect(status).toBe(201);
  return { email: creator_email, ...answer.data };
}

const plain = (percent: number) => ({ rate: { percent } });

describe('Creators whose terms change', () => {
  it('get the old and the new ones in words if they shall be told, and nothing otherwise', async () => {
    const shop = await openShop(app);
    const code = await shop.makeCode(plain(10), 'ana@mail.example');
    const path = `/v1/affiliates/links/${code.id}`;
    expect((await shop.tell('PATCH', path, { terms: plain(11) })).status).toBe(200);
    expect(await listNews(shop)).toEqual({});
    const terms = { ...plain(12), covers: 'subscription', months: 6 };
    expect((await shop.tell('PATCH', path, { terms, notify: true })).status).toBe(200);
    const { 'ana@mail.example': text = '' } = await listNews(shop);
    expect(text).toContain(`${code.value} until now`);
    expect(text).toContain('11% of each order.');
    expect(text).toContain('12% of each order; also on renewals of the subscription for 6 months.');
    // The same terms again are no news.
    expect((await shop.tell('PATCH', path, { terms, notify: true })).status).toBe(200);
    expect(Object.keys(await listNews(shop))).toEqual(['ana@mail.example']);
  });

  it('by a group, a campaign or the brand are those whose codes take these terms', async () => {
    const shop = await openShop(app);
    await shop.tell('PATCH', '/v1/affiliates/rules', { terms: plain(5) });
    const group = (await shop.tell('POST', '/v1/groups', { name: 'Friends', terms: plain(20) })).body.data;
    const campaign = (await shop.tell('POST', '/v1/campaigns', { name: 'Summer', terms: plain(30) })).body.data;
    const [member, other, ofCampaign] = [
      await makeInheriting(shop),
      await makeInheriting(shop),
      await makeInheriting(shop, { campaign_id: campaign.id }),
    ];
    const own = await shop.makeCode(plain(10));
    await shop.tell('POST', `/v1/groups/${group.id}/creators`, { creator_emails: [member.email], links: 'inherit' });
    const change = async (path: string, percent: number) => {
      const { status, body } = await shop.tell('PATCH', path, { terms: plain(percent), notify: true });
      expect([status, body.details]).toEqual([200, undefined]);
      return await listNews(shop);
    };
    expect(Object.keys(await change(`/v1/groups/${group.id}`, 21))).toEqual([member.email]);
    expect(Object.keys(await change(`/v1/campaigns/${campaign.id}`, 31)).toSorted()).toEqual(
      [member.email, ofCampaign.email].toSorted(),
    );
    const news = await change('/v1/affiliates/rules', 6);
    expect(Object.keys(news).toSorted()).toEqual([member.email, ofCampaign.email, other.email].toSorted());
    expect(news[other.email]).toContain('5% of each order.');
    expect(news[other.email]).toContain('6% of each order.');
    expect(news).not.toHaveProperty(own.creator_email);
  });
});
