import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSeller } from '../harness/affiliates/ordering.ts';
import { differencesOf, seedOrders } from '../harness/affiliates/reconciling.ts';
import { daysAgo } from '../harness/affiliates/sales.ts';
import { jobOf } from '../harness/analytics/exporting.ts';
import { makeBrand, send, type TestApp } from '../harness/app.ts';
import {
  answerImport,
  confirmRead,
  fixture,
  getImport,
  readImport,
  sendImport,
  startImporting,
} from '../harness/platform/importing.ts';

const clock = { at: Date.now(), now: () => new Date(clock.at) };
let app: TestApp;
beforeAll(async () => {
  app = await startImporting(clock);
});
afterAll(() => app?.close());

const confirmed = async (key: string, read: { id: string; reading_id: string }) => {
  const done = await confirmRead(app, key, read);
  return { done, ...(await differencesOf(app, key, done.job_id)) };
};

describe("an import of a store's orders that are compared", () => {
  it('shows what is here and missing before, and gives the comparison its own result, with every difference', async () => {
    const { assignment, key } = await makeSeller(app);
    const { csv, expected, counts } = await seedOrders(app, assignment, { orders: 60, first: daysAgo(50) });
    const read = await readImport(app, key, 'reconciliation', csv, { integration_id: assignment.source.id });
    expect(read).toMatchObject({ status: 'ready', questions: [], integration_id: assignment.source.id });
    expect(read.counts.new).toBe(counts.missing_here);
    expect(read.counts.known + read.counts.new + read.counts.refused).toBe(read.counts.records);
    const { done, job, found } = await confirmed(key, read);
    expect(done).toMatchObject({
      status: 'done',
      result: null,
      undo: { possible: false, why: 'It recorded nothing.' },
    });
    expect(job).toMatchObject({ kind: 'reconciliation', result: counts });
    expect(found).toEqual(expected);
    expect((await send(`${app.url}/v1/imports/${done.id}/undo`, key, 'POST', {})).status).toBe(409);
  });

  it('asks what the file leaves open, and the answer is kept for the next one', async () => {
    const { assignment, key } = await makeSeller(app);
    await seedOrders(app, assignment, { orders: 20, first: daysAgo(50) });
    const csv = (id: string) => `Order,Amount,Store credit,Currency\n${id},10.00,1.00,USD\n`;
    const read = await readImport(app, key, 'reconciliation', csv('1'));
    expect([read.status, read.questions.length]).toEqual(['needs_answers', 1]);
    const answered = await answerImport(app, key, read, read.questions[0].options[0].mapping);
    expect(answered.status).toBe('ready');
    expect((await confirmed(key, answered)).job.result).toMatchObject({ missing_here: 1, matched: 0 });
    expect((await readImport(app, key, 'reconciliation', csv('2'))).status).toBe('ready');
  });

  it('meets orders by their numbers where a file has no ids, and refuses rounded ones alone', async () => {
    const { assignment, key } = await makeSeller(app);
    await seedOrders(app, assignment, { orders: 5, first: daysAgo(50) });
    const read = await readImport(app, key, 'reconciliation', fixture('20-reconcile-names-only.csv'));
    expect([read.status, read.counts.records]).toEqual(['ready', 2]);
    const damaged = await readImport(app, key, 'reconciliation', 'Id,Amount,Currency\n5.84085E+12,10.00,USD\n');
    expect(damaged).toMatchObject({ status: 'refused', refusals: [{ kind: 'damaged_ids' }] });
  });

  it('needs a store of the brand, which other kinds of file have no place for', async () => {
    const { key } = await makeSeller(app);
    const stranger = await makeSeller(app);
    const csv = 'Id,Amount,Currency\n1,10.00,USD\n';
    const foreign = await sendImport(app, key, 'reconciliation', csv, {
      integration_id: stranger.assignment.source.id,
    });
    expect([foreign.status, foreign.body.details]).toMatchObject([
      422,
      [{ field: 'integration_id', code: 'not_found' }],
    ]);
    const other = await sendImport(app, key, 'orders', csv, { integration_id: stranger.assignment.source.id });
    expect([other.status, other.body.details]).toMatchObject([422, [{ field: 'integration_id', code: 'not_allowed' }]]);
    const brand = await makeBrand(app.context);
    const none = await sendImport(app, await brand.key('brand'), 'reconciliation', csv);
    expect([none.status, none.body.details]).toMatchObject([422, [{ field: 'integration_id', code: 'required' }]]);
  });

  it('stops with its job, from either side', async () => {
    const { key } = await makeSeller(app);
    const csv = 'Id,Amount,Currency\n1,10.00,USD\n';
    const start = async () => {
      const { id, reading_id } = await readImport(app, key, 'reconciliation', csv);
      return (await send(`${app.url}/v1/imports/${id}/confirm`, key, 'POST', { reading_id })).body.data;
    };
    const stopped = await start();
    expect((await send(`${app.url}/v1/imports/${stopped.id}`, key, 'DELETE')).body.data.status).toBe('stopped');
    expect((await jobOf(app, key, stopped.job_id)).status).toBe('cancelled');
    const cancelled = await start();
    await send(`${app.url}/v1/jobs/${cancelled.job_id}`, key, 'DELETE');
    expect((await getImport(app, key, cancelled.id)).status).toBe('stopped');
  });
});
