import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '../../src/interfaces/nouns.ts';
import { testSeed } from '../harness/kit/random-runs.ts';
import { openBoundCases } from './bound-cases.ts';

let cases: Awaited<ReturnType<typeof openBoundCases>>;
beforeAll(async () => {
  cases = await openBoundCases(300, 5);
});
afterAll(() => cases?.close());

const search = async (query: Record<string, string>) =>
  await cases.ask(cases.bound, { path: '/v1/creators/search', query });

describe('a data key with forced filters', () => {
  it('is told of no creator outside them by a look-up, and pays for none', async () => {
    const outsiders = cases.rows.filter(({ pk }) => !cases.within.has(pk)).slice(0, 21);
    const pks = outsiders.map(({ pk }) => pk);
    const { lines, headers } = await search({ pks: pks.join(',') });
    expect(lines).toMatchObject([{ data: [], meta: { not_found: { pks } } }]);
    expect(headers['x-credits-charged']).toBe('0');
  });

  it('is told of no removed creator whom no kept version shows within them', async () => {
    const { lines } = await search({ changed_since: 'SINCE', preview: 'true' });
    expect(lines).toMatchObject([{ meta: { removed: cases.gone, removed_total: cases.gone.length } }]);
  });

  it('is told no name by words with typing errors, in previews as in charged searches', async () => {
    const told = new Set<string>();
    const usernames = new Set(cases.rows.map(({ username }) => username.toLowerCase()));
    for (const { username } of cases.rows.slice(0, 40)) {
      const q = `${username.slice(0, -1)}x`;
      const { lines } = await search({ q, q_as: 'text', typos: 'true', preview: 'true' });
      for (const [name] of JSON.stringify(lines).matchAll(/[\w.]{4,}/g)) if (usernames.has(name)) told.add(name);
    }
    expect([...told]).toEqual([]);
  });

  it('may call these operations, all of which are compared', () => {
    const called = operations.filter(({ callers }) => callers.includes('data'));
    expect([...new Set(called.map(({ id }) => id))].sort()).toEqual(['get_directory_creator', 'search_creators']);
  });

  it('gets the answers, prices and headers of a free key on an index of only the creators within them', async () => {
    const [before, beforeFree] = await cases.spent();
    expect(await cases.differences(60, testSeed)).toEqual([]);
    const [after, afterFree] = await cases.spent();
    expect(before - after).toBe(beforeFree - afterFree);
  });
});
