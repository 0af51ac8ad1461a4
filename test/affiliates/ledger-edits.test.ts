import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rebuildFigures } from '../../src/affiliates/ledger/rebuild-figures.ts';
import { recordVerified, verifyLedger } from '../../src/affiliates/ledger/verify-ledger.ts';
import type { Db } from '../../src/kit/engines/postgres/open.ts';
import { makeMoneyStory, type Story } from '../harness/affiliates/money-story.ts';
import { makePayer } from '../harness/affiliates/paying.ts';
import { daysAgo, makeSale } from '../harness/affiliates/sales.ts';
import { engineUrls, send, startApp, type TestApp } from '../harness/app.ts';
import { ownRedis } from '../harness/database.ts';
import { runCli } from '../harness/process/cli.ts';

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

  it('goes on from its last run without a problem, and finds what was edited since, also with changes by others around it', async () => {
    const { context } = app;
    const { brand, key: own, ann } = await makePayer(app);
    const verify = async () => await verifyLedger(context, brand.id, { continues: true });
    const clean = await verify();
    await recordVerified(context.postgres.db, brand.id, clean.heads, context.clock.now());
    const patch = (rate: number) =>
      send(`${app.url}/v1/brand`, own, 'PATCH', { settings: { default_commission_rate: rate } });
    const sales = [0, 1, 2, 3].map((day) =>
      makeSale(context, brand, { assignment: ann, occurredAt: daysAgo(60 + day) }),
    );
    const found = await Promise.all([verify(), ...sales, patch(7), verify(), patch(9), verify()]);
    expect(found.flatMap((one) => ('problems' in one ? one.problems : []))).toEqual([]);
    const after = await verify();
    expect([after.problems, after.heads.seal.seq]).toEqual([[], expect.toSatisfy((seq) => seq > clean.heads.seal.seq)]);

    await recordVerified(context.postgres.db, brand.id, after.heads, context.clock.now());
    for (const isOn of [true, false]) {
      await context.postgres.db
        .updateTable('brands')
        .set({ autoApproveCommissions: isOn })
        .where('id', '=', brand.id)
        .execute();
    }
    expect((await verify()).problems).toEqual([`settings of brand ${brand.id}: it was edited, or edited and set back`]);
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
