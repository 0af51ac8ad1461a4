import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postAndSync, putAssignment, sale } from '../harness/analytics/figures.ts';
import { call, makeBrand, startApp, type TestApp } from '../harness/app.ts';

let app: TestApp;
let key: string;

beforeAll(async () => {
  app = await startApp();
  const brand = await makeBrand(app.context);
  key = await brand.key('brand');
  const link = await putAssignment(app, brand.id);
  await postAndSync(app, brand.id, [sale(link, new Date('2026-03-21T10:00:00Z'), 5_000, 500)]);
});
afterAll(() => app?.close());

const read = (from: string, to: string) =>
  call(`${app.url}/v1/affiliates/performance?${new URLSearchParams({ date_from: from, date_to: to })}`, key);

describe('the window of performance', () => {
  it.each([
    ['2026-03-22T00:00:00+14:00', '2026-03-21'],
    ['2026-03-21', '2026-03-20T23:00:00-11:00'],
    ['2026-03-21T10:00:00Z', '2026-03-21T10:00:00Z'],
    ['2026-03-21T10:00:00Z', '2026-03-21T11:00:00+01:00'],
    ['0001-01-01', '9999-12-31'],
    ['0001-01-02T00:00:00+14:00', '9999-12-31T09:59:59-14:00'],
    ['2026-03-21T10:00:00Z', '9999-12-31T09:59:59-14:00'],
  ])('from %s to %s selects by the time itself, not by how it is written', async (from, to) => {
    const { status, body } = await read(from, to);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.summary.by_currency).toMatchObject([{ revenue_minor: 5_000 }]);
  });

  it.each([
    ['2026-03-21T23:59:59Z', '2026-03-21T00:00:00Z'],
    ['2026-03-21T10:00:00.001Z', '2026-03-21T10:00:00.000Z'],
    ['2026-03-21T00:00:00-01:00', '2026-03-21T00:00:00+01:00'],
    ['2026-03-22', '2026-03-21'],
  ])('from %s to %s is 422, because it ends before it begins', async (from, to) => {
    const { status, body } = await read(from, to);
    expect([status, body.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(body.details[0].field).toBe('date_to');
  });
});
