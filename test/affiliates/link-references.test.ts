import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeValue, type Desk, LINKS, openDesk, problemsOf, SHOP } from '../harness/affiliates/affiliates.ts';
import { connectTestStore, startStore, type TestStore } from '../harness/affiliates/store.ts';
import { startApp, type TestApp } from '../harness/app.ts';

let app: TestApp;
let desk: Desk;
let store: TestStore;
let integration_id: string;

beforeAll(async () => {
  app = await startApp();
  desk = await openDesk(app);
  store = await startStore('generic');
  integration_id = await connectTestStore(app.context, desk.brand.id, store);
});
afterAll(async () => {
  await store?.close();
  await app?.close();
});

const create = async (input: object) => {
  const answer = await desk.send('POST', LINKS, input);
  expect([answer.status, answer.body.code]).toEqual([422, 'VALIDATION_ERROR']);
  return problemsOf(answer);
};
const nobody = { creator_email: 'nobody@mail.example', campaign_id: 'cmp_none' };
const UNKNOWN = ['creator_email not_on_roster', 'campaign_id not_found'];

describe('every missing reference of a body is named at once', () => {
  it('for a code and for a link, with and without a store', async () => {
    const requested = store.requests.length;
    for (const what of [{ value: codeValue() }, { value: 'a-link', type: 'link', destination_url: SHOP }]) {
      expect(await create({ ...what, ...nobody })).toEqual(UNKNOWN);
      const withUnknownStore = await create({ ...what, ...nobody, integration_id: 'int_none' });
      expect(withUnknownStore).toEqual([...UNKNOWN, 'integration_id not_found']);
    }
    expect(await create({ value: codeValue(), ...nobody, integration_id })).toEqual(UNKNOWN);
    expect(store.requests.length, 'the store is not asked').toBe(requested);
  });

  it('with a destination outside the connected store', async () => {
    const link = { value: 'x', type: 'link', destination_url: 'https://elsewhere.example/' };
    expect(await create({ ...link, ...nobody, integration_id })).toEqual([...UNKNOWN, 'destination_url wrong_host']);
  });

  it('for a change, whose store is not contacted for a code of a missing campaign', async () => {
    store.coupons.set('first', { kind: 'percentage', amount: 10, active: true });
    const { id } = await desk.made({ value: 'FIRST', integration_id });
    const requested = store.requests.length;
    const answer = await desk.send('PATCH', `${LINKS}/${id}`, { value: 'NONE', campaign_id: 'cmp_none' });
    expect([answer.status, ...problemsOf(answer)]).toEqual([422, 'campaign_id not_found']);
    expect(store.requests.length).toBe(requested);
  });

  it('for a bulk request: the campaign and creators that cannot be selected, but none because of the campaign', async () => {
    const email = await desk.onRoster();
    const creators = [{ email }, { email: 'nobody@mail.example' }];
    const both = await desk.send('POST', `${LINKS}/bulk`, { creators, campaign_id: 'cmp_none' });
    expect([both.status, both.body.code]).toEqual([422, 'INVALID_SELECTION']);
    expect(problemsOf(both)).toEqual(['campaign_id not_found', 'creators.1.email not_on_roster']);
    const one = await desk.send('POST', `${LINKS}/bulk`, { creators: [{ email }], campaign_id: 'cmp_none' });
    expect([one.body.code, ...problemsOf(one)]).toEqual(['VALIDATION_ERROR', 'campaign_id not_found']);
    const all = await desk.send('POST', `${LINKS}/bulk`, { all_missing: true, campaign_id: 'cmp_none' });
    expect([all.body.code, ...problemsOf(all)]).toEqual(['VALIDATION_ERROR', 'campaign_id not_found']);
  });
});

describe('a value', () => {
  const address = (length: number) => `https://shop.example/${'a'.repeat(length)}`.slice(0, length);

  it('that is an https URL may be as long as a destination, for a link', async () => {
    const long = address(2_000);
    const data = await desk.made({ type: 'link', value: long });
    expect([data.destination_url, data.value.length < 50]).toEqual([long, true]);
    const creator_email = await desk.onRoster();
    expect(await create({ creator_email, type: 'link', value: address(2_001) })).toEqual(['value too_big']);
  });

  it('that is not a URL has at most 255 characters, reported with every other problem', async () => {
    const bad = { creator_email: await desk.onRoster(), commission_rate: 101 };
    for (const value of ['a'.repeat(256), 'a'.repeat(3_000)]) {
      const answer = await desk.send('POST', LINKS, { ...bad, value });
      expect(problemsOf(answer).sort()).toEqual(['commission_rate too_big', 'value too_big']);
      expect(JSON.stringify(answer.body.details)).toContain('must have at most 255 characters');
    }
    const { creator_email } = bad;
    expect(await create({ creator_email, value: address(256) })).toEqual(['value too_big']);
    expect((await desk.made({ creator_email, value: 'b'.repeat(255) })).value).toBe('b'.repeat(255));
  });
});
