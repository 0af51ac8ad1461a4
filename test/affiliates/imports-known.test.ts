import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { send, type TestApp } from '../harness/app.ts';
import {
  answerImport,
  confirmRead,
  fixture,
  getImport,
  importFile,
  makeImporter,
  readImport,
  startImporting,
} from '../harness/platform/importing.ts';

const clock = { at: Date.parse('2026-11-27T18:00:00Z'), now: () => new Date(clock.at) };
let app: TestApp;
beforeAll(async () => {
  app = await startImporting(clock);
});
afterAll(() => app?.close());

const open = (currency?: string) => makeImporter(app, currency);

const answer = (key: string, one: { id: string }, mapping: object) => answerImport(app, key, one, mapping);

describe('an import that meets known records', () => {
  it('asks about ids that are known only without the zeros before them', async () => {
    const { key, get } = await open();
    const make = (...rows: string[]) =>
      ['order_id,placed_at,amount,currency', ...rows.map((row) => `${row},EUR`)].join('\n');
    const [first, second] = ['00123,2026-03-02T10:00:00Z,10.00', '124,2026-03-02T10:00:00Z,20.00'];
    await importFile(app, key, 'orders', make(first, second));
    const again = make(
      '123,2026-03-02T10:00:00Z,10.00',
      '000124,2026-03-02T10:00:00Z,20.00',
      '7,2026-03-02T10:00:00Z,5.00',
    );
    const asked = await readImport(app, key, 'orders', again);
    const [question] = asked.questions;
    expect(question).toMatchObject({ code: 'leading_zeros', lines: 2, first_lines: [2, 3] });
    expect(question.message).toContain('is 123 the known order 00123?');
    const sums = question.options.map((one: { records: number; sums: { net: number }[] }) => [
      one.records,
      one.sums[0]?.net,
    ]);
    expect(sums).toEqual([
      [1, 5],
      [3, 35],
    ]);
    const same = await answer(key, asked, { zeros: 'same' });
    expect(same.counts).toMatchObject({ new: 1, known: 2 });
    expect((await confirmRead(app, key, same)).result).toMatchObject({ written: 1, known: 2 });
    expect((await get('/orders')).pagination.total).toBe(3);
  });

  it('is confirmed by a plan only as the plan shows it', async () => {
    const { key } = await open();
    const csv = 'order_id,placed_at,amount,currency\nL1,2026-03-02T10:00:00Z,10.00,EUR\n';
    const read = await readImport(app, key, 'orders', csv);
    const plan = async (reading_id: string) => {
      const path = `${app.url}/v1/imports/${read.id}/confirm?mode=plan`;
      return (await send(path, key, 'POST', { reading_id })).body.plan_id;
    };
    const apply = async (id: string) => (await send(`${app.url}/v1/plans/${id}/apply`, key, 'POST')).body.code;
    const early = await plan(read.reading_id);
    const changed = await answer(key, read, { time_zone: 'Asia/Tokyo' });
    expect(await apply(early)).toBe('PLAN_OUTDATED');
    const late = await plan(changed.reading_id);
    const reported = { source: 'Till', order_id: 'T1', currency: 'EUR', amount: 11, placed_at: '2026-03-03T10:00:00Z' };
    await send(`${app.url}/v1/orders`, key, 'POST', reported);
    expect(await apply(late)).toBe('PLAN_OUTDATED');
    expect((await getImport(app, key, read.id)).status).toBe('ready');
    expect(await apply(await plan(changed.reading_id))).toBeUndefined();
  });

  it('refuses a creator whose handle another address of the file has, and gives them no codes', async () => {
    const { key, get } = await open();
    const rows = ['Ana,ana@x.example,@same,ANA9', 'Ben,ben@x.example,@same,BEN9', 'Cy,,@same,CY9'];
    const done = await importFile(app, key, 'roster', ['Name,Email,Instagram,Code', ...rows].join('\n'));
    expect(done.refusals).toMatchObject([{ kind: 'several_creators', first_lines: [3] }]);
    const codes = (await get('/affiliates/links')).data.map((one: Record<string, string>) => [
      one.value,
      one.creator_email,
    ]);
    expect(codes.sort()).toEqual([
      ['ANA9', 'ana@x.example'],
      ['CY9', 'ana@x.example'],
    ]);
  });

  it('fills in what the roster lacks where that is wanted', async () => {
    const { key, get, add } = await open();
    await add('mc1@creators.example');
    const asked = await readImport(app, key, 'roster', fixture('06-roster-mailchimp.csv'));
    expect(asked.questions).toMatchObject([{ code: 'known_differ', message: expect.stringContaining('Instagram') }]);
    const done = await confirmRead(app, key, await answer(key, asked, { known: 'update' }));
    expect(done.result).toMatchObject({ written: 1, updated: 1 });
    const people = (await get('/roster')).data.map((one: Record<string, string>) => [one.creator_name, one.ig_handle]);
    expect(people.sort()).toEqual([
      ['Max Two', 'max.two'],
      ['Mia One', 'mia.one'],
    ]);
  });
});
