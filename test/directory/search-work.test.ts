import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorkGate } from '../../src/directory/search/search-work.ts';
import {
  call,
  ledgerOf,
  made,
  makeBrand,
  send,
  startApp,
  type TestApp,
  type TestBrand,
  unique,
  until,
} from '../harness/app.ts';
import { creator, putDirectory } from '../harness/directory/directory.ts';

const alias = unique('work');
const LISTS = 20;
const AT_ONCE = 40;

let app: TestApp;
let brand: TestBrand;
beforeAll(async () => {
  app = await startApp({ alias });
  await putDirectory(app.context.elastic, alias, [creator(1), creator(2, { category: 'Food' })]);
  brand = await makeBrand(app.context, { plan: 'enterprise', credits: 1_000 });
});
afterAll(() => app?.close());

describe('the work of a brand’s searches', () => {
  it('is bounded at a moment: a large one runs alone, others wait behind it in order, and what is too much is refused', async () => {
    const gate = openWorkGate();
    const order: string[] = [];
    const endLarge = await gate.enter('one', 100);
    const small = gate.enter('one', 1).then((end) => {
      order.push('small');
      end();
    });
    const large = gate.enter('one', 100).then((end) => {
      order.push('large');
      end();
    });
    (await gate.enter('other', 100))();
    order.push('other');
    await expect(gate.enter('one', 412)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      headers: { 'retry-after': '1' },
    });
    endLarge();
    await Promise.all([small, large]);
    expect(order).toEqual(['other', 'small', 'large']);
  });

  it('counts look-ups of many values, beginnings of usernames, lists of a search, and names and creators of lists', async () => {
    const { work } = app.context.directory;
    const own = await makeBrand(app.context);
    const key = await own.key('brand');
    const { id } = await made(`${app.url}/v1/lists`, key, { name: 'both', search: { pks: '1,2' } });
    const end = await work.enter(own.id, 100);
    // Fills what may wait, so that the next call is refused at once.
    const waiting = work.enter(own.id, 512).then(
      (ended) => ended(),
      () => undefined,
    );
    const usernames = Array.from({ length: 900 }, (_, i) => `nobody${i}`);
    const statuses = async () => {
      const answers = await Promise.all([
        send(`${app.url}/v1/creators/lookup`, key, 'POST', { usernames }),
        send(`${app.url}/v1/creators/autocomplete?q=a`, key, 'GET'),
        send(`${app.url}/v1/lists`, key, 'POST', { name: 'food', search: { category: 'Food' } }),
        send(`${app.url}/v1/lists/${id}/creators`, key, 'POST', { usernames }),
        send(`${app.url}/v1/lists/${id}/creators`, key, 'GET'),
      ]);
      return answers.map(({ status }) => status);
    };
    expect(await statuses()).toEqual([429, 429, 429, 429, 429]);
    end();
    await waiting;
    expect(await statuses()).toEqual([200, 200, 201, 200, 200]);
  });

  it('refuses previews over many lists beyond it, uncharged, while another brand searches', async () => {
    const key = await brand.key('brand');
    const ids: string[] = [];
    for (let i = 0; i < LISTS; i += 1) {
      ids.push((await made(`${app.url}/v1/lists`, key, { name: `list ${i}`, search: { pks: '1,2' } })).id);
    }
    const dataKey = await brand.key('data');
    const other = await (await makeBrand(app.context)).key('brand');
    const search = `${app.url}/v1/creators/search`;
    const heavy = Array.from({ length: AT_ONCE }, () =>
      call(`${search}?in_list=${ids.join(',')}&stats=true&preview=true`, key),
    );
    const paid = Array.from({ length: AT_ONCE }, () => call(`${search}?in_list=${ids.join(',')}`, dataKey));
    await until('a search of another brand', async () => (await call(`${search}?category=Food`, other)).status === 200);
    const answers = await Promise.all([...heavy, ...paid]);
    const refused = answers.filter(({ status }) => status === 429);
    for (const { headers, body } of refused) {
      expect([headers.get('retry-after'), body.code]).toEqual(['1', 'RATE_LIMITED']);
    }
    // On a slow machine, some calls of the brand wait too long for a place among all searches, too.
    const late = answers.filter(({ status }) => status !== 200 && status !== 429);
    for (const { status, headers, body } of late) {
      expect([status, body.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    const served = (await Promise.all(paid)).filter(({ status }) => status === 200).length;
    expect(refused.length).toBeGreaterThan(0);
    expect((await ledgerOf(app.context, brand)).remaining).toBe(1_000 - 10 * served);
  });
});
