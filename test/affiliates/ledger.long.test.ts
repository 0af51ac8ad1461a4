import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { command } from '../../src/kit/engines/clickhouse/query.ts';
import {
  type Assignment,
  lateRefund,
  move,
  postAndSync,
  putAssignment,
  putClicks,
  sale,
} from '../harness/analytics/figures.ts';
import { engineUrls, makeBrand, startApp, type TestApp, type TestBrand } from '../harness/app.ts';
import { ownRedis } from '../harness/database.ts';
import { runCli } from '../harness/process/cli.ts';

let app: TestApp;

beforeAll(async () => {
  // A rebuild holds up every click: those of other tests are in another database.
  app = await startApp({ urls: { redis: ownRedis() } });
});
afterAll(() => app?.close());

const AT = new Date('2026-03-04T05:06:07.008Z');
const NEXT = new Date('2026-04-04T05:06:07.008Z');

interface Made {
  brand: TestBrand;
  key: string;
  link: Assignment;
}

async function makeLedger(): Promise<Made> {
  const brand = await makeBrand(app.context);
  const link = await putAssignment(app, brand.id);
  await postAndSync(app, brand.id, [
    sale(link, AT, 10_000, 1_000),
    sale(link, NEXT, 300, 30),
    move(link, AT, 1_000, 'commission_pending', 'commission_approved'),
    lateRefund(link, NEXT, 100, 10),
  ]);
  await putClicks(app, link, [AT, AT, NEXT]);
  return { brand, key: await brand.key('brand'), link };
}

describe('npm run cli -- ledger', () => {
  const run = async (...args: string[]) => {
    const { clickhouse, elasticsearch } = engineUrls();
    const env = { REDIS_URL: ownRedis(), CLICKHOUSE_URL: clickhouse, ELASTICSEARCH_URL: elasticsearch };
    const { status: code, out: stdout } = await runCli(['ledger', ...args], env);
    return { code, stdout };
  };

  it('verifies, fails with what is wrong, and rebuilds', async () => {
    const { brand } = await makeLedger();
    expect(await run('verify', '--brand', brand.id)).toEqual({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`^${brand.id}\tok\t4\t[0-9a-f]{64}\t[0-9a-f]{64}\n$`)),
    });
    await command(app.context.clickhouse, 'DELETE FROM ledger_v1 WHERE brand_id = {b:String}', { b: brand.id });
    const { code, stdout } = await run('verify', '--brand', brand.id);
    expect([code, stdout]).toEqual([1, expect.stringContaining('sales USD: PostgreSQL has -10300 in 2 postings')]);
    const asJson = await run('verify', '--brand', brand.id, '--json');
    const problem = expect.stringContaining('sales USD: PostgreSQL has -10300');
    expect([asJson.code, JSON.parse(asJson.stdout)]).toEqual([
      1,
      [
        {
          ...{ brand: brand.id, result: 'WRONG', entries: 4, hash: expect.any(String), seal: expect.any(String) },
          problems: expect.arrayContaining([problem]),
        },
      ],
    ]);
    expect(await run('rebuild', '--brand', brand.id)).toEqual({ code: 0, stdout: `${brand.id}\t4\n` });
    expect((await run('verify', '--brand', brand.id)).code).toBe(0);
  });
});
