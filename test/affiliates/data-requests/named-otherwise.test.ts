import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runJobs } from '../../harness/analytics/exporting.ts';
import { call, send, type TestApp, unique, until } from '../../harness/app.ts';
import {
  confirmRead,
  getImport,
  importFile,
  makeImporter,
  readImport,
  sendImport,
  startImporting,
} from '../../harness/platform/importing.ts';
import { findTraces } from '../../harness/platform/traces.ts';

const clock = { at: Date.parse('2026-11-27T18:00:00Z'), now: () => new Date(clock.at) };
let app: TestApp;
beforeAll(async () => {
  app = await startImporting(clock);
});
afterAll(() => app?.close());

const KEEP = { mapping: '{"known":"keep"}' };
const traces = (...texts: string[]) => findTraces(app.context.postgres.db, texts);
const low = (text: string) => unique(text).toLowerCase().replaceAll('-', '');

async function open() {
  const importer = await makeImporter(app);
  const post = (path: string, body: object) => send(`${app.url}/v1${path}`, importer.key, 'POST', body);
  const ask = async (kind: string, who: object) => (await post('/data-requests', { kind, ...who })).body;
  const removed = async (who: object, kind = 'erasure') => {
    const body = await ask(kind, who);
    expect(body.data?.state, JSON.stringify(body)).toBe('done');
    return body.data.removed;
  };
  return { ...importer, post, ask, removed };
}

describe('the address of a profile', () => {
  it('means nobody on another platform: neither an erasure, a file nor a list takes the other creator of the name', async () => {
    const { get, post, removed } = await open();
    const who = low('anna');
    await post('/roster/add', { ig_handle: who, name: 'Anna Insta' });
    for (const kind of ['access', 'erasure']) {
      expect(await removed({ creator_handle: `https://www.tiktok.com/@${who}` }, kind)).toEqual({});
    }
    await post('/roster/add', { tt_handle: who, name: 'Anna Tik' });
    for (const [address, name] of [
      [`instagram.com/${who}`, 'Anna Insta'],
      [`tiktok.com/@${who.toUpperCase()}`, 'Anna Tik'],
    ] as const) {
      const query = `handle=${encodeURIComponent(address)}`;
      expect((await get(`/roster?${query}`)).data).toMatchObject([{ creator_name: name }]);
      expect((await get(`/creators?${query}`)).data).toMatchObject([{ name }]);
    }
    expect((await get(`/roster?handle=${who}`)).data).toHaveLength(2);
    expect(await removed({ creator_handle: `tiktok.com/@${who}` })).toMatchObject({ creators: 1 });
    expect((await get('/roster')).data).toMatchObject([{ creator_name: 'Anna Insta' }]);
  });

  it('means nobody on another platform in a file that waits, whatever else has the name', async () => {
    const { key, post, removed } = await open();
    const who = low('both');
    await post('/roster/add', { ig_handle: who });
    const file = (column: string) => readImport(app, key, 'roster', `Name,${column}\nBoth Both,${who}\n`, KEEP);
    const [instagram, tiktok] = [await file('Instagram'), await file('TikTok')];
    expect(await removed({ creator_handle: `tiktok.com/@${who}` })).toMatchObject({ imports: 1, import_lines: 1 });
    expect((await getImport(app, key, tiktok.id)).status).toBe('failed');
    expect((await getImport(app, key, instagram.id)).status).toBe('ready');
  });
});

describe('somebody whom only a file that waits names', () => {
  it.each(['handle', 'address'])('is told and taken by a %s, and does not come with the file', async (form) => {
    const { key, get, removed } = await open();
    const who = low('pend');
    const read = await readImport(app, key, 'roster', `Name,Instagram\nPenda Waitova,${who}\n`);
    const creator_handle = form === 'handle' ? `@${who}` : `instagram.com/${who}`;
    expect(await removed({ creator_handle }, 'access')).toEqual({ imports: 1, import_lines: 1 });
    expect(await removed({ creator_handle })).toMatchObject({ imports: 1, import_lines: 1 });
    expect((await getImport(app, key, read.id)).status).toBe('failed');
    expect(await traces(who, 'Penda Waitova')).toEqual([]);
    expect(await removed({ creator_handle })).toEqual({});
    expect((await get('/roster')).data).toEqual([]);
  });

  it('is kept away by a handle from a file that is read or recorded only then', async () => {
    const { key, get, post, removed } = await open();
    const who = low('late');
    const own = await readImport(app, key, 'roster', `Name,Instagram\nLate Lateova,${who}\n`, KEEP);
    const other = await readImport(app, key, 'roster', `Name,TikTok\nOther Otherova,${who}\n`, KEEP);
    for (const { id, reading_id } of [own, other])
      expect((await post(`/imports/${id}/confirm`, { reading_id })).status).toBe(202);
    const { body } = await sendImport(app, key, 'roster', `Name,Instagram\nLate Lateova,${who}\n`);
    await removed({ creator_handle: `instagram.com/${who}` });
    await until('every file has ended', async () => {
      // What another turn left is due a moment later.
      clock.at += 60_000;
      await runJobs(app);
      const ends = await Promise.all([own, other, body.data].map(({ id }) => getImport(app, key, id)));
      return ends.every(({ status }) => status === 'done' || status === 'failed');
    });
    expect(await getImport(app, key, own.id)).toMatchObject({ status: 'done', result: { written: 0, refused: 1 } });
    expect(await getImport(app, key, other.id)).toMatchObject({ status: 'done', result: { written: 1, refused: 0 } });
    expect((await getImport(app, key, body.data.id)).status).toBe('failed');
    expect((await get('/roster')).data).toMatchObject([{ ig_handle: null, tt_handle: who }]);
  });

  const ORDERS = 'order_id,placed_at,amount,currency,customer_email\n';
  const order = (id: string, email: string) => `${id},2026-03-02T10:00:00Z,5.00,EUR,${email}\n`;

  it('is told and taken by the id of an order, and an order of which the file is recorded comes without them', async () => {
    const { key, get, post, removed } = await open();
    const [id, email] = [low('o'), `${low('buys')}@mail.example`];
    const read = await readImport(app, key, 'orders', ORDERS + order(id, email));
    expect(await removed({ order_ids: [id] }, 'access')).toEqual({ imports: 1, import_lines: 1 });
    expect(await removed({ order_ids: [id] })).toMatchObject({ imports: 1, import_lines: 1 });
    expect((await getImport(app, key, read.id)).status).toBe('failed');

    const later = await readImport(app, key, 'orders', ORDERS + order(id, email) + order(`${id}x`, email));
    await post(`/imports/${later.id}/confirm`, { reading_id: later.reading_id });
    await removed({ order_ids: [id] });
    await runJobs(app);
    const { data } = await get('/orders');
    const buyers = data.map(({ order_id, customer_email: who }: Record<string, string>) => [order_id, who === null]);
    expect(buyers.sort()).toEqual([
      [id, true],
      [`${id}x`, false],
    ]);
  });

  it('is not taken by the id that an order has in another shop', async () => {
    const { key, get, removed } = await open();
    const [id, email] = [low('o'), `${low('buys')}@mail.example`];
    await importFile(app, key, 'orders', ORDERS + order(id, email), { source: 'Old shop' });
    const [{ integration_id }] = (await get('/orders')).data;
    const other = await readImport(app, key, 'orders', ORDERS + order(id, `x${email}`), { source: 'New shop' });
    const same = await readImport(app, key, 'orders', ORDERS + order(id, email), { source: 'Old shop', ...KEEP });
    expect(await removed({ order_ids: [id], integration_id })).toMatchObject({ orders: 1, imports: 2 });
    expect((await getImport(app, key, same.id)).status).toBe('failed');
    expect(await confirmRead(app, key, other)).toMatchObject({ status: 'done' });
  });

  it('is taken as the buyer of an order, who is the same person', async () => {
    const { key, get, removed } = await open();
    const [id, email] = [low('o'), `${low('buys')}@mail.example`];
    await importFile(app, key, 'orders', ORDERS + order(id, email));
    const waiting = await readImport(app, key, 'orders', ORDERS + order(`${id}2`, email));
    const [{ id: customer_of }] = (await get('/orders')).data;
    expect(await removed({ customer_of }, 'access')).toMatchObject({ orders: 1, imports: 2, import_lines: 2 });
    expect(await removed({ customer_of })).toMatchObject({ orders: 1, imports: 2, import_lines: 2 });
    expect((await getImport(app, key, waiting.id)).status).toBe('failed');
  });
});

describe('somebody who is kept under another name', () => {
  it('is named by a refusal if the address is one to which a creator is paid', async () => {
    const { get, add, ask, key, removed } = await open();
    const [email, wallet] = [`${low('own')}@mail.example`, `${low('wallet')}@pay.example`];
    const { id } = (await add(email)).body.data;
    const [{ id: creator_id }] = (await get('/creators')).data;
    await call(`${app.url}/v1/roster/${id}/payment`, key, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ method: 'wallet', wallet_email: wallet }),
    });
    for (const kind of ['access', 'erasure']) {
      const message = expect.stringContaining(creator_id);
      expect((await ask(kind, { creator_email: wallet.toUpperCase() })).details).toEqual([
        { field: 'creator_email', code: 'ambiguous', message },
      ]);
    }
    expect(await removed({ creator_id })).toMatchObject({ creators: 1, payment_profiles: 1 });
    expect(await traces(wallet)).toEqual([]);
    expect((await get('/roster')).data).toEqual([]);
    expect(await removed({ creator_email: wallet })).toEqual({});
  });
});
