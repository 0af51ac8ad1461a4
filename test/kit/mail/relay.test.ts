import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migratePostgres } from '../../../src/kit/engines/postgres/migrate.ts';
import { sendDueMails } from '../../../src/kit/mail/sender.ts';
import { DAY_MS, HOUR_MS } from '../../../src/kit/values/duration.ts';
import { createBrand } from '../../../src/platform/brands/brands.ts';
import {
  call,
  keysInTurn,
  made,
  makeBrand,
  send,
  startApp,
  type TestApp,
  type TestBrand,
  unique,
} from '../../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../../harness/database.ts';
import { mailsOf, pathOf, startSmtp, type TestSmtp } from '../../harness/kit/mail.ts';
import { signIn } from '../../harness/platform/session.ts';
import { runCli } from '../../harness/process/cli.ts';
import { reply } from '../../harness/workflow/talking.ts';

/** A database of its own: a sender sends the mails of every brand. */
let database: TestDatabase;
let smtp: TestSmtp;
let app: TestApp;
const clock = { at: Date.parse('2027-03-01T09:00:00Z'), now: () => new Date(clock.at) };

beforeAll(async () => {
  [database, smtp] = await Promise.all([makeDatabase('relay'), startSmtp()]);
  const env = {
    ...{ SMTP_URL: smtp.url, MAIL_FROM: 'mail@rollcall.example', MAILS_PER_BRAND: '30', INVITATIONS_PER_BRAND: '4' },
    ...{ MAILS_PER_RECIPIENT: '12', MAILS_PER_ESTABLISHED_BRAND: '40' },
  };
  app = await startApp({ clock, urls: { postgres: database.url }, env });
  await migratePostgres(app.context.postgres.db);
});
afterAll(async () => {
  await app?.close();
  await smtp?.close();
  await database?.drop();
});

/** Several senders at once, as several workers have it. */
const sendDue = () => Promise.all(Array.from({ length: 4 }, () => sendDueMails(app.context)));
const gotBy = (address: string) => smtp.received.filter(({ to }) => to[0] === address);

interface Desk {
  brand: TestBrand;
  key: () => string;
  creator(email?: string): Promise<string>;
  write(email: string, body: string): Promise<void>;
  list(query?: string): Promise<{ to: string; state: string; reason: string | null; detail: string | null }[]>;
  states(): Promise<Record<string, number>>;
}

async function openDesk(name?: string): Promise<Desk> {
  const brand = await makeBrand(app.context);
  const key = await keysInTurn(brand, 20);
  if (name !== undefined) expect((await send(`${app.url}/v1/brand`, key(), 'PATCH', { name })).status).toBe(200);
  const list = async (query = '') => (await call(`${app.url}/v1/mails?limit=100&${query}`, key())).body.data;
  return {
    brand,
    key,
    list,
    creator: async (email = `${unique('ann')}@mail.example`) => {
      await made(`${app.url}/v1/roster`, key(), { creator_email: email });
      return email;
    },
    write: async (email, body) => {
      await made(`${app.url}/v1/messages`, key(), { creator_email: email, body, send_email: true });
    },
    states: async () => {
      const mails: { state: string; reason: string | null }[] = await list();
      return Object.fromEntries(
        Object.entries(
          Object.groupBy(mails, ({ state, reason }) => (reason === null ? state : `${state}: ${reason}`)),
        ).map(([state, of]) => [state, of?.length ?? 0]),
      );
    },
  };
}

/** The creator answers by the link of the newest mail. */
async function answer({ brand }: Desk, email: string): Promise<void> {
  const mail = (await mailsOf(app.context, brand.id)).find(({ to }) => to === email);
  const page = app.links + pathOf(mail?.links.find((link) => link.includes('/talk/')) ?? '');
  expect((await reply(page, 'Yes, that is me.')).status).toBe(303);
}

describe('a stranger’s address', () => {
  it('gets at most five mails from a brand in an hour, however many are written at once, and none of the rest later', async () => {
    const desk = await openDesk();
    const stranger = await desk.creator();
    await Promise.all(Array.from({ length: 15 }, (_, i) => desk.write(stranger, `Offer ${i}`)));
    await sendDue();
    expect(gotBy(stranger)).toHaveLength(5);
    expect(await desk.states()).toEqual({ sent: 5, 'held: stranger_limit': 10 });
    clock.at += HOUR_MS + 1;
    await sendDue();
    expect(gotBy(stranger)).toHaveLength(5);
    const [{ conversation_id: id }] = (await call(`${app.url}/v1/messages`, desk.key())).body.data;
    const thread = (await call(`${app.url}/v1/messages/${id}`, desk.key())).body.data;
    expect(thread.messages.filter((one: { email_sent: boolean }) => one.email_sent)).toHaveLength(5);
  });

  it('learns from each mail who sends it and how to stop it, until it has answered', async () => {
    const desk = await openDesk(unique('Acme'));
    const creator = await desk.creator();
    await desk.write(creator, 'Shall we plan a reel?');
    await sendDue();
    const plain = (raw: string) => raw.replace(/=\r\n/g, '').replace(/=3D/g, '=');
    const [first] = gotBy(creator);
    expect(plain(first?.raw ?? '')).toMatch(
      /Acme-\w+ entered your address in Rollcall[\s\S]*No more emails from Acme-\w+: https:/,
    );
    await answer(desk, creator);
    await desk.write(creator, 'Great!');
    await sendDue();
    const [, second] = gotBy(creator);
    expect(plain(second?.raw ?? '')).toContain('Great!');
    expect(plain(second?.raw ?? '')).not.toContain('entered your address');
  });

  it('sees in Subject and From what was typed, and no header or turned text that is hidden in it', async () => {
    const hidden = `=?utf-8?B?${Buffer.from('x\r\nBcc: victim@mail.example').toString('base64')}?=`;
    const desk = await openDesk(`${unique('Acme')} ${hidden}`);
    const creator = await desk.creator();
    const subject = `Plan\u202e 🎉 ${hidden}`;
    const body = { creator_email: creator, body: 'Hello', subject, send_email: true };
    await made(`${app.url}/v1/messages`, desk.key(), body);
    await sendDue();
    const headers = (gotBy(creator)[0]?.raw ?? '').split('\r\n\r\n', 1)[0] ?? '';
    const decoded = headers
      .replace(/\r\n\s+/g, ' ')
      .replace(/(=\?utf-8\?[bq]\?[^?]*\?=)\s+(?==\?)/gi, '$1')
      .replace(/=\?utf-8\?b\?([^?]*)\?=/gi, (_word, text) => Buffer.from(text, 'base64').toString())
      .replace(/=\?utf-8\?q\?([^?]*)\?=/gi, (_word, text) =>
        decodeURIComponent(text.replaceAll('_', ' ').replaceAll('%', '%25').replaceAll('=', '%')),
      );
    const shown = hidden.replace('=', '= ');
    expect(/^Subject: (.*)$/m.exec(decoded)?.[1]).toContain(`Plan 🎉 ${shown}`);
    expect(/^From: (.*)$/m.exec(decoded)?.[1]).toContain(shown);
    expect(decoded).not.toMatch(/^Bcc:|\u202e/m);
  });

  it('gets no link to a host that is not the brand’s until it has answered', async () => {
    const desk = await openDesk();
    const own = { website: 'https://www.acme-shop.example' };
    expect((await send(`${app.url}/v1/brand`, desk.key(), 'PATCH', own)).status).toBe(200);
    const [stranger, friend] = [await desk.creator(), await desk.creator()];
    await desk.write(friend, 'Hello! We loved https://www.instagram.com/p/abc, see acme-shop.example/new.');
    await sendDue();
    expect(gotBy(friend)).toHaveLength(1);
    await answer(desk, friend);
    for (const text of ['see https://evil.example/login', 'see www.evil.example', 'go to evil-login.com now']) {
      await desk.write(stranger, text);
      await desk.write(friend, text);
    }
    await sendDue();
    expect([gotBy(stranger).length, gotBy(friend).length]).toEqual([0, 4]);
    const held = await desk.list('state=held');
    expect(held.map(({ to, reason }) => [to, reason])).toEqual(Array(3).fill([stranger, 'foreign_link']));
    expect(held[0]?.detail).toContain('never answered');
  });
});

describe('a brand called "PayPal Security"', () => {
  it('has every mail held with the reason, until an operator releases them or trusts the brand', async () => {
    const desk = await openDesk(`PаyPaI Security ${unique('x')}`);
    const creator = await desk.creator();
    for (let i = 0; i < 3; i += 1) await desk.write(creator, `Your account is limited ${i}`);
    await sendDue();
    expect(gotBy(creator)).toHaveLength(0);
    expect(await desk.states()).toEqual({ 'held: imitation': 3 });

    const env = { DATABASE_URL: database.url, LINKS_URL: 'https://go.example' };
    const listed = JSON.parse((await runCli(['mail', 'list', '--brand', desk.brand.id, '--json'], env)).out);
    expect(listed[0]).toMatchObject({ state: 'held', reason: 'imitation' });
    expect((await runCli(['mail', 'release', listed[0].id], env)).out).toBe('1\n');
    await sendDue();
    expect(gotBy(creator)).toHaveLength(1);
    expect((await runCli(['mail', 'release', '--brand', desk.brand.id], env)).out).toBe('2\n');
    expect((await runCli(['mail', 'release'], env)).status).toBe(1);
    expect((await runCli(['mail', 'trust', '--brand', desk.brand.id], env)).out).toBe(`${desk.brand.id}\n`);
    await desk.write(creator, 'Welcome');
    clock.at += HOUR_MS;
    await sendDue();
    expect(await desk.states()).toEqual({ sent: 4 });
  });

  it('also means that no link’s host may look like it, whoever gets the mail', async () => {
    const desk = await openDesk();
    const friend = await desk.creator();
    await desk.write(friend, 'Hello');
    await sendDue();
    await answer(desk, friend);
    await desk.write(friend, 'Sign in at https://paypa1-login.example/now');
    await desk.write(friend, 'We pay by PayPal, see https://www.paypal.com/help');
    await sendDue();
    expect(await desk.states()).toEqual({ sent: 2, 'held: imitation': 1 });
  });
});

describe('invitations', () => {
  it('beyond the hour’s limit are held, and an invited address can unsubscribe', async () => {
    const { brand, list } = await openDesk();
    const owner = await signIn(app, brand.id);
    for (let i = 0; i < 6; i += 1) {
      const person = { email: `guest-${i}@mail.example`, role: 'viewer', name: 'Guest' };
      expect((await owner.send('POST', '/v1/people', person)).status).toBe(201);
    }
    await sendDue();
    const mails = await list();
    expect(mails.map(({ state, reason }) => reason ?? state).sort()).toEqual([
      ...['invitation_limit', 'invitation_limit', 'sent', 'sent', 'sent', 'sent'],
    ]);
    // Of mails of one moment any four may be the first.
    const guests = Array.from({ length: 6 }, (_, i) => gotBy(`guest-${i}@mail.example`)).flat();
    expect(guests).toHaveLength(4);
    for (const { raw } of guests) expect(raw).toContain('List-Unsubscribe-Post');
  });
});

describe('hourly limits', () => {
  it('of a brand and of an address delay mails to the next hour, in turn, and count exactly with four senders', async () => {
    const desk = await openDesk();
    for (let i = 0; i < 35; i += 1) await desk.write(await desk.creator(), 'Hello');
    await sendDue();
    expect(await desk.states()).toEqual({ sent: 30, 'queued: brand_limit': 5 });
    const delayed = (await desk.list()).find(({ reason }) => reason === 'brand_limit')?.to ?? '';
    const isMailed = async () => {
      const found = await call(`${app.url}/v1/messages?creator_email=${delayed}`, desk.key());
      const thread = await call(`${app.url}/v1/messages/${found.body.data[0].conversation_id}`, desk.key());
      return thread.body.data.messages.map((one: { email_sent: boolean }) => one.email_sent);
    };
    expect(await isMailed()).toEqual([false]);
    clock.at += HOUR_MS + 1;
    await sendDue();
    expect(await desk.states()).toEqual({ sent: 35 });
    expect(await isMailed()).toEqual([true]);
  });

  it('of news delay no message: many codes at once leave the allowance for contracts, briefs and messages alone', async () => {
    const desk = await openDesk();
    const creators = await Promise.all(Array.from({ length: 33 }, async () => ({ email: await desk.creator() })));
    const bulk = await send(`${app.url}/v1/affiliates/links/bulk`, desk.key(), 'POST', { creators, notify: true });
    expect(bulk.body.data.count).toBe(33);
    await sendDue();
    expect(await desk.states()).toEqual({ sent: 30, 'queued: brand_limit': 3 });
    await desk.write(await desk.creator(), 'Shall we plan a reel?');
    await sendDue();
    expect(await desk.states()).toEqual({ sent: 31, 'queued: brand_limit': 3 });
  });

  it('are larger for a brand that is older than thirty days', async () => {
    const desk = await openDesk();
    clock.at += 31 * DAY_MS;
    for (let i = 0; i < 42; i += 1) await desk.write(await desk.creator(), 'Hello');
    await sendDue();
    expect(await desk.states()).toEqual({ sent: 40, 'queued: brand_limit': 2 });
  });

  it('of an address count the mails of all brands', async () => {
    const shared = `${unique('shared')}@mail.example`;
    const desks = await Promise.all(Array.from({ length: 4 }, () => openDesk()));
    for (const desk of desks) {
      await desk.creator(shared);
      for (let i = 0; i < 4; i += 1) await desk.write(shared, `Hello ${i}`);
    }
    await sendDue();
    expect(gotBy(shared)).toHaveLength(12);
    clock.at += HOUR_MS + 1;
    await sendDue();
    expect(gotBy(shared)).toHaveLength(16);
  });

  it('never prevent a person from signing in', async () => {
    const name = unique('brand');
    const id = await createBrand(app.context.postgres.db, clock, { name, plan: 'growth', status: 'active' });
    const owner = await signIn(app, id);
    const email = `${unique('mia')}@mail.example`;
    await owner.send('POST', '/v1/people', { email, role: 'viewer', name: 'Mia' });
    await sendDue();
    for (let i = 1; i <= 15; i += 1) {
      clock.at += 61_000;
      await call(`${app.url}/app/session/mail`, undefined, {
        method: 'POST',
        body: JSON.stringify({ email }),
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      });
      // It is answered before the address is looked up.
      await expect
        .poll(async () => {
          await sendDue();
          return gotBy(email).length;
        })
        .toBe(i + 1);
    }
  });
});
