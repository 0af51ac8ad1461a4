import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runJobs } from '../harness/analytics/exporting.ts';
import { send, type TestApp } from '../harness/app.ts';
import { connectAgent, errorOf } from '../harness/interfaces/agent.ts';
import {
  confirmRead,
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

describe('a file of payment details', () => {
  const csv = (address: string, method = 'PayPal') =>
    `Email,PayPal email,Payment method,IBAN\nana@creators.example,${address},${method},DE00\n`;

  it('enters the first address of a creator once, and an undo takes it back', async () => {
    const { key, get, add } = await open();
    const { id } = (await add('ana@creators.example')).body.data;
    const read = await readImport(app, key, 'payment_details', csv('pay@ana.example'));
    expect(read).toMatchObject({ status: 'ready', counts: { new: 1, refused: 0 } });
    expect(read.warnings.map(({ code }: { code: string }) => code)).toContain('bank_details');
    const done = await confirmRead(app, key, read);
    expect(done).toMatchObject({ status: 'done', result: { written: 1 }, undo: { possible: true, removes: 1 } });
    const profile = async () => (await get(`/roster/${id}/payment`)).data;
    expect(await profile()).toMatchObject({ wallet_email: 'pay@ana.example', method: 'wallet', source: 'brand' });
    const again = await readImport(app, key, 'payment_details', csv('pay@ana.example'));
    expect(again.counts).toMatchObject({ new: 0, known: 1 });

    const undoing = await send(`${app.url}/v1/imports/${done.id}/undo`, key, 'POST', {});
    expect(undoing.status).toBe(202);
    await runJobs(app);
    expect((await getImport(app, key, done.id)).status).toBe('undone');
    expect(await profile()).toMatchObject({ wallet_email: null, method: null, source: 'mail' });
  });

  it('never changes an address that is known, and an undo keeps one that changed since', async () => {
    const { key, get, add } = await open();
    const { id } = (await add('ana@creators.example')).body.data;
    const done = await importFile(app, key, 'payment_details', csv('pay@ana.example'));
    const thief = await readImport(app, key, 'payment_details', csv('thief@mail.example'));
    expect(thief.counts).toMatchObject({ new: 0, differs: 1 });
    const [line] = (await get(`/imports/${thief.id}/lines?outcome=differs`)).data;
    expect(line.message).toContain('paid at another address');
    await confirmRead(app, key, thief);
    const profile = async () => (await get(`/roster/${id}/payment`)).data;
    expect(await profile()).toMatchObject({ wallet_email: 'pay@ana.example', waiting: null });
    await send(`${app.url}/v1/roster/${id}/payment`, key, 'PUT', { wallet_email: 'pay@ana.example', country: 'ES' });
    await send(`${app.url}/v1/imports/${done.id}/undo`, key, 'POST', {});
    await runJobs(app);
    expect(await profile()).toMatchObject({ wallet_email: 'pay@ana.example', country: 'ES' });
  });

  it('refuses strangers and ways of payment that there are not', async () => {
    const { key, add } = await open();
    await add('ana@creators.example');
    const rows = 'nobody@creators.example,n@mail.example,\nana@creators.example,a@mail.example,Pigeon\n';
    const read = await readImport(app, key, 'payment_details', `Email,PayPal email,Payment method\n${rows}`);
    expect(read.counts).toMatchObject({ new: 0, refused: 2 });
    expect(read.refusals.map(({ kind }: { kind: string }) => kind)).toEqual(['unknown_creator', 'method_unknown']);
  });
});

describe('a way of payment of a list', () => {
  it.each(['Venmo', 'Payoneer', 'Skrill', 'CashApp', 'Zelle', 'wallet (Venmo)'])(
    'that no file pays to gives its address to none: %s',
    async (method) => {
      const { key, get, add } = await open();
      const { id } = (await add('ana@creators.example')).body.data;
      const csv = `Email,Payment method,Payment email\nana@creators.example,${method},my.ana@mail.example\n`;
      const read = await readImport(app, key, 'payment_details', csv);
      expect(read.refusals.map(({ kind }: { kind: string }) => kind)).toEqual(['method_unknown']);
      expect((await get(`/roster/${id}/payment`)).data).toMatchObject({ wallet_email: null, method: null });
    },
  );

  it('at Wise is entered, and the reading says that only the file for Wise may pay there', async () => {
    const { key, get, add } = await open();
    const { id } = (await add('ana@creators.example')).body.data;
    const csv = 'Email,Payment method,Payment email\nana@creators.example,Wise,my.ana@mail.example\n';
    const read = await readImport(app, key, 'payment_details', csv);
    expect(read.warnings.map(({ code }: { code: string }) => code)).toContain('wise_addresses');
    await confirmRead(app, key, read);
    expect((await get(`/roster/${id}/payment`)).data).toMatchObject({ wallet_email: 'my.ana@mail.example' });
  });
});

describe('a file of payments', () => {
  it('settles the one open payout of its creator and amount, once, and says which it cannot match; an agent needs leave to pay', async () => {
    const { key, get, add } = await open();
    await add('ana@creators.example');
    await send(`${app.url}/v1/payouts`, key, 'POST', {
      ...{ creator_email: 'ana@creators.example', amount: 12.5, currency: 'EUR', method: 'manual' },
    });
    const csv = ['email,amount,currency,paid_at,reference,status']
      .concat(
        'ana@creators.example,12.50,EUR,2026-11-20,TX-1,paid',
        'ana@creators.example,99.00,EUR,2026-11-20,TX-2,paid',
      )
      .join('\n');
    const read = await readImport(app, key, 'payouts', csv);
    expect(read.counts).toMatchObject({ new: 1, refused: 1 });
    expect(read.refusals).toMatchObject([{ kind: 'matches_no_payout' }]);
    const agent = await connectAgent(app.url, key);
    const plan = { id: read.id, reading_id: read.reading_id, mode: 'plan' };
    const refused = await agent.callTool({ name: 'confirm_import', arguments: plan });
    expect(errorOf(refused)).toMatchObject({ code: 'POLICY_REFUSED', rule: 'money_out' });
    await send(`${app.url}/v1/agent-policy`, key, 'PATCH', { money_out: true });
    expect((await agent.callTool({ name: 'confirm_import', arguments: plan })).isError).toBeFalsy();
    await agent.close();
    const done = await confirmRead(app, key, read);
    expect(done).toMatchObject({ result: { written: 1, refused: 1 }, undo: { possible: false } });
    const [payout] = (await get('/payouts')).data;
    expect([payout.status, payout.reference, payout.paid_at.slice(0, 10)]).toEqual(['paid', 'TX-1', '2026-11-20']);
    const again = await readImport(app, key, 'payouts', csv);
    expect(again.counts).toMatchObject({ new: 0, known: 1, refused: 1 });
  });

  it("knows a payment by its day in the brand's time zone, which is another in UTC", async () => {
    const { key, add } = await open();
    await add('ana@creators.example');
    await send(`${app.url}/v1/brand`, key, 'PATCH', { settings: { time_zone: 'Pacific/Auckland' } });
    const paid = { creator_email: 'ana@creators.example', amount: 12.5, currency: 'EUR', method: 'manual' };
    const { id } = (await send(`${app.url}/v1/payouts`, key, 'POST', paid)).body.data;
    const settled = { status: 'paid', paid_at: '2026-11-20' };
    expect((await send(`${app.url}/v1/payouts/${id}`, key, 'PATCH', settled)).body.data.paid_at).toBe(
      '2026-11-19T11:00:00.000Z',
    );
    const readDay = async (day: string) => {
      const csv = `email,amount,currency,paid_at,status\nana@creators.example,12.50,EUR,${day},paid\n`;
      return (await readImport(app, key, 'payouts', csv)).counts;
    };
    expect(await readDay('2026-11-20')).toMatchObject({ new: 0, known: 1 });
    expect(await readDay('2026-11-19')).toMatchObject({ new: 0, known: 0, refused: 1 });
  });
});
