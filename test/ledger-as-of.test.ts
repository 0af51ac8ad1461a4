import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, makeBrand, startApp, type TestApp } from './harness/app.ts';
import { post, putAssignment, sale } from './harness/figures.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const at = (time: string) => new Date(`2026-01-01T${time}Z`);
const PATH = '/v1/affiliates/ledger';

describe('recorded_at', () => {
  it('follows seq, also of entries whose transaction began before the last one’s', async () => {
    const brand = await makeBrand(app.context);
    const key = await brand.key('brand');
    const link = await putAssignment(app, brand.id);
    const times = ['10:00:00', '09:00:00', '09:59:59.999', '10:00:00.001'].map(at);
    for (const time of times) await post(app, brand.id, [sale(link, time, 100, 10), sale(link, time, 100, 10)], time);
    const { data } = (await call(`${app.url}${PATH}`, key)).body;
    const recorded = data.map((entry: { recorded_at: string }) => entry.recorded_at).reverse();
    const first = Array.from({ length: 6 }, () => at('10:00:00').toISOString());
    expect(recorded).toEqual([...first, ...Array.from({ length: 2 }, () => at('10:00:00.001').toISOString())]);
    // The event itself stays at its own time.
    const sold = data.map((entry: { postings: { at: string }[] }) => entry.postings[0]?.at).reverse();
    expect(sold).toEqual(times.flatMap((time) => [time.toISOString(), time.toISOString()]));
  });
});
