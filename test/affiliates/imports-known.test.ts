import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runJobs } from '../harness/analytics/exporting.ts';
import { send, type TestApp } from '../harness/app.ts';
import { mailsOf } from '../harness/kit/mail.ts';
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

describe('a roster file again', () => {
  const file = (...rows: string[]) => ['Name,Email,Code,Rate,Status,Tags,Notes', ...rows].join('\n');

  it('after its undo, or of a creator who was removed, brings codes that pay at the rate of the file', async () => {
    const { key, get } = await open();
    const codes = async () =>
      (await get('/affiliates/links')).data.map((one: Record<string, unknown>) => [
        one.value,
        one.commission_rate,
        one.active,
      ]);
    const first = await importFile(app, key, 'roster', file('Ana,ana@x.example,ANA9,10%,Active,,'));
    await send(`${app.url}/v1/imports/${first.id}/undo`, key, 'POST');
    await runJobs(app);
    expect(await codes()).toEqual([['ANA9', 10, false]]);
    const second = await importFile(app, key, 'roster', file('Ana,ana@x.example,ANA9,15%,Active,,'));
    expect(second.result).toMatchObject({ written: 1 });
    expect(await codes()).toEqual([['ANA9', 15, true]]);
    const { undo } = await getImport(app, key, second.id);
    expect(undo).toMatchObject({ possible: true });
    await send(`${app.url}/v1/imports/${second.id}/undo`, key, 'POST');
    await runJobs(app);
    expect(await codes()).toEqual([['ANA9', 15, false]]);
    expect((await get('/roster?status=active')).pagination.total).toBe(0);
  });

  it('says of each record in what it differs, and fills in only what the roster lacks', async () => {
    const { key, get } = await open();
    const known = file('Ana,ana@x.example,ANA9,10%,Active,vip,', 'Ben,ben@x.example,BEN9,10%,Active,,');
    await importFile(app, key, 'roster', known);
    expect((await readImport(app, key, 'roster', known)).counts).toMatchObject({ known: 2, differs: 0 });
    const differences: [string, string][] = [
      ['Ana,ana@x.example,ANA9,15%,Active,vip,', 'their code ANA9 is known with 10%'],
      ['Ana,ana@x.example,ANA9,10%,Paused,vip,', 'they are known as active'],
      ['Ana,ana@x.example,ANA9,10%,Active,gold,', 'without the tags gold'],
      ['Ben,ben@x.example,BEN9,10%,Active,vip,likes tea', 'the roster lacks their tags, note'],
    ];
    for (const [row, said] of differences) {
      const read = await readImport(app, key, 'roster', file(row));
      const [line] = (await get(`/imports/${read.id}/lines?outcome=differs`)).data;
      expect(line?.message, row).toContain(said);
      const { questions } = read;
      await confirmRead(app, key, questions.length > 0 ? await answer(key, read, { known: 'update' }) : read);
    }
    const entries = (await get('/roster')).data.map((one: Record<string, unknown>) => [
      one.creator_name,
      one.status,
      one.tags,
      one.note,
    ]);
    expect(entries.sort()).toEqual([
      ['Ana', 'active', ['vip'], null],
      ['Ben', 'active', ['vip'], 'likes tea'],
    ]);
    const [link] = (await get('/affiliates/links')).data.filter((one: { value: string }) => one.value === 'ANA9');
    expect(link.commission_rate).toBe(10);
    await send(`${app.url}/v1/affiliates/links/${link.id}`, key, 'PATCH', { active: false });
    const off = await readImport(app, key, 'roster', file('Ana,ana@x.example,ANA9,10%,Active,vip,'));
    const [line] = (await get(`/imports/${off.id}/lines?outcome=differs`)).data;
    expect(line?.message).toContain('their code ANA9 is switched off');
  });
});

describe('a source', () => {
  it('is the same in another case, so that nothing of its files is recorded twice', async () => {
    const { key, get } = await open();
    const csv = 'order_id,placed_at,amount,currency\nS1,2026-03-02T10:00:00Z,10.00,EUR\n';
    await importFile(app, key, 'orders', csv, { source: 'Old Shop' });
    const again = await readImport(app, key, 'orders', csv, { source: 'old shop' });
    expect([again.source, again.counts.known]).toEqual(['Old Shop', 1]);
    expect((await get('/orders')).pagination.total).toBe(1);
  });
});

describe('an order that is called off', () => {
  const file = (status: string, ...extra: string[]) =>
    ['order_id,placed_at,amount,currency,status', `C1,2026-03-02T10:00:00Z,50.00,EUR,${status}`, ...extra].join('\n');

  it.each(['cancelled', 'voided', 'storniert'])(
    'as %s is cancelled where it is known and the newer file counts',
    async (status) => {
      const { key, get } = await open();
      await importFile(app, key, 'orders', file('paid'));
      const unknown = `C2,2026-03-02T10:00:00Z,9.00,EUR,${status}`;
      const asked = await readImport(app, key, 'orders', file(status, unknown));
      const decided = asked.questions.some((one: { code: string }) => one.code === 'status_meaning')
        ? await answer(key, asked, { statuses: { [status]: 'left_out' } })
        : asked;
      expect(decided.questions).toMatchObject([
        { code: 'known_differ', message: expect.stringContaining('not cancelled') },
      ]);
      expect(decided.counts).toMatchObject({ differs: 1, left_out: 1 });
      const done = await confirmRead(app, key, await answer(key, decided, { known: 'update' }));
      expect(done.result).toMatchObject({ written: 0, updated: 1 });
      const orders = (await get('/orders')).data.map((one: Record<string, unknown>) => [
        one.order_id,
        one.cancelled_at !== null,
      ]);
      expect(orders).toEqual([['C1', true]]);
      expect((await readImport(app, key, 'orders', file(status, unknown))).counts).toMatchObject({
        differs: 0,
        left_out: 2,
      });
    },
  );
});

describe('a roster with destinations', () => {
  const SHOP = 'https://shop.example';
  const roster = (...rows: string[]) => ['Name,Email,Code,Rate,Status,Destination URL', ...rows].join('\n');

  it('gives each creator a link with the rate of its row, once, and an undo deactivates it', async () => {
    const { brand, key, get } = await open();
    await send(`${app.url}/v1/brand`, key, 'PATCH', { settings: { default_commission_rate: 7 } });
    const file = roster(
      `Ana,ana@x.example,ANA9,10%,Active,${SHOP}/summer`,
      `Ana,ana@x.example,,15%,Active,${SHOP}/winter`,
      `Ben,ben@x.example,,,Active,${SHOP}/summer`,
      `Cy,cy@x.example,,12.5%,Blocked,${SHOP}/`,
      'Di,di@x.example,,20%,Active,',
    );
    const read = await readImport(app, key, 'roster', file);
    expect(read.warnings).toEqual([]);
    const done = await confirmRead(app, key, read);
    expect(done.result).toMatchObject({ written: 4, refused: 0 });
    const list = async () =>
      (await get('/affiliates/links?type=link')).data
        .map((one: Record<string, unknown>) => [
          one.creator_email,
          one.destination_url,
          one.commission_rate,
          one.active,
        ])
        .sort();
    expect(await list()).toEqual([
      ['ana@x.example', `${SHOP}/summer`, 10, true],
      ['ana@x.example', `${SHOP}/winter`, 15, true],
      ['ben@x.example', `${SHOP}/summer`, 7, true],
      ['cy@x.example', `${SHOP}/`, 12.5, false],
    ]);
    const { data: links } = await get('/affiliates/links?type=link');
    for (const { url, value } of links) expect(url).toContain(`/r/${value}`);
    expect(await mailsOf(app.context, brand.id)).toEqual([]);
    const { data: entries } = await get(`/audit-log?resource_id=${links[0].id}`);
    expect(entries).toHaveLength(1);

    const again = await readImport(app, key, 'roster', file);
    expect(again.counts).toMatchObject({ new: 0, known: 4 });
    const more = roster(`Ben,ben@x.example,,,Active,${SHOP}/summer`, `Ben,ben@x.example,,,Active,${SHOP}/winter`);
    expect((await importFile(app, key, 'roster', more)).result).toMatchObject({ written: 1 });
    expect(await list()).toHaveLength(5);

    await send(`${app.url}/v1/imports/${done.id}/undo`, key, 'POST', {});
    await runJobs(app);
    const actives = (await list()).filter(([, , , isActive]: unknown[]) => isActive);
    expect(actives).toEqual([['ben@x.example', `${SHOP}/winter`, 7, true]]);
    expect(await mailsOf(app.context, brand.id)).toEqual([]);
  });

  it('refuses what is no web address, and short links of this installation', async () => {
    const { key, get } = await open();
    const own = `${app.context.config.linksUrl}/r/ana`;
    const rows = [
      'Ana,ana@x.example,,10%,Active,shop.example/summer',
      `Ben,ben@x.example,,10%,Active,${own}`,
      `Cy,cy@x.example,,10%,Active,${SHOP}/`,
      'Cy,cy@x.example,,10%,Active,ftp://shop.example/',
    ];
    const done = await importFile(app, key, 'roster', roster(...rows));
    expect(done.result).toMatchObject({ written: 0 });
    const { data } = await get(`/imports/${done.id}/lines?outcome=refused`);
    const refusals = data.map((one: Record<string, unknown>) => [one.line, one.kind, one.field, one.column, one.value]);
    const where = ['destination_url', 'Destination URL'];
    expect(refusals).toEqual([
      [2, 'destination_unreadable', ...where, 'shop.example/summer'],
      [3, 'destination_circular', ...where, own],
      [4, 'destination_unreadable', ...where, 'ftp://shop.example/'],
    ]);
    expect(data[0].message).toContain('right is an address such as https://shop.example/summer.');
    expect(data[1].message).toContain(`its destination ${own} is itself a short link.`);
    expect((await get('/affiliates/links')).pagination.total).toBe(0);
  });
});
