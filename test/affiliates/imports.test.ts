import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expireImports } from '../../src/affiliates/imports/imports.jobs.ts';
import { verifyLedger } from '../../src/affiliates/ledger/verify-ledger.ts';
import { runTurns } from '../../src/platform/jobs/turns.ts';
import { runJobs } from '../harness/analytics/exporting.ts';
import { call, send, type TestApp, unique, until } from '../harness/app.ts';
import {
  answerImport,
  confirmRead,
  fixture,
  getImport,
  importFile,
  makeImporter,
  readImport,
  sendImport,
  startImporting,
} from '../harness/platform/importing.ts';
import { file } from '../harness/platform/uploading.ts';

const clock = { at: Date.parse('2026-11-27T18:00:00Z'), now: () => new Date(clock.at) };
let app: TestApp;
beforeAll(async () => {
  app = await startImporting(clock);
});
afterAll(() => app?.close());

const open = (currency?: string) => makeImporter(app, currency);

const listOrders = async (get: (path: string) => Promise<{ data: Record<string, unknown>[] }>) =>
  (await get('/orders?limit=100&sort=oldest')).data.map((one) => [
    one.order_number ?? one.order_id,
    one.amount,
    one.currency,
    String(one.occurred_at).slice(0, 10),
  ]);

const answer = (key: string, one: { id: string }, mapping: object) => answerImport(app, key, one, mapping);

describe("a file of another tool's orders", () => {
  it("of Shopify's export records 5,300.00 net: spread lines once, voided and pending ones not at all", async () => {
    const { key, get } = await open('USD');
    const read = await readImport(app, key, 'orders', fixture('01-past-orders-shopify.csv'));
    expect(read).toMatchObject({ status: 'ready', questions: [], format: { key: 'shopify_orders' } });
    expect(read.counts).toMatchObject({ lines: 7, records: 6, new: 4, left_out: 2, refused: 0, known: 0 });
    expect(read.sums.find(({ outcome }: { outcome: string }) => outcome === 'new')).toMatchObject({
      ...{ currency: 'USD', records: 4, amount: 12_300, refunded: 7_000, net: 5_300 },
    });
    expect((await get('/orders')).pagination.total).toBe(0);

    const done = await confirmRead(app, key, read);
    expect(done).toMatchObject({ status: 'done', result: { written: 4, updated: 0, known: 0, refused: 0 } });
    expect(await listOrders(get)).toEqual([
      ['#1001', 100, 'USD', '2026-10-05'],
      ['#1002', 200, 'USD', '2026-10-05'],
      ['#1005', 4_000, 'USD', expect.any(String)],
      ['#1006', 8_000, 'USD', expect.any(String)],
    ]);
    const found = (await get('/affiliates/explain?order_id=1006')).data;
    expect([found.reason, found.refunds[0].counted]).toEqual(['history', 3_000]);
  });

  it.each([
    ['02-past-orders-total-first.csv', [['W1', 100, 'EUR', '2026-10-08']]],
    [
      '04-past-orders-german-excel.csv',
      [
        ['D1', 1_250.5, 'EUR', '2026-10-31'],
        ['D2', 100, 'EUR', '2026-11-01'],
        ['D3', 99.9, 'EUR', '2026-11-02'],
      ],
    ],
    ['10-past-orders-etsy.csv', [['9001', 60, 'CAD', '2026-08-10']]],
  ])('%s records what was sold, and nothing else', async (name, expected) => {
    const { key, get } = await open();
    expect(await importFile(app, key, 'orders', fixture(name))).toMatchObject({ status: 'done' });
    expect(await listOrders(get)).toEqual(expected);
  });

  it('records each order once, however often and in whatever parts it comes', async () => {
    const { brand, key, get } = await open();
    const line = (i: number) => `O-${i},#${i},2026-03-0${(i % 9) + 1}T10:00:00Z,${i}.50,EUR,c${i}@shop.example`;
    const head = 'order_id,order_number,placed_at,amount,currency,customer_email';
    const make = (from: number, to: number) =>
      [head, ...Array.from({ length: to - from }, (_, i) => line(from + i))].join('\n');
    const reads: { id: string; reading_id: string }[] = [];
    for (const [from, to] of [
      [0, 700],
      [0, 700],
      [400, 1_300],
    ] as const)
      reads.push(await readImport(app, key, 'orders', make(from, to)));
    const { data: lines } = await get(`/imports/${reads[0]?.id}/lines?limit=1`);
    expect(lines[0].record).toMatchObject({ order_id: 'O-0', customer_email: 'c***@s***.example' });
    for (const { id, reading_id } of reads)
      expect((await send(`${app.url}/v1/imports/${id}/confirm`, key, 'POST', { reading_id })).status).toBe(202);
    clock.at += 1_000;
    await until('all are written', async () => {
      await Promise.all([runJobs(app), runJobs(app), runJobs(app)]);
      clock.at += 2_000;
      const states = await Promise.all(reads.map(({ id }) => getImport(app, key, id)));
      return states.every(({ status }) => status === 'done');
    });
    const { total } = (await get('/orders?limit=1')).pagination;
    expect(total).toBe(1_300);
    const states = await Promise.all(reads.map(({ id }) => getImport(app, key, id)));
    expect(states.reduce((sum, { result }) => sum + result.written, 0)).toBe(1_300);
    expect(states.reduce((sum, { result }) => sum + result.known, 0)).toBe(1_000);
    expect((await verifyLedger(app.context, brand.id)).problems).toEqual([]);
    const again = await readImport(app, key, 'orders', make(0, 700));
    expect(again.counts).toMatchObject({ new: 0, known: 700 });
    expect(reads.slice(0, 2).map(({ id }) => id)).toContain(again.file.same_as);
  });

  it('goes on where it stopped, and writes nothing twice', async () => {
    const { key, get } = await open();
    const rows = Array.from({ length: 1_700 }, (_, i) => `K${i},2026-03-02T10:00:00Z,1.00,EUR`);
    const read = await readImport(app, key, 'orders', ['order_id,placed_at,amount,currency', ...rows].join('\n'));
    await send(`${app.url}/v1/imports/${read.id}/confirm`, key, 'POST', { reading_id: read.reading_id });
    for (let stops = 0; stops < 2; stops += 1) {
      const closing = new AbortController();
      const before = (await getImport(app, key, read.id)).handled;
      const turn = runTurns.run({ ...app.context, stopping: closing }, 1);
      await until('some are written', async () => (await getImport(app, key, read.id)).handled > before);
      closing.abort();
      await turn;
    }
    expect((await get('/orders?limit=1')).pagination.total).toBeGreaterThan(0);
    await runJobs(app);
    expect(await getImport(app, key, read.id)).toMatchObject({
      status: 'done',
      handled: 1_700,
      result: { written: 1_700 },
    });
    expect((await get('/orders?limit=1')).pagination.total).toBe(1_700);
  });

  it('keeps what differs, and takes a larger refund from a newer file where that is wanted', async () => {
    const { key, get } = await open();
    const make = (refunded: string, amount = '50.00') =>
      `order_id,placed_at,amount,refunded,currency\nX1,2026-03-02T10:00:00Z,${amount},${refunded},EUR\n`;
    await importFile(app, key, 'orders', make('0.00'));
    const other = await readImport(app, key, 'orders', make('0.00', '60.00'));
    expect(other.counts).toMatchObject({ new: 0, differs: 1 });
    expect([other.status, other.questions]).toMatchObject([
      'needs_answers',
      [{ code: 'known_differ', lines: 1, first_lines: [2], message: expect.stringContaining('€50.00') }],
    ]);
    const [keep] = other.questions[0].options;
    const kept = await confirmRead(app, key, await answer(key, other, keep.mapping));
    expect(kept.result).toMatchObject({ written: 0, updated: 0, known: 1 });
    const updated = await importFile(app, key, 'orders', make('20.00'), { mapping: '{"known":"update"}' });
    expect(updated.result).toMatchObject({ written: 0, updated: 1 });
    const { amount, refunds } = (await get('/affiliates/explain?order_id=X1')).data;
    expect([amount, refunds.map((one: { amount: number }) => one.amount)]).toEqual([50, [20]]);
  });

  it('pays creators by their codes where the shop cannot be connected', async () => {
    const { key, get, add } = await open();
    await add('ana@creators.example');
    const code = unique('ANA').toUpperCase();
    await send(`${app.url}/v1/affiliates/links`, key, 'POST', {
      ...{ type: 'discount_code', value: code, creator_email: 'ana@creators.example', commission_rate: 10 },
    });
    const csv = `order_id,placed_at,amount,currency,codes\nP1,2026-11-27T17:59:00Z,80.00,EUR,${code}\n`;
    clock.at += 60_000;
    const done = await importFile(
      app,
      key,
      'orders',
      csv.replace('17:59:00', new Date(clock.at).toISOString().slice(11, 19)),
      {
        options: '{"pays":true}',
      },
    );
    expect(done).toMatchObject({ status: 'done', undo: { possible: false } });
    const [commission] = (await get('/commissions')).data;
    expect([commission.order_id, commission.commission]).toEqual(['P1', 8]);
  });

  it('refuses an order that pays and has more than a code in the cell of its code', async () => {
    const { key } = await open();
    const rows = ['P2,ANA10 and BEN10', 'P3,ANA10 (-10%)', 'P4,10% off'].map((row) => {
      const [id, codes] = row.split(',');
      return `${id},2026-11-27T17:59:00Z,80.00,EUR,${codes}\n`;
    });
    const csv = `order_id,placed_at,amount,currency,codes\n${rows.join('')}`;
    const paying = await readImport(app, key, 'orders', csv, { options: '{"pays":true}' });
    expect(paying.counts).toMatchObject({ new: 2, refused: 1 });
    expect(paying.refusals).toMatchObject([{ kind: 'code_unreadable', first_lines: [2] }]);
    const past = await readImport(app, key, 'orders', csv);
    expect(past.counts).toMatchObject({ new: 3, refused: 0 });
  });
});

describe('a file of paid commissions', () => {
  it('has its days in the order that one line proves', async () => {
    const { key, get, add } = await open();
    await add('ana@creators.example');
    const done = await importFile(app, key, 'commissions', fixture('03-past-commissions-uk-dates.csv'));
    expect(done).toMatchObject({ status: 'done', source: 'Before Rollcall', result: { written: 4 } });
    const days = (await get('/past-commissions')).data.map((one: Record<string, string>) => [
      one.reference,
      one.paid_at?.slice(0, 10),
      one.amount,
    ]);
    expect(days).toEqual([
      ['UK4', '2026-08-07', 40],
      ['UK3', '2026-06-05', 30],
      ['UK2', '2026-04-03', 20],
      ['UK1', '2026-02-13', 10],
    ]);
  });

  it('reads each way of writing an amount, refuses a negative one, and gives it back to be mended', async () => {
    const { key, get, add } = await open();
    await add('ana@creators.example');
    const read = await readImport(app, key, 'commissions', fixture('11-past-commissions-symbols.csv'));
    expect(read.counts).toMatchObject({ lines: 5, new: 4, refused: 1 });
    const mend = await call(`${app.url}/v1/imports/${read.id}/lines?outcome=refused`, key, {
      headers: { accept: 'text/csv' },
    });
    const [head, row] = mend.body.trim().split(/\r?\n/);
    expect(head).toBe('Affiliate email,Commission,Currency,Date,line,why');
    expect(row).toMatch(/^ana@creators\.example,'?-5\.00,USD,"?May|^ana@creators\.example,'?-5\.00,USD,2026-05-24,6,/);
    await confirmRead(app, key, read);
    const paid = (await get('/past-commissions')).data.map(
      (one: Record<string, unknown>) => `${one.amount} ${one.currency}`,
    );
    expect(paid.sort()).toEqual(['12.5 EUR', '12.5 USD', '1250.5 EUR', '1250.5 USD']);
  });

  it('asks what it cannot know, and an answer is kept for the next file of its source', async () => {
    const { key, add } = await open();
    await add('ana@creators.example');
    const csv = (day: string) => `email,amount,currency,date,reference\nana@creators.example,20.00,GBP,${day},${day}\n`;
    const asked = await readImport(app, key, 'commissions', csv('03/04/2026'));
    expect(asked.status).toBe('needs_answers');
    const [question] = asked.questions;
    expect(question.code).toBe('date_order');
    expect(question.options[0].sums).toMatchObject([{ currency: 'GBP', amount: 20 }]);
    const early = await send(`${app.url}/v1/imports/${asked.id}/confirm`, key, 'POST', {
      reading_id: asked.reading_id,
    });
    expect([early.status, early.body.code]).toEqual([409, 'QUESTIONS_OPEN']);

    const answer = question.options.find(({ mapping }: { mapping: { dates: string } }) => mapping.dates === 'dmy');
    const patched = await send(`${app.url}/v1/imports/${asked.id}`, key, 'PATCH', { mapping: answer.mapping });
    expect([patched.status, patched.body.data.status, patched.body.data.reading_id]).toEqual([200, 'reading', null]);
    await runJobs(app);
    const ready = await getImport(app, key, asked.id);
    expect(ready).toMatchObject({ status: 'ready', readings: { dates: 'dmy' } });
    const old = { reading_id: asked.reading_id };
    const outdated = await send(`${app.url}/v1/imports/${asked.id}/confirm`, key, 'POST', old);
    expect([outdated.status, outdated.body.code, outdated.body.reading_id]).toEqual([
      409,
      'READING_OUTDATED',
      ready.reading_id,
    ]);
    await confirmRead(app, key, ready);
    const next = await readImport(app, key, 'commissions', csv('05/06/2026'));
    expect(next).toMatchObject({ status: 'ready', readings: { dates: 'dmy' } });
    expect((await send(`${app.url}/v1/imports/mappings`, key, 'GET')).body.data).toMatchObject([
      { of: 'commissions', source: 'Before Rollcall', mapping: { dates: 'dmy' } },
    ]);
  });

  it('refuses creators who are not on the roster, or adds them', async () => {
    const { key, get } = await open();
    const csv = 'email,name,amount,currency,date\nnew@creators.example,New One,5.00,EUR,2026-03-02\n';
    const refused = await readImport(app, key, 'commissions', csv);
    expect(refused.counts).toMatchObject({ new: 0, refused: 1 });
    expect(refused.refusals).toMatchObject([{ kind: 'unknown_creator', first_lines: [2] }]);
    const options = { add_creators: true };
    await send(`${app.url}/v1/imports/${refused.id}`, key, 'PATCH', { options });
    await runJobs(app);
    const done = await confirmRead(app, key, await getImport(app, key, refused.id));
    expect(done.result).toMatchObject({ written: 1 });
    expect((await get('/roster')).data).toMatchObject([{ creator_email: 'new@creators.example' }]);
  });

  it('of one order that paid two creators is two, and a report of the past stays known', async () => {
    const { key, get, add } = await open();
    await add('ana@creators.example');
    await add('ben@creators.example');
    const report = { creator_email: 'ana@creators.example', reference: 'OLD', amount: 1, currency: 'EUR' };
    await send(`${app.url}/v1/past-commissions/batch`, key, 'POST', {
      source: 'Before Rollcall',
      past_commissions: [{ ...report, paid_at: '2026-03-01T00:00:00Z' }],
    });
    const rows = ['ana@creators.example,OLD,1.00', 'ana@creators.example,R1,2.00', 'ben@creators.example,R1,3.00'];
    const csv = ['email,reference,amount,currency,date', ...rows.map((row) => `${row},EUR,2026-03-02`)].join('\n');
    const done = await importFile(app, key, 'commissions', csv);
    expect(done.result).toMatchObject({ written: 2, known: 1 });
    expect((await get('/past-commissions')).pagination.total).toBe(3);
    const again = await importFile(app, key, 'commissions', csv);
    expect(again.result).toMatchObject({ written: 0, known: 3 });
  });
});

describe('a file of creators', () => {
  it.each([
    [
      '05-roster-google-form.csv',
      [
        ['gf1@creators.example', 'Mia One', 'mia.one'],
        ['gf2@creators.example', 'Max Two', 'max.two'],
      ],
    ],
    [
      '06-roster-mailchimp.csv',
      [
        ['mc1@creators.example', 'Mia One', 'mia.one'],
        ['mc2@creators.example', 'Max Two', 'max.two'],
      ],
    ],
    [
      '07-roster-semicolon-comma.csv',
      [
        ['anamaria@creators.example', 'Ana Maria', null],
        ['joerg@creators.example', 'Jörg Müller', null],
      ],
    ],
    ['12-roster-tabs.csv', [['tab1@creators.example', 'Tab One', null]]],
  ])('%s is on the roster with names and handles', async (name, expected) => {
    const { key, get } = await open();
    expect(await importFile(app, key, 'roster', fixture(name))).toMatchObject({ status: 'done' });
    const people = (await get('/roster')).data.map((one: Record<string, string | null>) => [
      one.creator_email,
      one.creator_name,
      one.ig_handle,
    ]);
    expect(people.sort()).toEqual(expected);
  });

  it('brings codes with their rates, and those of a paused creator are inactive', async () => {
    const { key, get } = await open();
    await importFile(app, key, 'roster', fixture('13-roster-codes.csv'));
    const codes = (await get('/affiliates/links')).data.map((one: Record<string, unknown>) => [
      one.value,
      one.commission_rate,
      one.active,
    ]);
    expect(codes.sort()).toEqual([
      ['ANA10', 10, true],
      ['BEN10', 12.5, false],
    ]);
    expect((await get('/roster?status=paused')).pagination.total).toBe(1);
    const again = await readImport(app, key, 'roster', fixture('13-roster-codes.csv'));
    expect(again.counts).toMatchObject({ new: 0, known: 2 });
  });

  it('larger than the plan is refused before anything is written', async () => {
    const { key, get } = await open();
    const rows = Array.from({ length: 10_001 }, (_, i) => `n${i}@creators.example,Name ${i}`);
    const read = await readImport(app, key, 'roster', ['email,name', ...rows].join('\n'));
    const answer = await send(`${app.url}/v1/imports/${read.id}/confirm`, key, 'POST', { reading_id: read.reading_id });
    expect([answer.status, answer.body.code]).toEqual([403, 'CREATOR_LIMIT_REACHED']);
    expect((await get('/roster')).pagination.total).toBe(0);
  });
});

describe('a refusal', () => {
  it('names the field, the column of the file, the value, and what would be right', async () => {
    const { key, get, add } = await open();
    await add('ana@creators.example');
    const rows = [
      'ana@creators.example,5.00,EUR,31.02.2026',
      'ana@creators.example,5.005,EUR,2026-03-02',
      'ana@creators.example,,EUR,2026-03-02',
      'ana at creators,5.00,EUR,2026-03-02',
      'ana@creators.example,5.00,XXQ,2026-03-02',
      'nobody@creators.example,5.00,EUR,2026-03-02',
    ];
    const csv = `E-mail,Commission,Currency,Paid on\n${rows.join('\n')}\n`;
    const read = await readImport(app, key, 'commissions', csv, {
      mapping: '{"columns":{"paid_at":"Paid on","amount":"Commission"},"dates":"dmy"}',
    });
    const lines = (await get(`/imports/${read.id}/lines?outcome=refused`)).data;
    const said = lines.map(({ line, field, column, value, expected }: Record<string, unknown>) => [
      ...[line, field, column, value],
      String(expected).split(' such as ')[0],
    ]);
    expect(said).toEqual([
      [2, 'paid_at', 'Paid on', '31.02.2026', 'a date'],
      [3, 'amount', 'Commission', '5.005', 'no more decimals than the currency has'],
      [4, 'amount', 'Commission', '', 'an amount'],
      [5, 'email', 'E-mail', 'ana at creators', 'an address'],
      [6, 'currency', 'Currency', 'XXQ', 'a currency'],
      [7, 'email', 'E-mail', 'nobody@creators.example', 'a creator who is on the roster'],
    ]);
    expect(lines[0].message).toContain('“Paid on” says “31.02.2026”; right is a date such as 2026-03-31.');
    const [first] = read.refusals;
    expect([first.column, first.value, first.first_lines]).toEqual(['Paid on', '31.02.2026', [2]]);
    expect(read.sample[0].cells).toEqual(['ana@creators.example', '5.00', 'EUR', '31.02.2026']);
  });
});

describe('an import', () => {
  it('is undone to the figures before, and what something else touched since stays', async () => {
    const { brand, key, get } = await open();
    const make = (rows: string[]) => ['order_id,placed_at,amount,currency,customer_email', ...rows].join('\n');
    await importFile(app, key, 'orders', make(['A,2026-03-02T10:00:00Z,10.00,EUR,a@shop.example']), { source: 'Shop' });
    const before = await listOrders(get);
    const rows = Array.from({ length: 620 }, (_, i) => `B${i},2026-03-03T10:00:00Z,10.00,EUR,b${i}@shop.example`);
    const done = await importFile(app, key, 'orders', make(rows), { source: 'Shop' });
    expect(done.undo).toMatchObject({ possible: true, removes: 620, stays: 0, why: null });
    const touched = { source: 'Shop', order_id: 'B7', currency: 'EUR', amount: 11, placed_at: '2026-03-03T10:00:00Z' };
    clock.at += 1_000;
    await send(`${app.url}/v1/orders`, key, 'POST', touched);
    expect((await getImport(app, key, done.id)).undo).toMatchObject({ removes: 620, stays: 1 });

    expect((await send(`${app.url}/v1/imports/${done.id}/undo`, key, 'POST', {})).status).toBe(202);
    await runJobs(app);
    expect(await getImport(app, key, done.id)).toMatchObject({ status: 'undone', undo: { possible: false } });
    expect(await listOrders(get)).toEqual([...before, ['B7', 11, 'EUR', '2026-03-03']]);
    expect((await verifyLedger(app.context, brand.id)).problems).toEqual([]);
    const again = await send(`${app.url}/v1/imports/${done.id}/undo`, key, 'POST', {});
    expect([again.status, again.body.code]).toEqual([409, 'INVALID_STATE_TRANSITION']);
  });

  it('of commissions and of a roster is undone as well', async () => {
    const { key, get, add } = await open();
    await add('ana@creators.example');
    const commissions = await importFile(app, key, 'commissions', fixture('03-past-commissions-uk-dates.csv'));
    const roster = await importFile(app, key, 'roster', fixture('13-roster-codes.csv'));
    for (const { id } of [commissions, roster]) await send(`${app.url}/v1/imports/${id}/undo`, key, 'POST', {});
    await runJobs(app);
    expect((await get('/past-commissions')).pagination.total).toBe(0);
    expect(
      (await get('/roster?status=active')).data.map((one: { creator_email: string }) => one.creator_email),
    ).toEqual(['ana@creators.example']);
    expect((await get('/affiliates/links')).data.every(({ active }: { active: boolean }) => !active)).toBe(true);
  });

  it('takes JSON with text, needs a brand key, and refuses what is no table', async () => {
    const { brand, key } = await open();
    const text = 'email,name\nx@creators.example,X\n';
    const { status, body } = await send(`${app.url}/v1/imports`, key, 'POST', { of: 'roster', text });
    expect([status, body.data.status]).toEqual([202, 'reading']);
    expect((await send(`${app.url}/v1/imports`, await brand.key('data'), 'POST', { of: 'roster', text })).status).toBe(
      403,
    );
    const missing = await send(`${app.url}/v1/imports`, key, 'POST', { of: 'roster' });
    expect([missing.status, missing.body.details[0].field]).toEqual([422, 'text']);
    const pdf = await sendImport(app, key, 'roster', '%PDF-1.7', { name: 'list.csv' });
    expect([pdf.status, pdf.body.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    const empty = await readImport(app, key, 'roster', 'email,name\n');
    expect([empty.status, empty.refusals[0].kind]).toEqual(['refused', 'no_records']);
    const form = new FormData();
    form.append('of', 'nothing');
    form.append('file', file(text, 'a.csv'));
    const unknown = await call(`${app.url}/v1/imports`, key, { method: 'POST', body: form });
    expect([unknown.status, unknown.body.details[0].field]).toEqual([422, 'of']);
  });

  it('is discarded, and expires after a week with its file', async () => {
    const { key, get } = await open();
    const read = await readImport(app, key, 'roster', fixture('12-roster-tabs.csv'));
    const gone = await send(`${app.url}/v1/imports/${read.id}`, key, 'DELETE');
    expect([gone.status, gone.body.data.status]).toEqual([200, 'expired']);
    const other = await readImport(app, key, 'roster', fixture('12-roster-tabs.csv'));
    clock.at += 7 * 24 * 60 * 60_000 + 1;
    await expireImports.run(app.context);
    const { counts } = other;
    expect(await getImport(app, key, other.id)).toMatchObject({ status: 'expired', counts, sample: [] });
    expect((await get(`/imports/${other.id}/lines`)).data).toEqual([]);
    clock.at -= 7 * 24 * 60 * 60_000 + 1;
  });
});
