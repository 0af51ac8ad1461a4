import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  call,
  made,
  makeBrand,
  send as sendTo,
  startApp,
  type TestApp,
  type TestBrand,
  unique,
} from '../harness/app.ts';
import { BEHIND_PROXY, listEvents } from '../harness/applying.ts';
import { mailsOf, pathOf } from '../harness/mail.ts';

const HOUR_MS = 3_600_000;
const PERSON = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1';
const clock = { at: Date.now(), now: () => new Date(clock.at) };
let app: TestApp;
let turn = 0;

beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY, clock });
});
afterAll(() => app?.close());

interface Desk {
  brand: TestBrand;
  key: string;
  creator: string;
}

async function openDesk(): Promise<Desk> {
  const brand = await makeBrand(app.context);
  const key = await brand.key('brand');
  const creator = `${unique('ann')}@mail.example`;
  await made(`${app.url}/v1/roster`, key, { creator_email: creator });
  return { brand, key, creator };
}

const write = ({ key, creator }: Desk, input: object, headers = {}) =>
  sendTo(`${app.url}/v1/messages`, key, 'POST', { creator_email: creator, ...input }, headers);
const list = async ({ key }: Desk, query = '') => (await call(`${app.url}/v1/messages?${query}`, key)).body;
const thread = async ({ key }: Desk, id: string, query = '') =>
  (await call(`${app.url}/v1/messages/${id}?${query}`, key)).body.data;

/** The page that the last mail leads to. */
async function pageOf({ brand }: Desk): Promise<string> {
  const [mail] = await mailsOf(app.context, brand.id);
  return `${app.url}${pathOf(mail?.links.find((link) => link.includes('/talk/')) ?? '')}`;
}

const reply = (page: string, body: string, headers: Record<string, string> = {}) => {
  turn += 1;
  return call(page, undefined, {
    method: 'POST',
    body: new URLSearchParams({ body }),
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': `10.9.${turn >> 8}.${turn & 255}`, ...headers },
  });
};

describe('a message', () => {
  it('opens the one conversation with its creator, and is answered as it was sent', async () => {
    const desk = await openDesk();
    const { status, body } = await write(desk, { subject: 'Spring', body: ' We love your reel. ' });
    expect([status, body.data]).toEqual([
      201,
      {
        id: expect.stringMatching(/^msg_/),
        conversation_id: expect.stringMatching(/^cnv_/),
        creator_email: desk.creator,
        creator_name: null,
        subject: 'Spring',
        body: 'We love your reel.',
        sender: 'brand',
        sent_at: expect.stringMatching(/Z$/),
        read_at: null,
        email_sent: false,
      },
    ]);
    const second = await write({ ...desk, creator: desk.creator.toUpperCase() }, { body: 'And the next one?' });
    expect(second.body.data.conversation_id).toBe(body.data.conversation_id);
    expect(await mailsOf(app.context, desk.brand.id)).toEqual([]);
    const { data } = (await call(`${app.url}/v1/audit-log?operation=send_message`, desk.key)).body;
    expect(JSON.stringify(data)).not.toMatch(/reel|Spring|next one/);
    expect(data).toHaveLength(2);
  });

  it('goes to nobody but whom the brand may write to, and says what is wrong', async () => {
    const desk = await openDesk();
    const stranger = await write({ ...desk, creator: 'nobody@mail.example' }, { body: 'Hello' });
    expect([stranger.status, stranger.body.details[0]]).toMatchObject([422, { code: 'not_on_roster' }]);
    for (const input of [{}, { body: '  ' }, { body: 'x'.repeat(10_001) }, { body: 'x', send_email: 'yes' }]) {
      expect((await write(desk, input)).status).toBe(422);
    }
    expect((await list(desk)).data).toEqual([]);
  });

  it('with contacts in its subject or body is 403, is kept nowhere, and may be sent again without them', async () => {
    const desk = await openDesk();
    const headers = { 'idempotency-key': 'guarded' };
    const blocked = await write(desk, { body: 'write to ann (at) studio (dot) com or 0151 23456789' }, headers);
    expect([blocked.status, blocked.body.code, blocked.body.matched]).toEqual([
      403,
      'CONTACT_INFO_BLOCKED',
      ['email', 'phone'],
    ]);
    expect(JSON.stringify(blocked.body)).not.toMatch(/studio|0151/);
    const subject = await write(desk, { subject: 'call 0151 23456789', body: 'fine' });
    expect(subject.body.matched).toEqual(['phone']);
    expect((await list(desk)).data).toEqual([]);
    expect((await write(desk, { body: 'We pay $1,500 for order 12345678.' }, headers)).status).toBe(201);
  });

  it('under an Idempotency-Key is one message, whoever comes twice', async () => {
    const desk = await openDesk();
    const headers = { 'idempotency-key': 'once' };
    const input = { body: 'Only once.', send_email: true };
    const answers = await Promise.all(Array.from({ length: 10 }, () => write(desk, input, headers)));
    expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1);
    expect((await list(desk)).data[0].message_count).toBe(1);
    expect(await mailsOf(app.context, desk.brand.id)).toHaveLength(1);
  });

  it('20 at once are numbered one after the other in one conversation', async () => {
    const desk = await openDesk();
    await Promise.all(Array.from({ length: 20 }, (_, i) => write(desk, { body: `message ${i}` })));
    const { data } = await list(desk);
    expect(data).toHaveLength(1);
    const found = await thread(desk, data[0].conversation_id);
    expect([data[0].message_count, found.messages.length]).toEqual([20, 20]);
    const last = found.messages.at(-1);
    expect(data[0].last_message).toEqual({ body: last.body, sender: 'brand', sent_at: last.sent_at });
  });
});

describe('the list of conversations', () => {
  it('shows 200 characters of the last message, and never half an emoji', async () => {
    const desk = await openDesk();
    const body = `${'👩🏽‍🎤'.repeat(20)}${'🌱'.repeat(150)}end`;
    await write(desk, { body });
    const preview = (await list(desk)).data[0].last_message.body;
    expect([...preview]).toHaveLength(200);
    expect(preview).toBe([...body].slice(0, 200).join(''));
    expect(preview.isWellFormed()).toBe(true);
  });

  it('has the newest talk first, filters by creator and by what is unread, and is CSV when asked', async () => {
    const desk = await openDesk();
    const other = { ...desk, creator: `${unique('ben')}@mail.example` };
    await made(`${app.url}/v1/roster`, desk.key, { creator_email: other.creator });
    await write(desk, { body: '=first', send_email: true });
    const page = await pageOf(desk);
    clock.at += 1_000;
    await write(other, { body: 'second' });
    const emails = async (query = '') =>
      (await list(desk, query)).data.map(({ creator_email }: { creator_email: string }) => creator_email);
    expect(await emails()).toEqual([other.creator, desk.creator]);
    expect(await emails('sort=oldest')).toEqual([desk.creator, other.creator]);
    expect(await emails('unread=true')).toEqual([]);
    clock.at += 1_000;
    expect((await reply(page, 'Hello!')).status).toBe(303);
    expect(await emails()).toEqual([desk.creator, other.creator]);
    expect(await emails('unread=true')).toEqual([desk.creator]);
    expect(await emails('unread=false')).toEqual([other.creator]);
    expect(await emails(`creator_email=${other.creator.toUpperCase()}`)).toEqual([other.creator]);
    expect((await list(desk, 'limit=1&page=2')).pagination).toEqual({ page: 2, limit: 1, total: 2, has_more: false });
    const csv = await call(`${app.url}/v1/messages`, desk.key, { headers: { accept: 'text/csv' } });
    expect(csv.body.split('\n')).toHaveLength(4);
  });
});

describe('a thread', () => {
  it('is oldest first, walks back from any of its messages, and marks nothing', async () => {
    const desk = await openDesk();
    for (let i = 1; i <= 5; i += 1) await write(desk, { body: `message ${i}`, send_email: i === 1 });
    await reply(await pageOf(desk), 'answer 6');
    const id = (await list(desk)).data[0].conversation_id;
    const bodies = ({ messages }: { messages: { body: string }[] }) => messages.map(({ body }) => body.at(-1));
    const newest = await thread(desk, id, 'limit=2');
    expect([bodies(newest), newest.has_more, newest.unread_count]).toEqual([['5', '6'], true, 1]);
    const older = await thread(desk, id, `limit=4&before=${newest.messages[0].id}`);
    expect([bodies(older), older.has_more]).toEqual([['1', '2', '3', '4'], false]);
    expect(older.messages.map(({ email_sent }: { email_sent: boolean }) => email_sent)).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect((await thread(desk, id, 'limit=9999')).messages).toHaveLength(6);
    expect((await list(desk)).data[0].unread_count).toBe(1);
    expect((await call(`${app.url}/v1/messages/${id}?before=msg_nothing`, desk.key)).status).toBe(404);
    expect((await call(`${app.url}/v1/messages/${id}?limit=0`, desk.key)).status).toBe(422);
  });

  it('is read by POST, and by an answer', async () => {
    const desk = await openDesk();
    await write(desk, { body: 'Hello', send_email: true });
    const page = await pageOf(desk);
    const id = (await list(desk)).data[0].conversation_id;
    await reply(page, 'one');
    await reply(page, 'two');
    expect((await thread(desk, id)).unread_count).toBe(2);
    const read = await sendTo(`${app.url}/v1/messages/${id}/read`, desk.key, 'POST');
    expect([read.status, read.body.data]).toEqual([200, { conversation_id: id, unread_count: 0, message_count: 3 }]);
    expect((await thread(desk, id)).messages[1].read_at).not.toBeNull();
    await reply(page, 'three');
    await write(desk, { body: 'Thanks' });
    expect((await thread(desk, id)).unread_count).toBe(0);
    expect((await list(desk, 'unread=true')).data).toEqual([]);
  });

  it('of a creator with two records is one once they are joined', async () => {
    const desk = await openDesk();
    const other = { ...desk, creator: `${unique('ben')}@mail.example` };
    const entry = (await made(`${app.url}/v1/roster`, desk.key, { creator_email: other.creator })).id;
    const kept = (await call(`${app.url}/v1/roster`, desk.key)).body.data.find(
      ({ creator_email }: { creator_email: string }) => creator_email === desk.creator,
    ).id;
    for (const [to, body] of [
      [desk, 'a1'],
      [other, 'b1'],
      [desk, 'a2'],
      [other, 'b2'],
    ] as const) {
      clock.at += 1_000;
      await write(to, { body });
    }
    const joined = await sendTo(`${app.url}/v1/roster/${entry}/merge`, desk.key, 'POST', { into: kept });
    expect(joined.status).toBe(200);
    const { data } = await list(desk);
    expect(data).toMatchObject([{ creator_email: desk.creator, message_count: 4, last_message: { body: 'b2' } }]);
    const { messages } = await thread(desk, data[0].conversation_id);
    expect(messages.map(({ body }: { body: string }) => body)).toEqual(['a1', 'b1', 'a2', 'b2']);
    clock.at += 1_000;
    expect((await write(desk, { body: 'a3' })).status).toBe(201);
  });
});

describe('the page of a conversation', () => {
  it('is mailed when asked, shows the talk, and what is sent from it is told to the brand once', async () => {
    const desk = await openDesk();
    const sent = await write(desk, {
      subject: 'Hi <b>',
      body: 'We love <script>your</script> reel.',
      send_email: true,
    });
    expect(sent.body.data.email_sent).toBe(true);
    const [mail] = await mailsOf(app.context, desk.brand.id);
    expect([mail?.kind, mail?.to]).toEqual(['message_sent', desk.creator]);
    expect(mail?.text).toContain('We love');
    const page = await pageOf(desk);
    const shown = await call(page, undefined, { headers: { 'user-agent': PERSON } });
    expect(shown.status).toBe(200);
    expect(shown.body).toContain('We love &lt;script&gt;your&lt;/script&gt; reel.');
    const id = sent.body.data.conversation_id;
    expect((await thread(desk, id)).messages[0].read_at).not.toBeNull();
    const answers = await Promise.all([reply(page, 'Yes, please!'), reply(page, 'Yes, please!')]);
    expect(answers.map(({ status, headers }) => [status, headers.get('location')?.endsWith('?sent=1')])).toEqual([
      [303, true],
      [303, true],
    ]);
    const events = (await listEvents(app, desk.brand.id)).filter(({ event }) => event === 'message.received');
    expect(events).toEqual([
      {
        event: 'message.received',
        data: expect.objectContaining({
          conversation_id: id,
          creator_email: desk.creator,
          sender: 'creator',
          body: 'Yes, please!',
        }),
      },
    ]);
    expect((await thread(desk, id)).messages[1]).toMatchObject({
      sender: 'creator',
      body: 'Yes, please!',
      read_at: null,
    });
    const { data } = (await call(`${app.url}/v1/audit-log?operation=page_talk`, desk.key)).body;
    expect(data).toHaveLength(1);
    expect(JSON.stringify(data)).not.toContain('please');
  });

  it('opened by a mail’s scanner marks nothing', async () => {
    const desk = await openDesk();
    await write(desk, { body: 'Hello', send_email: true });
    const page = await pageOf(desk);
    await call(page, undefined, { headers: { 'user-agent': 'Mozilla/5.0 (compatible; bingbot/2.0)' } });
    const id = (await list(desk)).data[0].conversation_id;
    expect((await thread(desk, id)).messages[0].read_at).toBeNull();
  });

  it('keeps what was typed when it cannot be sent: nothing, too long, or with contacts', async () => {
    const desk = await openDesk();
    await write(desk, { body: 'Hello', send_email: true });
    const page = await pageOf(desk);
    expect((await reply(page, '  ')).status).toBe(422);
    expect((await reply(page, 'x'.repeat(10_001))).status).toBe(422);
    const blocked = await reply(page, 'Call me: 0151 23456789 & "more"');
    expect(blocked.status).toBe(403);
    expect(blocked.body).toContain('a telephone number');
    expect(blocked.body).toContain('Call me: 0151 23456789 &amp; &quot;more&quot;</textarea>');
    expect((await reply(page, 'Hello', { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await list(desk)).data[0].message_count).toBe(1);
  });

  it('takes 20 messages an hour and no more, also when they come at once', async () => {
    const desk = await openDesk();
    await write(desk, { body: 'Hello', send_email: true });
    const page = await pageOf(desk);
    const answers = await Promise.all(Array.from({ length: 25 }, (_, i) => reply(page, `answer ${i}`)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(5);
    expect((await list(desk)).data[0].unread_count).toBe(20);
    clock.at += HOUR_MS;
    expect((await reply(page, 'an hour later')).status).toBe(303);
  });

  it('is not found once its links are revoked, or by another token', async () => {
    const desk = await openDesk();
    await write(desk, { body: 'Hello', send_email: true });
    const page = await pageOf(desk);
    expect((await call(`${page.slice(0, -1)}${page.endsWith('A') ? 'B' : 'A'}`)).status).toBe(404);
    const { db } = app.context.postgres;
    await db.updateTable('conversations').set({ linkVersion: 2 }).where('brandId', '=', desk.brand.id).execute();
    expect((await call(page)).status).toBe(404);
    expect((await reply(page, 'Hello')).status).toBe(404);
  });
});
