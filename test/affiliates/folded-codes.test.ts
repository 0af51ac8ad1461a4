import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { foldCase } from '../../src/kit/values/fold.ts';
import { startApp, type TestApp, unique } from '../harness/app.ts';
import { openShop } from './terms-shop.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

/** A code as a brand makes it, and as a shop or a customer may write it. */
const SPELLINGS = [
  ['ΝΙΚΟΣ', 'νικος'],
  ['ΝΙΚΟΣ10', 'νικοσ10'],
  ['γιωργος', 'ΓΙΩΡΓΟΣ'],
  ['İPEK', 'i̇pek'],
  ['ＡＮＡ１０', 'ana10'],
  ['LOVE❤️', 'love❤'],
  ['STRASSE', 'straße'],
  ['Ёлка', 'ЁЛКА'],
] as const;

describe.each(SPELLINGS)('the code %s', (value, other) => {
  it(`is paid, found and reserved as ${other}`, async () => {
    const shop = await openShop(app);
    const [first, second] = [`${unique('a')}@mail.example`, `${unique('b')}@mail.example`];
    for (const creator_email of [first, second]) await shop.tell('POST', '/v1/roster', { creator_email });
    const link = { creator_email: first, value, commission_rate: 10 };
    expect((await shop.tell('POST', '/v1/affiliates/links', link)).status).toBe(201);
    const order = await shop.place({ amount: 100, codes: [other] });
    expect((await shop.explain(order)).commission?.commission).toBe(10);
    const taken = await shop.tell('POST', '/v1/affiliates/links', { ...link, creator_email: second, value: other });
    expect([taken.status, taken.body.error?.code ?? taken.body.code]).toEqual([409, 'DUPLICATE_CODE']);
    const found = await shop.tell('GET', `/v1/affiliates/links?search=${encodeURIComponent(other)}`);
    expect(found.body.data).toHaveLength(1);
    expect(await shop.listProblems()).toEqual([]);
  });
});

it('a replaced code stays reserved in every spelling, and pays its holder', async () => {
  const shop = await openShop(app);
  const [first, second] = [`${unique('a')}@mail.example`, `${unique('b')}@mail.example`];
  for (const creator_email of [first, second]) await shop.tell('POST', '/v1/roster', { creator_email });
  const link = { creator_email: first, value: 'ΝΙΚΟΣ', commission_rate: 10 };
  const { id } = (await shop.tell('POST', '/v1/affiliates/links', link)).body.data;
  expect((await shop.tell('POST', `/v1/affiliates/links/${id}/rotate`, { value: 'ΠΕΤΡΟΣ' })).status).toBe(200);
  const order = await shop.place({ amount: 100, codes: ['νικος'] });
  expect((await shop.explain(order)).commission?.commission).toBe(10);
  const taken = await shop.tell('POST', '/v1/affiliates/links', { ...link, creator_email: second, value: 'νικος' });
  expect(taken.status).toBe(409);
});

it('codes keep their accents', () => {
  expect(foldCase('CAFÉ')).not.toBe(foldCase('CAFE'));
});

it('PostgreSQL folds codes as the server does', async () => {
  const texts = [
    ...SPELLINGS.flat(),
    'ANA10',
    'CAFÉ',
    'ıssız',
    'ẞ',
    'ŉ',
    'ﬁn',
    'ǅ',
    'A\u200bB',
    '𝔸na',
    'ქართული',
    'ΆΝΝΑ',
  ];
  const { rows } = await sql<{ folded: string }>`
    select fold_code(one) as folded from unnest(${texts}::text[]) with ordinality as given (one, place)
    order by place`.execute(app.context.postgres.db);
  expect(rows.map(({ folded }) => folded)).toEqual(texts.map(foldCase));
});
