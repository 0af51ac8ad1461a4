import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runJobs } from '../harness/analytics/exporting.ts';
import { send, type TestApp } from '../harness/app.ts';
import {
  answerImport,
  getImport,
  makeImporter,
  readImport,
  sendImport,
  startImporting,
} from '../harness/platform/importing.ts';

const clock = { now: () => new Date('2026-11-27T18:00:00Z') };
let app: TestApp;
beforeAll(async () => {
  app = await startImporting(clock);
});
afterAll(() => app?.close());

interface Sampled {
  label: string;
  sample: { line: number; record: Record<string, unknown> | null; message: string | null; cells: string[] }[];
}

/** The first line of each answer, by a field of its record or the reason why there is none. */
const shown = (options: Sampled[], field: string) =>
  options.map(({ sample }) => sample.map(({ line, record, message }) => [line, record?.[field] ?? message]));

describe('a question of an import', () => {
  it('shows two lines of the file as each answer would read them', async () => {
    const { key, get, add } = await makeImporter(app);
    await add('ana@creators.example');
    const { data: roster } = await get('/roster');
    await send(`${app.url}/v1/roster/${roster[0].id}`, key, 'PATCH', { name: 'Ana Ruiz' });
    const paid = 'email,amount,currency,date\n';
    const rows = ['03/04/2026', '04/05/2026', '05/06/2026'].map((day) => `ana@creators.example,20.00,GBP,${day}\n`);
    const { questions: dates } = await readImport(app, key, 'commissions', paid + rows.join(''));
    expect(shown(dates[0].options, 'paid_at')).toEqual([
      [
        [2, '2026-04-03T12:00:00.000Z'],
        [3, '2026-05-04T12:00:00.000Z'],
      ],
      [
        [2, '2026-03-04T12:00:00.000Z'],
        [3, '2026-04-05T12:00:00.000Z'],
      ],
    ]);
    expect(dates[0].options[0].sample[0].cells).toEqual(['ana@creators.example', '20.00', 'GBP', '03/04/2026']);

    const status = 'order,date,amount,currency,email,status\n';
    const orders = `${status}1,2026-03-02,20.00,EUR,buyer@mail.example,odd\n2,2026-03-02,5.00,EUR,,paid\n`;
    const { questions: statuses } = await readImport(app, key, 'orders', orders);
    expect(shown(statuses[0].options, 'refunded')).toEqual([
      [[2, 0]],
      [[2, 20]],
      [[2, 'Line 2 is left out by its status.']],
    ]);
    expect(statuses[0].options[0].sample[0].record.customer_email).not.toContain('buyer@');

    const whole = 'order,date,amount,currency\n1,2026-03-02,12550,EUR\n2,2026-03-02,100,EUR\n';
    const { questions: units } = await readImport(app, key, 'orders', whole);
    expect(shown(units[0].options, 'amount')).toEqual([
      [
        [2, 12_550],
        [3, 100],
      ],
      [
        [2, 125.5],
        [3, 1],
      ],
    ]);

    const totals = `${paid}ana@creators.example,20.00,GBP,2026-03-02\nTotal,30.00,,\n`;
    const { questions: sums } = await readImport(app, key, 'commissions', totals);
    expect(shown(sums[0].options, 'amount')).toEqual([[[3, 'Line 3 adds up the lines above.']]]);

    const named = 'name,amount,currency,date\nAna Ruiz,20.00,GBP,2026-03-02\n';
    const { questions: people } = await readImport(app, key, 'commissions', named);
    expect(shown(people[0].options, 'email')).toEqual([[[2, 'ana@creators.example']]]);
  });
});

it('A file in an encoding that its bytes do not prove shows cells as they are read, until another is chosen', async () => {
  const { key } = await makeImporter(app);
  const text = 'email,name\nana@creators.example,J\u00f6rg M\u00fcller\n';
  const latin = Uint8Array.from(Buffer.from(text, 'latin1'));
  const read = await readImport(app, key, 'roster', latin);
  expect(read.text).toMatchObject({
    encoding: expect.stringContaining('windows'),
    differing: [{ line: 2, text: 'Jörg Müller' }],
  });
  expect((await answerImport(app, key, read, { encoding: 'windows-1251' })).text.differing).toEqual([
    { line: 2, text: 'Jцrg Mьller' },
  ]);
  expect((await readImport(app, key, 'roster', text)).text).toMatchObject({ encoding: 'utf-8', differing: [] });
});

describe('a mapping that names what the file lacks', () => {
  const text = 'Person;Sum;Day\nana@creators.example;20,00;2026-03-02\n';
  const missing = {
    field: 'mapping.columns.amount',
    code: 'not_found',
    message: 'is “Betrag”, a column that the file lacks. It has Person, Sum, Day.',
  };

  it('is refused by the call that sends it, in words of the file, and changes nothing', async () => {
    const { key, get } = await makeImporter(app);
    const mapping = { columns: { amount: 'Betrag' } };
    const json = await send(`${app.url}/v1/imports`, key, 'POST', { of: 'commissions', text, mapping });
    expect([json.status, json.body.details]).toEqual([422, [missing]]);
    const form = await sendImport(app, key, 'commissions', text, { mapping: JSON.stringify(mapping) });
    expect([form.status, form.body.details]).toEqual([422, [missing]]);
    const large = text + 'ana@creators.example;20,00;2026-03-02\n'.repeat(80_000);
    const long = await sendImport(app, key, 'commissions', large, { mapping: JSON.stringify(mapping) });
    expect([long.status, long.body.details]).toEqual([422, [missing]]);
    expect((await get('/imports')).data).toEqual([]);

    const { id, reading_id } = await readImport(app, key, 'commissions', text);
    for (const [change, problem] of [
      [mapping, missing],
      [{ columns: { rate: 'Sum' } }, { field: 'mapping.columns.rate', code: 'invalid' }],
      [{ encoding: 'klingon' }, { field: 'mapping.encoding', code: 'invalid' }],
    ] as const) {
      const { status, body } = await send(`${app.url}/v1/imports/${id}`, key, 'PATCH', { mapping: change });
      expect([status, body.details]).toMatchObject([422, [problem]]);
    }
    expect(await getImport(app, key, id)).toMatchObject({ status: 'needs_answers', reading_id, mapping: {} });
  });
});

it('A refusal names who is not on the roster, and the field that a file lacks', async () => {
  const { key } = await makeImporter(app);
  const handles = 'Handle,Amount,Currency,Date\n@ana.lopez,20.50,EUR,2026-03-02\n';
  const { refusals } = await readImport(app, key, 'payouts', handles);
  expect(refusals).toMatchObject([
    {
      kind: 'unknown_creator',
      message: 'Line 2: ana.lopez is not on the roster.',
      field: 'handle',
      value: '@ana.lopez',
    },
  ]);
  const months = 'Email,Month,Commission\nana@creators.example,Oct,10.00\n';
  const { status, refusals: whole } = await readImport(app, key, 'commissions', months);
  expect(status).toBe('refused');
  expect(whole).toMatchObject([
    { kind: 'no_column', field: 'paid_at', column: null, value: null, expected: 'a date such as 2026-03-31' },
  ]);
});

it('An import that fails says why in its own answer and in the list, as its job does', async () => {
  const { key, get } = await makeImporter(app);
  const { id } = (await sendImport(app, key, 'roster', 'Email\nana@creators.example\n')).body.data;
  await app.context.postgres.db.updateTable('imports').set({ storageKey: null }).where('id', '=', id).execute();
  await runJobs(app);
  const failed = { id, status: 'failed', error: 'The file was removed; send it again.' };
  expect(await getImport(app, key, id)).toMatchObject(failed);
  expect((await get('/imports')).data).toMatchObject([failed]);
});

describe('a mapping or an option that changes nothing for its file', () => {
  const FILE = 'email,amount,currency,date\nana@creators.example,20.00,GBP,2026-03-04 10:00\n';

  it.each([
    ['mapping', { constants: { sku: 'A' } }, 'mapping.constants.sku'],
    ['mapping', { constants: { curency: 'USD' } }, 'mapping.constants.curency'],
    ['mapping', { constants: { currency: 'XXQ' } }, 'mapping.constants.currency'],
    ['mapping', { symbols: { $: 'FOO' } }, 'mapping.symbols.$'],
    ['mapping', { time_zone: 'Mars/Base' }, 'mapping.time_zone'],
    ['options', { pays: true }, 'options.pays'],
    ['options', { create: true }, 'options.create'],
  ])('is refused when a file is sent and when it is read again: %s %j', async (part, said, field) => {
    const { key } = await makeImporter(app);
    const refused = await sendImport(app, key, 'commissions', FILE, { [part]: JSON.stringify(said) });
    expect(refused.status).toBe(422);
    expect(refused.body.details.map((one: { field: string }) => one.field)).toEqual([field]);
    const before = await readImport(app, key, 'commissions', FILE);
    const patched = await send(`${app.url}/v1/imports/${before.id}`, key, 'PATCH', { [part]: said });
    expect(patched.status).toBe(422);
    expect(await getImport(app, key, before.id)).toEqual(before);
  });
});
