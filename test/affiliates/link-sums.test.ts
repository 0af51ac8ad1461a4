import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Desk, openDesk } from '../harness/affiliates/affiliates.ts';
import { madeAt, putManyLinks } from '../harness/affiliates/many-links.ts';
import { type Statements, watchStatements } from '../harness/affiliates/statements.ts';
import { type Assignment, putCreator } from '../harness/analytics/figures.ts';
import { engineUrls, startApp, type TestApp } from '../harness/app.ts';

/** Of either creator more than one statement holds. */
const LINKS = 12_100;

let statements: Statements;
let app: TestApp;
let desk: Desk;
let creators: { id: string; email: string }[];
let links: Assignment[];

beforeAll(async () => {
  statements = await watchStatements(engineUrls().clickhouse);
  app = await startApp({ urls: { clickhouse: statements.url } });
  desk = await openDesk(app);
  creators = [await putCreator(app, desk.brand.id), await putCreator(app, desk.brand.id)];
  links = await putManyLinks(app, desk.brand.id, creators, LINKS);
});
afterAll(async () => {
  await app?.close();
  await statements?.close();
});

/** The answer's sums, and of how many statements they were made. */
async function read(query: string) {
  const before = statements.seen.length;
  const { status, body } = await desk.get(`/v1/affiliates?limit=1&${query}`);
  expect(status).toBe(200);
  const { total_clicks, by_currency } = body.summary;
  // What the process asks for itself, such as whether figures are reconciled, is not counted.
  const requested = statements.seen.slice(before).filter((text) => /link_life_v1|brand_daily_v1/.test(text)).length;
  return { total: body.pagination.total, total_clicks, euros: by_currency[0]?.total_clicks ?? 0, requested };
}

/** What should be said of these links, each of which was clicked once. */
const sumsOf = (found: readonly Assignment[]) => ({
  total: found.length,
  total_clicks: found.length,
  euros: found.filter(({ currency }) => currency === 'EUR').length,
});

const timeOf = (index: number) => encodeURIComponent(madeAt(index).toISOString());

describe('the summary of many links', () => {
  it.each([
    ['a walk that is frozen', `created_before=${timeOf(LINKS - 2)}`, 0, LINKS - 1],
    ['all that is newer', `created_after=${timeOf(4_999)}`, 5_000, LINKS],
    ['a window of times', `created_after=${timeOf(99)}&created_before=${timeOf(9_999)}`, 100, 10_000],
    ['a window that has all', 'created_before=2027-01-01', 0, LINKS],
  ])('is exact and takes no more statements than that of all links: %s', async (_what, query, from, to) => {
    const { requested } = await read('');
    const found = await read(query);
    expect(found).toMatchObject(sumsOf(links.slice(from, to)));
    expect(found.requested).toBeLessThanOrEqual(requested);
  });

  it('is exact for a creator’s links between those of others, with thousands per statement', async () => {
    const { requested } = await read('');
    for (const { id, email } of creators) {
      const own = links.filter(({ creatorId }) => creatorId === id);
      const found = await read(`creator_email=${email}`);
      expect(found).toMatchObject(sumsOf(own));
      expect(found.requested).toBeLessThanOrEqual(requested + 1);
    }
  });

  it('is exact for a window of times that cannot be told from the ids', async () => {
    const late = links[10]?.linkId ?? '';
    await sql`update links set created_at = ${madeAt(LINKS)} where id = ${late}`.execute(app.context.postgres.db);
    const { requested: _, ...sums } = await read(`created_before=${timeOf(LINKS - 1)}`);
    expect(sums).toEqual(sumsOf(links.filter(({ linkId }) => linkId !== late)));
  });

  it('is zero if the filter matches none', async () => {
    expect(await read('created_before=2025-01-01')).toMatchObject(sumsOf([]));
  });
});
