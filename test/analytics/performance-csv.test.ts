import { afterAll, beforeAll, expect, it } from 'vitest';
import { putManyLinks } from '../harness/affiliates/many-links.ts';
import { type Statements, watchStatements } from '../harness/affiliates/statements.ts';
import {
  type Assignment,
  postAndSync,
  putAssignment,
  putClicks,
  putCreator,
  sale,
} from '../harness/analytics/figures.ts';
import { call, engineUrls, makeBrand, startApp, type TestApp, type TestBrand } from '../harness/app.ts';

/** More than one statement reads. */
const LINKS = 1_500;
const CLICKED = new Date('2026-02-01T12:00:00Z');

let statements: Statements;
let app: TestApp;
let brand: TestBrand;
let links: Assignment[];

beforeAll(async () => {
  statements = await watchStatements(engineUrls().clickhouse);
  app = await startApp({ urls: { clickhouse: statements.url } });
  brand = await makeBrand(app.context);
  links = await putManyLinks(app, brand.id, [await putCreator(app, brand.id)], LINKS);
  // The last row of the first thousand has another currency after it.
  const edge = links[LINKS - 1_000];
  if (edge) await postAndSync(app, brand.id, [sale({ ...edge, currency: 'ZAR' }, CLICKED, 5_000, 500)]);
});
afterAll(async () => {
  await app?.close();
  await statements?.close();
});

it.each([
  ['all time', ''],
  ['whole days', 'date_from=2026-01-01'],
  ['times', `date_from=${CLICKED.toISOString()}`],
])(
  'the CSV of performance has each assignment and currency once, even if a newer one appears meanwhile: %s',
  async (_, query) => {
    const newer = await putAssignment(app, brand.id);
    let read = 0;
    statements.before(async (statement) => {
      if (!statement.includes('ORDER BY link_id DESC')) return;
      read += 1;
      if (read === 2) await putClicks(app, newer, [CLICKED]);
    });
    const headers = { accept: 'text/csv' };
    const { body } = await call(`${app.url}/v1/affiliates/performance?${query}`, await brand.key('brand'), { headers });
    const [, ...lines]: string[] = body.trim().split('\n');
    const rows = lines.map((line) => line.split(',')).map(([id, , , , , , currency]) => `${id} ${currency}`);
    const expected = [
      ...links.map(({ linkId, currency }) => `${linkId} ${currency}`),
      `${links[LINKS - 1_000]?.linkId} ZAR`,
    ];
    expect(rows.filter((row) => !row.startsWith(newer.linkId))).toEqual(expect.arrayContaining(expected));
    expect(new Set(rows).size).toBe(rows.length);
    expect(read).toBe(2);
  },
);
