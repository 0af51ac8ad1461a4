import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expireImports } from '../../src/affiliates/imports/imports.jobs.ts';
import { runTurns } from '../../src/platform/jobs/turns.ts';
import { runJobs } from '../harness/analytics/exporting.ts';
import { send, type TestApp, until } from '../harness/app.ts';
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
import { signIn } from '../harness/platform/session.ts';

const clock = { at: Date.parse('2026-11-27T18:00:00Z'), now: () => new Date(clock.at) };
let app: TestApp;
beforeAll(async () => {
  app = await startImporting(clock);
});
afterAll(() => app?.close());

const open = () => makeImporter(app);

describe('an import', () => {
  it('has limits of columns and of imports at once, which are said', async () => {
    const { key } = await open();
    const wide = `${Array.from({ length: 501 }, (_, i) => `c${i}`).join(',')}\n${'1,'.repeat(500)}1\n`;
    const refused = await readImport(app, key, 'roster', wide);
    expect([refused.status, refused.refusals[0].kind]).toEqual(['refused', 'too_many_columns']);
    for (let i = 0; i < 20; i += 1)
      expect((await sendImport(app, key, 'roster', `email\na${i}@x.example\n`)).status).toBe(202);
    const one = await sendImport(app, key, 'roster', 'email\nb@x.example\n');
    expect([one.status, one.body.code]).toEqual([409, 'CONFLICT']);
    expect(JSON.stringify(one.body)).toContain('at most 20 unconfirmed imports');
  });

  it('is sent, confirmed and undone by managers, and only seen by viewers', async () => {
    const { brand, key } = await open();
    const read = await readImport(app, key, 'roster', fixture('12-roster-tabs.csv'));
    const owner = await signIn(app, brand.id);
    await owner.send('POST', '/v1/people', { email: 'v@brand.example', role: 'viewer' });
    const viewer = await signIn(app, brand.id, 'v@brand.example');
    expect((await viewer.get(`/v1/imports/${read.id}`)).status).toBe(200);
    for (const [method, path, body] of [
      ['POST', '/v1/imports', { of: 'roster', text: 'email\na@x.example\n' }],
      ['PATCH', `/v1/imports/${read.id}`, { mapping: {} }],
      ['POST', `/v1/imports/${read.id}/confirm`, { reading_id: read.reading_id }],
      ['POST', `/v1/imports/${read.id}/undo`, undefined],
      ['DELETE', `/v1/imports/${read.id}`, undefined],
    ] as const) {
      const answer = await viewer.send(method, path, body);
      expect([path, answer.status, answer.body.code]).toEqual([path, 403, 'ROLE_REQUIRED']);
    }
  });

  it('keeps what it wrote when it is stopped, and can be undone from there', async () => {
    const { key, get } = await open();
    const rows = Array.from({ length: 1_700 }, (_, i) => `K${i},2026-03-02T10:00:00Z,1.00,EUR`);
    const read = await readImport(app, key, 'orders', ['order_id,placed_at,amount,currency', ...rows].join('\n'));
    await send(`${app.url}/v1/imports/${read.id}/confirm`, key, 'POST', { reading_id: read.reading_id });
    const closing = new AbortController();
    const turn = runTurns.run({ ...app.context, stopping: closing }, 1);
    await until('some are written', async () => (await getImport(app, key, read.id)).handled > 0);
    closing.abort();
    await turn;
    const stopped = (await send(`${app.url}/v1/imports/${read.id}`, key, 'DELETE')).body.data;
    expect(stopped.status).toBe('stopped');
    await runJobs(app);
    const { total } = (await get('/orders?limit=1')).pagination;
    expect(total).toBeGreaterThan(0);
    expect(await getImport(app, key, read.id)).toMatchObject({
      status: 'stopped',
      handled: total,
      result: { written: total },
      undo: { removes: total },
    });
    await send(`${app.url}/v1/imports/${read.id}/undo`, key, 'POST', {});
    await runJobs(app);
    expect((await get('/orders?limit=1')).pagination.total).toBe(0);
  });

  it('keeps its lines for a week after its end, then counts and sums alone', async () => {
    const { key, get } = await open();
    const done = await importFile(app, key, 'roster', fixture('12-roster-tabs.csv'));
    expect((await get(`/imports/${done.id}/lines`)).data).toHaveLength(1);
    clock.at += 8 * 24 * 60 * 60_000;
    await expireImports.run(app.context);
    expect((await get(`/imports/${done.id}/lines`)).data).toEqual([]);
    expect(await getImport(app, key, done.id)).toMatchObject({
      status: 'done',
      counts: { new: 1 },
      undo: { possible: true },
    });
  });
});

describe('what an import said', () => {
  it('is kept for the next file of its source, but not the day of a payment, and not against what the file proves', async () => {
    const { key, get, add } = await open();
    await add('ana@creators.example');
    const list = (amount: string) => `ID,Name,Email,Amount,Currency\n1,Ana,ana@creators.example,${amount},EUR\n`;
    const asked = await readImport(app, key, 'payouts', list('10.50'), { options: '{"create":true}' });
    expect(asked.questions.map(({ code }: { code: string }) => code)).toEqual(['proof']);
    const said = await answerImport(app, key, asked, asked.questions[0].options[0].mapping);
    expect(await confirmRead(app, key, said)).toMatchObject({ status: 'done', result: { written: 1 } });
    const next = await readImport(app, key, 'payouts', list('12.50'), { options: '{"create":true}' });
    expect(next.questions.map(({ code }: { code: string }) => code)).toEqual(['proof']);

    const roster = (...rows: string[]) => ['Name;E-Mail;Code;Rate;Status', ...rows].join('\n');
    const first = await readImport(app, key, 'roster', roster('Ben;ben@creators.example;BEN7;0,1;Aktiv'));
    await confirmRead(
      app,
      key,
      await answerImport(app, key, first, { rate: 'fraction', statuses: { Aktiv: 'active' } }),
    );
    const second = await readImport(app, key, 'roster', roster('Cy;cy@creators.example;CY7;10;Gesperrt'));
    expect(second.questions.map(({ id }: { id: string }) => id)).toEqual(['status_meaning:gesperrt']);
    await confirmRead(app, key, await answerImport(app, key, second, { statuses: { Gesperrt: 'paused' } }));
    const third = await readImport(app, key, 'roster', roster('Di;di@creators.example;DI7;12,5;Aktiv'));
    expect(third.status).toBe('ready');
    await confirmRead(app, key, third);
    const codes = (await get('/affiliates/links')).data.map((one: Record<string, unknown>) => [
      one.value,
      one.commission_rate,
    ]);
    expect(codes.sort()).toEqual([
      ['BEN7', 10],
      ['CY7', 10],
      ['DI7', 12.5],
    ]);
    const [mapping] = (await get('/imports/mappings')).data;
    expect((await send(`${app.url}/v1/imports/mappings/${mapping.id}`, key, 'DELETE')).status).toBe(200);
  });
});
