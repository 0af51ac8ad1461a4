import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inSnapshot } from '../../src/affiliates/ledger/ledger.ts';
import { verifyRecords } from '../../src/affiliates/ledger/verify-ledger.ts';
import { beginTurn, getKind } from '../../src/platform/jobs/jobs.ts';
import { approved, codeOf, get, makePayer, type Payer, recorded, settle } from '../harness/affiliates/paying.ts';
import { type Assignment, daysAgo, makeAssignment, makeSale, refund } from '../harness/affiliates/sales.ts';
import { bytesOf, jobOf, runJobs } from '../harness/analytics/exporting.ts';
import { call, send, startApp, type TestApp, unique, until } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'rollcall-months-'));
let database: TestDatabase;
/** Pays and approves nothing at once. */
let app: TestApp;

beforeAll(async () => {
  // Turns are taken of all jobs there are.
  database = await makeDatabase('months');
  app = await startApp({
    urls: { postgres: database.url },
    env: { ROLLCALL_DIR: folder, COMMISSIONS_AT_ONCE: '1' },
  });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** A brand with two creators; each has two sales of 100, which earn 10 each. */
async function makeMonth(): Promise<{ owner: Payer; bob: Assignment }> {
  const owner = await makePayer(app);
  const bob = await makeAssignment(app.context, owner.brand, { email: `${unique('bob')}@mail.example`, name: 'Bob' });
  for (const assignment of [owner.ann, owner.ann, bob, bob]) await makeSale(app.context, owner.brand, { assignment });
  return { owner, bob };
}

const approveDue = ({ key }: Payer, body: object = {}, query = '') =>
  send(`${app.url}/v1/commissions/approve-due${query}`, key, 'POST', { cutoff: daysAgo(0).toISOString(), ...body });
const payBatch = ({ key }: Payer, body: object = {}, headers: object = {}, query = '') =>
  send(`${app.url}/v1/payouts/batch${query}`, key, 'POST', { method: 'bank_transfer', ...body }, headers);
const listPayouts = async (owner: Payer) => (await get(owner, '/v1/payouts')).body.data;

async function approveMonth(): Promise<{ owner: Payer; bob: Assignment }> {
  const month = await makeMonth();
  expect((await approveDue(month.owner)).status).toBe(202);
  await runJobs(app);
  return month;
}

/** A worker takes the job and ends after so many steps; another takes it over. */
async function endAfterSteps({ brand }: Payer, id: string, most: number): Promise<void> {
  const turn = { claim: unique('lost'), now: new Date() };
  const job = await beginTurn(app.context.postgres.db, { id, brandId: brand.id }, turn);
  if (!job) throw new Error('The job is over.');
  const { signal } = new AbortController();
  let steps = 0;
  signal.throwIfAborted = () => {
    steps += 1;
    if (steps > most) throw new Error('The worker ended.');
  };
  await expect(getKind(job.kind).run(app.context, job, { signal, note: () => undefined })).rejects.toThrow('ended');
}

async function readFile(owner: Payer, jobId: string, name: string): Promise<Record<string, string>[]> {
  const { files } = await jobOf(app, owner.key, jobId);
  const bytes = await bytesOf(
    app,
    files.find((file: { name: string }) => file.name === name),
  );
  return parse(bytes, { columns: true });
}

describe('Approving everything that can be approved', () => {
  it('is a job above the bound, which approves up to the cutoff and leaves what has a high fraud flag to a person', async () => {
    const { owner, bob } = await makeMonth();
    await makeSale(app.context, owner.brand, { assignment: bob, occurredAt: daysAgo(40) });
    await makeSale(app.context, owner.brand, { assignment: bob, occurredAt: daysAgo(2) });
    const flagged = await makeSale(app.context, owner.brand, { assignment: bob });
    const flags = [{ code: 'velocity', severity: 'high', detail: 'x', detected_at: daysAgo(60).toISOString() }];
    await app.context.postgres.db
      .updateTable('commissions')
      .set({ fraudFlags: JSON.stringify(flags) })
      .where('id', '=', flagged.id)
      .execute();
    const started = await approveDue(owner, { cutoff: daysAgo(50).toISOString(), note: 'March' });
    expect([started.status, started.body.data]).toMatchObject([
      202,
      { kind: 'approval', status: 'queued', total_rows: 2 },
    ]);
    await runJobs(app);
    const job = await jobOf(app, owner.key, started.body.data.id);
    const by_currency = [{ currency: 'USD', commissions: 4, total: 40 }];
    expect(job).toMatchObject({
      status: 'done',
      progress: 1,
      rows: 2,
      result: { updated: 4, flagged: 1, by_currency },
    });
    const rows = await readFile(owner, job.id, 'approved.csv');
    expect(rows).toMatchObject([
      { creator_email: owner.ann.email, commissions: '2', amount: '20', flagged: '0' },
      { creator_email: bob.email, commissions: '2', amount: '20', flagged: '1' },
    ]);
    const { body } = await get(owner, '/v1/commissions?status=approved');
    expect(body.data.map((one: { status_note: string }) => one.status_note)).toEqual(Array(4).fill('March'));
    // What is left is one commission of the shop, which a call approves itself.
    const rest = await approveDue(owner, { creator_email: bob.email });
    expect([rest.status, rest.body.data]).toMatchObject([200, { updated: 1, flagged: 1 }]);
    expect((await approveDue(owner, { creator_email: bob.email, flagged: true })).body.data.updated).toBe(1);
    expect((await approveDue(owner)).body.data).toEqual({ updated: 0, flagged: 0, by_currency: [] });
  });

  it('refuses a plan of more than it approves at once, and what it does not understand', async () => {
    const { owner } = await makeMonth();
    expect(codeOf(await approveDue(owner, {}, '?mode=plan'))).toEqual([409, 'CONFLICT']);
    expect(codeOf(await approveDue(owner, { cutoff: 'March' }))).toEqual([422, 'VALIDATION_ERROR']);
    expect((await get(owner, '/v1/commissions?status=approved')).body.data).toEqual([]);
  });
});

describe('A batch of payouts above the bound', () => {
  it('is a job whose file lists each payout, and the same Idempotency-Key starts no second one', async () => {
    const { owner, bob } = await approveMonth();
    const headers = { 'idempotency-key': unique('month') };
    const body = { reference: 'March', creator_emails: [owner.ann.email, bob.email, 'nobody@mail.example'] };
    const started = await Promise.all(Array.from({ length: 4 }, () => payBatch(owner, body, headers)));
    expect(started.map(({ status }) => status)).toEqual([202, 202, 202, 202]);
    const [{ id }] = started.map((one) => one.body.data);
    expect(started.map((one) => one.body.data.id)).toEqual([id, id, id, id]);
    expect((await get(owner, '/v1/jobs?kind=payout_batch')).body.pagination.total).toBe(1);
    await runJobs(app);
    // The repeat after its end is the first answer, too, although nothing is due any more.
    const repeat = await payBatch(owner, body, headers);
    expect([repeat.status, repeat.body]).toEqual([202, started[0]?.body]);
    const job = await jobOf(app, owner.key, id);
    expect(job.result).toEqual({
      payouts: 2,
      by_currency: [{ currency: 'USD', total: 40, payouts: 2 }],
      skipped: [],
      not_found: ['nobody@mail.example'],
    });
    const payouts = await listPayouts(owner);
    expect(payouts).toHaveLength(2);
    const rows = await readFile(owner, id, 'payouts.csv');
    expect(rows.map((row) => [row.creator_email, row.result, row.amount, row.commission_count])).toEqual([
      [owner.ann.email, 'paid', '20', '2'],
      [bob.email, 'paid', '20', '2'],
    ]);
    expect(rows.map((row) => row.payout_id).sort()).toEqual(payouts.map((one: { id: string }) => one.id).sort());
    expect(payouts[0]).toMatchObject({ reference: 'March', status: 'paid', amount: 20 });
    const { data: audits } = (await get(owner, `/v1/audit-log?resource_id=${payouts[0].id}`)).body;
    // This app pays one commission a step; the first step and the last one are audited.
    const step = { operation: 'pay_payout_batch', key_id: expect.stringMatching(/^key_/) };
    expect(audits).toMatchObject([step, step]);
  });

  it('pays a creator with more commissions than a step by one payout, whose money nothing else spends meanwhile', async () => {
    const owner = await makePayer(app);
    const sales = [];
    for (let i = 0; i < 5; i += 1) sales.push(await makeSale(app.context, owner.brand, { assignment: owner.ann }));
    await approveDue(owner);
    await runJobs(app);
    const { id } = (await payBatch(owner)).body.data;
    await endAfterSteps(owner, id, 2);
    expect(await listPayouts(owner)).toMatchObject([
      { status: 'paid', amount: 50, allocated_amount: 20, unallocated_amount: 30 },
    ]);
    // An approval, a refund, and another batch come between.
    await approved(owner);
    const waiting = (await get(owner, '/v1/commissions?status=approved')).body.data;
    const first = sales.find((sale) => sale.id === waiting.at(-1).id);
    if (first) await refund(app.context, first, 5_000);
    expect(await listPayouts(owner)).toMatchObject([{ allocated_amount: 20, unallocated_amount: 30 }]);
    const other = (await payBatch(owner)).body.data;
    await beginTurn(
      app.context.postgres.db,
      { id, brandId: owner.brand.id },
      { claim: unique('lost'), now: new Date() },
    );
    await runJobs(app);
    expect((await jobOf(app, owner.key, id)).result.by_currency).toEqual([{ currency: 'USD', total: 50, payouts: 1 }]);
    expect((await jobOf(app, owner.key, other.id)).status).toBe('done');
    const payouts = await listPayouts(owner);
    const commissions = (await get(owner, '/v1/commissions')).body.data;
    const paid = commissions.filter(({ status }: { status: string }) => status === 'paid');
    const sum = (rows: Record<string, number>[], name: string) => rows.reduce((all, row) => all + (row[name] ?? 0), 0);
    // Sent is what was paid for, what a refund took back of it, and what waits for other commissions.
    expect(sum(payouts, 'allocated_amount')).toBe(sum(paid, 'commission'));
    const { db } = app.context.postgres;
    expect((await inSnapshot(db, (trx) => verifyRecords(trx, owner.brand.id))).problems).toEqual([]);
    const events = db.selectFrom('outbox').select('data').where('brandId', '=', owner.brand.id);
    const announced = (await events.where('event', '=', 'commission.paid').execute()).map(
      ({ data }) => Object(data).id,
    );
    expect(announced.sort()).toEqual(paid.map((one: { id: string }) => one.id).sort());
  });

  it('pays nobody twice when two jobs run, and when the worker that took them is never heard of again', async () => {
    const { owner } = await approveMonth();
    const [one, other] = [await payBatch(owner), await payBatch(owner)];
    expect([one.status, other.status]).toEqual([202, 202]);
    const ids = [one, other].map(({ body }) => body.data.id);
    const { db } = app.context.postgres;
    // The worker takes both jobs, and is never heard of again.
    for (const id of ids)
      await beginTurn(db, { id, brandId: owner.brand.id }, { claim: unique('lost'), now: new Date() });
    const findJobs = () => Promise.all(ids.map((id) => jobOf(app, owner.key, id)));
    // The second of one brand may have to wait for its turn.
    await until('both jobs', async () => {
      await runJobs(app);
      return (await findJobs()).every(({ status }) => status === 'done');
    });
    const jobs = await findJobs();
    expect(jobs.reduce((sum, { result }) => sum + result.payouts, 0)).toBe(2);
    expect(await listPayouts(owner)).toHaveLength(2);
    expect((await get(owner, '/v1/payouts/preview')).body.summary.by_currency).toEqual([]);
  });

  it('pays nobody whose sum has changed since it was expected, and nothing if it has changed before the call', async () => {
    const { owner, bob } = await approveMonth();
    const expected = [{ currency: 'USD', total: 40, payees: 2 }];
    const wrong = await payBatch(owner, { expected: [{ currency: 'USD', total: 41, payees: 2 }] });
    expect(codeOf(wrong)).toEqual([409, 'CONFLICT']);
    const started = await payBatch(owner, { expected });
    expect(started.status).toBe(202);
    const more = await makeSale(app.context, owner.brand, { assignment: bob });
    await send(`${app.url}/v1/affiliates/commissions/${more.id}`, owner.key, 'PATCH', { status: 'approved' });
    await runJobs(app);
    const { result } = await jobOf(app, owner.key, started.body.data.id);
    expect(result).toMatchObject({ payouts: 1, skipped: [{ reason: 'changed', creators: 1 }] });
    expect(await listPayouts(owner)).toMatchObject([{ creator_email: owner.ann.email, amount: 20 }]);
  });

  it('cannot be planned, and pays nobody if it is cancelled before its first turn', async () => {
    const { owner } = await approveMonth();
    expect(codeOf(await payBatch(owner, {}, {}, '?mode=plan'))).toEqual([409, 'CONFLICT']);
    const { body } = await payBatch(owner);
    const cancelled = await send(`${app.url}/v1/jobs/${body.data.id}`, owner.key, 'DELETE');
    expect(cancelled.body.data.status).toBe('cancelled');
    expect(await runJobs(app)).toBe(0);
    expect(await listPayouts(owner)).toEqual([]);
  });
});

describe('Returning a payout of more commissions than a call returns', () => {
  it('goes through them in steps that a lost worker does not repeat, and pays nothing of its money meanwhile', async () => {
    const owner = await makePayer(app);
    const { id: smallId } = await recorded(owner, { amount: 6 });
    await settle(owner, smallId);
    const sales = [];
    for (let i = 0; i < 5; i += 1) sales.push(await makeSale(app.context, owner.brand, { assignment: owner.ann }));
    await approveDue(owner);
    await runJobs(app);
    await payBatch(owner);
    await runJobs(app);
    const [payout] = await listPayouts(owner);
    expect(payout).toMatchObject({ status: 'paid', amount: 44, allocated_amount: 44, unallocated_amount: 0 });
    const [refunded] = sales;
    if (refunded) await refund(app.context, refunded, 5_000);

    const giveBack = (query = '') =>
      send(`${app.url}/v1/payouts/${payout.id}/return${query}`, owner.key, 'POST', { reason: 'account closed' });
    expect(codeOf(await giveBack('?mode=plan'))).toEqual([409, 'CONFLICT']);
    const started = await Promise.all([giveBack(), giveBack(), giveBack()]);
    expect(started.map(({ status }) => status)).toEqual([202, 202, 202]);
    expect(new Set(started.map(({ body }) => body.data.id)).size).toBe(1);
    const { id } = started[0]?.body.data ?? {};
    await endAfterSteps(owner, id, 2);

    // Two commissions are due again, and their money is neither due nor spent.
    const statuses = async () =>
      (await get(owner, '/v1/commissions')).body.data.map((one: { status: string }) => one.status);
    expect((await statuses()).filter((status: string) => status === 'approved')).toHaveLength(2);
    const statement = async () => (await get(owner, `/v1/payouts/${payout.id}/statement`)).body.data;
    expect([(await statement()).payout.status, (await statement()).total]).toEqual(['paid', 44]);
    await approved(owner);
    const other = (await payBatch(owner, { creator_emails: [owner.ann.email] })).body.data;
    await beginTurn(
      app.context.postgres.db,
      { id, brandId: owner.brand.id },
      { claim: unique('lost'), now: new Date() },
    );
    await runJobs(app);
    expect((await jobOf(app, owner.key, id)).result).toEqual({ payout_id: payout.id, commissions: 5 });
    expect((await jobOf(app, owner.key, other.id)).status).toBe('done');
    const returned = await giveBack();
    expect([returned.status, returned.body.data]).toMatchObject([
      200,
      { status: 'returned', correction_reason: 'account closed', allocated_amount: 0, unallocated: 0 },
    ]);
    expect([(await statement()).lines.length, (await statement()).total]).toEqual([6, 0]);
    expect(await readFile(owner, id, 'returned.csv')).toHaveLength(6);
    // Earned are six commissions of 10, of which a refund took 5; the small payout sent 6.
    const balance = await get(owner, `/v1/roster/${owner.ann.creatorId}/balance`);
    expect(balance.body.data.by_currency).toMatchObject([{ owed_back: 0, payable_now: 49 }]);
    const { db } = app.context.postgres;
    expect((await inSnapshot(db, (trx) => verifyRecords(trx, owner.brand.id))).problems).toEqual([]);
  });
});

describe('Statements of everybody', () => {
  it('are one job with a list of links and a file of all lines, as of one ledger entry', async () => {
    const { owner, bob } = await approveMonth();
    const body = { from: daysAgo(90).toISOString().slice(0, 10), to: daysAgo(0).toISOString().slice(0, 10) };
    const started = await send(`${app.url}/v1/statements/batch`, owner.key, 'POST', body);
    expect([started.status, started.body.data.kind]).toEqual([202, 'statements']);
    const { id } = started.body.data;
    await makeSale(app.context, owner.brand, { assignment: bob });
    await runJobs(app);
    expect((await jobOf(app, owner.key, id)).result).toEqual({ statements: 2, without: 0, mailed: 0 });
    const rows = await readFile(owner, id, 'statements.csv');
    expect(rows.map((row) => [row.creator_email, row.currency, row.commission, row.closing])).toEqual([
      [owner.ann.email, 'USD', '20', '20'],
      [bob.email, 'USD', '20', '20'],
    ]);
    const lines = await readFile(owner, id, 'lines.csv');
    expect(lines.map((line) => [line.creator_email, line.type, line.commission])).toEqual([
      ...Array(2).fill([owner.ann.email, 'commission', '10']),
      ...Array(2).fill([bob.email, 'commission', '10']),
    ]);
    const { data } = (await get(owner, '/v1/statements')).body;
    expect(new Set(data.map((one: { ledger_seq: number }) => one.ledger_seq)).size).toBe(1);
    const page = await fetch(`${app.links}${new URL(rows[0]?.url ?? '').pathname}`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Ann')]);
    const early = await send(`${app.url}/v1/statements/batch`, owner.key, 'POST', { from: body.to, to: body.from });
    expect(codeOf(early)).toEqual([422, 'VALIDATION_ERROR']);
  });
});

describe('Open items', () => {
  it('are what is owed at any day, item by item, and add up to the ledger and to what is payable', async () => {
    const { owner, bob } = await approveMonth();
    await send(`${app.url}/v1/payouts`, owner.key, 'POST', {
      ...{ creator_email: owner.ann.email, method: 'wallet', amount: 25 },
    });
    const before = new Date().toISOString();
    await until('the next millisecond', () => new Date().toISOString() > before);
    const late = await makeSale(app.context, owner.brand, { assignment: bob });
    const { body } = await get(owner, '/v1/payouts/open-items');
    expect(
      body.data.map(({ type, creator_email, amount }: Record<string, string>) => [type, creator_email, amount]),
    ).toEqual([
      ['unallocated', owner.ann.email, -5],
      ['approved', bob.email, 10],
      ['approved', bob.email, 10],
      ['pending', bob.email, 10],
    ]);
    const sums = { currency: 'USD', pending: 10, approved: 20, unallocated: -5, owed_back: 0, total: 25 };
    expect([body.pagination.total, body.summary.by_currency]).toEqual([4, [sums]]);
    const then = await get(owner, `/v1/payouts/open-items?as_of=${before}&creator_email=${bob.email}`);
    expect(then.body.data).toMatchObject([{ amount: 10 }, { amount: 10 }]);
    expect(then.body.data.map((one: { commission_id: string }) => one.commission_id)).not.toContain(late.id);
    await refund(app.context, late, 5_000);
    const headers = { accept: 'text/csv' };
    const csv = await call(`${app.url}/v1/payouts/open-items?as_of=${before}`, owner.key, { headers });
    expect(parse(csv.body, { columns: true })).toMatchObject([{ amount: '-5' }, { amount: '10' }, { amount: '10' }]);
    expect(codeOf(await get(owner, '/v1/payouts/open-items?as_of=March'))).toEqual([422, 'VALIDATION_ERROR']);
    const page = await get(owner, '/v1/payouts/open-items?limit=2&page=9');
    expect([page.body.data, page.body.pagination.total]).toEqual([[], 4]);
  });
});
