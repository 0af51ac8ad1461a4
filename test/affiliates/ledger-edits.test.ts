import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rebuildFigures } from '../../src/affiliates/ledger/rebuild-figures.ts';
import { verifyLedger } from '../../src/affiliates/ledger/verify-ledger.ts';
import type { Db } from '../../src/kit/engines/postgres/open.ts';
import { engineUrls, send, startApp, type TestApp } from '../harness/app.ts';
import { runCli } from '../harness/cli.ts';
import { ownRedis } from '../harness/database.ts';
import { makeMoneyStory, type Story } from '../harness/money-story.ts';

let app: TestApp;
let story: Story;
let key: string;

beforeAll(async () => {
  // A rebuild holds up every click: those of other tests are in another database.
  app = await startApp({ urls: { redis: ownRedis() } });
  const found = await makeMoneyStory(app);
  ({ story } = found);
  ({ key } = found.owner);
});
afterAll(() => app?.close());

const problemsOf = async () => (await verifyLedger(app.context, story.brand ?? '')).problems;

/** With ids of the story in place of their names. */
const filled = (text: string, quote = "'") =>
  text.replaceAll(/\$(\w+)/g, (_, name: string) => `${quote}${story[name] ?? name}${quote}`);

const edit = async (db: Db, statement: string) => await sql.raw(filled(statement)).execute(db);

describe('ledger verify', () => {
  it('finds no problem in a long history that nobody edited, even after a rebuild of its figures', async () => {
    expect(await problemsOf()).toEqual([]);
    await rebuildFigures(app.context, story.brand ?? '');
    expect(await problemsOf()).toEqual([]);
  });

  it('finds, from the command line, that a batch paid $500 to another creator, although the edit was undone afterwards', async () => {
    const { db } = app.context.postgres;
    await edit(db, 'update commissions set creator_id = $ann where id = $due');
    const paid = await send(`${app.url}/v1/payouts/batch`, key, 'POST', { method: 'bank_transfer' });
    expect([paid.status, paid.body.data.payouts]).toMatchObject([
      ...[201, [{ creator_name: 'Ann', commission_ids: [story.due] }]],
    ]);
    await edit(db, 'update commissions set creator_id = $bo where id = $due');
    const { elasticsearch, clickhouse } = engineUrls();
    const env = { CLICKHOUSE_URL: clickhouse, ELASTICSEARCH_URL: elasticsearch, REDIS_URL: ownRedis() };
    expect(await runCli(['ledger', 'verify', '--brand', story.brand ?? ''], env)).toMatchObject({
      status: 1,
      out: expect.stringContaining(filled('commission $due: creator_id is "$bo", sealed as "$ann"', '')),
    });
  });

  it('finds that a row was edited before Rollcall wrote it again', async () => {
    await edit(app.context.postgres.db, `update payouts set amount_minor = 90000 where id = $open`);
    const settled = await send(`${app.url}/v1/payouts/${story.open}`, key, 'PATCH', { status: 'paid' });
    expect(settled.status, JSON.stringify(settled.body)).toBe(200);
    expect(await problemsOf()).toContainEqual(
      expect.stringMatching(`^payout ${story.open}: it was edited before seal \\d+ was written$`),
    );
  });
});
