import { type Random, seededRandom } from '../../src/directory/imports/indexing/random.ts';
import { made, send } from '../harness/app.ts';
import { oracleSearch } from '../harness/directory/directory-oracle.ts';
import { drawQuery, openCases } from './search-cases.ts';

const LIMIT = 40;

interface KnownList {
  id: string;
  pks: ReadonlySet<number>;
}

/** Generated creators, some lists of them, and the comparison of random searches with the difference of sets. */
export async function openListCases(creators: number, seed: number) {
  const cases = await openCases(creators, seed);
  const { app, rows, nextKey } = cases;
  const random = seededRandom(seed);

  async function makeList(share: number): Promise<KnownList> {
    const { id } = await made(`${app.url}/v1/lists`, nextKey(), { name: `share ${share}` });
    const pks = rows.map(({ pk }) => pk).filter(() => random.chance(share));
    for (let i = 0; i < pks.length; i += 1_000) {
      await send(`${app.url}/v1/lists/${id}/creators`, nextKey(), 'POST', { pks: pks.slice(i, i + 1_000) });
    }
    return { id, pks: new Set(pks) };
  }
  const lists = [await makeList(0.5), await makeList(0.2), await makeList(0.05), await makeList(0)];

  async function differenceOf(draw: Random): Promise<string | undefined> {
    const query = drawQuery(draw);
    const [kept, left] = [lists.filter(() => draw.chance(0.3)), lists.filter(() => draw.chance(0.4))];
    const out = left.filter((list) => !kept.includes(list));
    const excluded = rows.filter(() => draw.chance(0.01)).slice(0, 100);
    const isOut = new Set(excluded.map(({ pk }) => pk));
    const expected = oracleSearch(rows, query).filter(
      ({ pk }) =>
        (kept.length === 0 || kept.some(({ pks }) => pks.has(pk))) &&
        !out.some(({ pks }) => pks.has(pk)) &&
        !isOut.has(pk),
    );
    const idsOf = (some: readonly KnownList[]) => some.map(({ id }) => id).join(',');
    const page = 1 + draw.below(Math.ceil(expected.length / LIMIT) + 1);
    const requested = {
      ...query,
      ...{ limit: String(LIMIT), page: String(page) },
      ...(kept.length > 0 ? { in_list: idsOf(kept) } : {}),
      ...(out.length > 0 ? { not_in_list: idsOf(out) } : {}),
      ...(isOut.size > 0 ? { exclude_pks: [...isOut].join(',') } : {}),
    };
    const { data, pagination } = await cases.ask(requested);
    const wanted = expected.slice((page - 1) * LIMIT, page * LIMIT).map(({ pk }) => pk);
    const found = data.map(({ pk }: { pk: number }) => pk);
    const [a, b] = [JSON.stringify([expected.length, wanted]), JSON.stringify([pagination.total, found])];
    return a === b ? undefined : `${JSON.stringify(requested)}\nwanted ${a}\nfound  ${b}`;
  }

  return {
    ...cases,
    lists,
    /** What differs in this many random searches. */
    differences: async (count: number, caseSeed: number): Promise<string[]> => {
      const draw = seededRandom(caseSeed);
      const found: string[] = [];
      for (let i = 0; i < count; i += 1) {
        const difference = await differenceOf(draw);
        if (difference !== undefined) found.push(difference);
      }
      return found;
    },
  };
}
