import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, made, send as sendTo, startApp, type TestApp, unique } from '../harness/app.ts';
import { mailsOf } from '../harness/kit/mail.ts';
import { BEHIND_PROXY } from '../harness/workflow/applying.ts';
import { openTalkDesk, reply } from '../harness/workflow/talking.ts';

const clock = { at: Date.now(), now: () => new Date(clock.at) };
let app: TestApp;

beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY, clock });
});
afterAll(() => app?.close());

describe('a message', () => {
  it('opens the one conversation with its creator, and is returned as it was sent', async () => {
    const desk = await openTalkDesk(app);
    const { status, body } = await desk.write({ subject: 'Spring', body: ' We love your reel. ' });
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
    const second = await desk.write({ body: 'And the next one?' }, {}, desk.creator.toUpperCase());
    expect(second.body.data.conversation_id).toBe(body.data.conversation_id);
    expect(await mailsOf(app.context, desk.brand.id)).toEqual([]);
    const { data } = (await call(`${app.url}/v1/audit-log?operation=send_message`, desk.key)).body;
    expect(JSON.stringify(data)).not.toMatch(/reel|Spring|next one/);
    expect(data).toHaveLength(2);
  });

  it('reaches only creators that the brand may write to, and is refused with every problem named', async () => {
    const desk = await openTalkDesk(app);
    const stranger = await desk.write({ body: 'Hello' }, {}, 'nobody@mail.example');
    expect([stranger.status, stranger.body.details[0]]).toMatchObject([422, { code: 'not_on_roster' }]);
    for (const input of [{}, { body: '  ' }, { body: 'x'.repeat(10_001) }, { body: 'x', send_email: 'yes' }]) {
      expect((await desk.write(input)).status).toBe(422);
    }
    expect((await desk.list()).data).toEqual([]);
  });

  it('with contacts in its subject or body is 403, is not stored, and may be sent again without them', async () => {
    const desk = await openTalkDesk(app);
    const headers = { 'idempotency-key': 'guarded' };
    const blocked = await desk.write({ body: 'write to ann (at) studio (dot) com or 0151 23456789' }, headers);
    expect([blocked.status, blocked.body.code, blocked.body.matched]).toEqual([
      403,
      'CONTACT_INFO_BLOCKED',
      ['email', 'phone'],
    ]);
    expect(JSON.stringify(blocked.body)).not.toMatch(/studio|0151/);
    const subject = await desk.write({ subject: 'call 0151 23456789', body: 'fine' });
    expect(subject.body.matched).toEqual(['phone']);
    expect((await desk.list()).data).toEqual([]);
    expect((await desk.write({ body: 'We pay $1,500 for order 12345678.' }, headers)).status).toBe(201);
  });

  it('is sent once under an Idempotency-Key, however often the call is repeated', async () => {
    const desk = await openTalkDesk(app);
    const headers = { 'idempotency-key': 'once' };
    const input = { body: 'Only once.', send_email: true };
    const answers = await Promise.all(Array.from({ length: 10 }, () => desk.write(input, headers)));
    expect(new Set(answers.map(({ body }) => body.data.id)).size).toBe(1);
    expect((await desk.list()).data[0].message_count).toBe(1);
    expect(await mailsOf(app.context, desk.brand.id)).toHaveLength(1);
  });

  it('gets consecutive numbers in one conversation when 20 are sent at once', async () => {
    const desk = await openTalkDesk(app);
    await Promise.all(Array.from({ length: 20 }, (_, i) => desk.write({ body: `message ${i}` })));
    const { data } = await desk.list();
    expect(data).toHaveLength(1);
    const found = await desk.thread(data[0].conversation_id);
    expect([data[0].message_count, found.messages.length]).toEqual([20, 20]);
    const last = found.messages.at(-1);
    expect(data[0].last_message).toEqual({ body: last.body, sender: 'brand', sent_at: last.sent_at });
  });
});

describe('the list of conversations', () => {
  it('shows 200 characters of the last message and never splits an emoji', async () => {
    const desk = await openTalkDesk(app);
    const body = `${'👩🏽‍🎤'.repeat(20)}${'🌱'.repeat(150)}end`;
    await desk.write({ body });
    const preview = (await desk.list()).data[0].last_message.body;
    expect([...preview]).toHaveLength(200);
    expect(preview).toBe([...body].slice(0, 200).join(''));
    expect(preview.isWellFormed()).toBe(true);
  });

  it('has the newest conversation first, filters by creator, by unread messages and by whose turn it is, and is available as CSV', async () => {
    const desk = await openTalkDesk(app);
    const other = `${unique('ben')}@mail.example`;
    await made(`${app.url}/v1/roster`, desk.key, { creator_email: other });
    await desk.write({ body: '=first', send_email: true });
    const page = await desk.page();
    clock.at += 1_000;
    await desk.write({ body: 'second' }, {}, other);
    const emails = async (query = '') =>
      (await desk.list(query)).data.map(({ creator_email }: { creator_email: string }) => creator_email);
    expect(await emails()).toEqual([other, desk.creator]);
    expect(await emails('sort=oldest')).toEqual([desk.creator, other]);
    expect(await emails('unread=true')).toEqual([]);
    expect(await emails('answered=false')).toEqual([]);
    clock.at += 1_000;
    expect((await reply(page, 'Hello!')).status).toBe(303);
    expect(await emails()).toEqual([desk.creator, other]);
    expect(await emails('unread=true')).toEqual([desk.creator]);
    expect(await emails('unread=false')).toEqual([other]);
    expect(await emails('answered=false')).toEqual([desk.creator]);
    expect(await emails('answered=true')).toEqual([other]);
    expect(await emails(`creator_email=${other.toUpperCase()}`)).toEqual([other]);
    expect((await desk.list('limit=1&page=2')).pagination).toEqual({ page: 2, limit: 1, total: 2, has_more: false });
    const csv = await call(`${app.url}/v1/messages`, desk.key, { headers: { accept: 'text/csv' } });
    expect(csv.body.split('\n')).toHaveLength(4);
  });
});

describe('a thread', () => {
  it('is ordered oldest first, pages back from any message, and marks nothing as read', async () => {
    const desk = await openTalkDesk(app);
    for (let i = 1; i <= 5; i += 1) await desk.write({ body: `message ${i}`, send_email: i === 1 });
    await reply(await desk.page(), 'answer 6');
    const id = (await desk.list()).data[0].conversation_id;
    const bodies = ({ messages }: { messages: { body: string }[] }) => messages.map(({ body }) => body.at(-1));
    const newest = await desk.thread(id, 'limit=2');
    expect([bodies(newest), newest.has_more, newest.unread_count]).toEqual([['5', '6'], true, 1]);
    const older = await desk.thread(id, `limit=4&before=${newest.messages[0].id}`);
    expect([bodies(older), older.has_more]).toEqual([['1', '2', '3', '4'], false]);
    expect(older.messages.map(({ email_sent }: { email_sent: boolean }) => email_sent)).toEqual([
      true,
      false,
      false,
      false,
    ]);
    const numbers = ({ messages }: { messages: { number: number }[] }) => messages.map(({ number }) => number);
    const middle = await desk.thread(id, 'limit=2&before_number=5');
    expect([numbers(middle), bodies(middle), middle.has_more]).toEqual([[3, 4], ['3', '4'], true]);
    expect(numbers(await desk.thread(id, `before=${newest.messages[0].id}&before_number=3`))).toEqual([1, 2]);
    expect(numbers(await desk.thread(id, `before=${older.messages[2].id}&before_number=6`))).toEqual([1, 2]);
    expect(numbers(await desk.thread(id, 'before_number=1'))).toEqual([]);
    expect(numbers(await desk.thread(id, 'limit=1&before_number=99'))).toEqual([6]);
    expect((await call(`${app.url}/v1/messages/${id}?before_number=0`, desk.key)).status).toBe(422);
    expect((await desk.thread(id, 'limit=9999')).messages).toHaveLength(6);
    expect((await desk.list()).data[0].unread_count).toBe(1);
    expect((await call(`${app.url}/v1/messages/${id}?before=msg_nothing`, desk.key)).status).toBe(404);
    expect((await call(`${app.url}/v1/messages/${id}?limit=0`, desk.key)).status).toBe(422);
  });

  it('is marked as read by POST, and by a reply', async () => {
    const desk = await openTalkDesk(app);
    await desk.write({ body: 'Hello', send_email: true });
    const page = await desk.page();
    const id = (await desk.list()).data[0].conversation_id;
    await reply(page, 'one');
    await reply(page, 'two');
    expect((await desk.thread(id)).unread_count).toBe(2);
    const read = await sendTo(`${app.url}/v1/messages/${id}/read`, desk.key, 'POST');
    expect([read.status, read.body.data]).toEqual([200, { conversation_id: id, unread_count: 0, message_count: 3 }]);
    expect((await desk.thread(id)).messages[1].read_at).not.toBeNull();
    await reply(page, 'three');
    await desk.write({ body: 'Thanks' });
    expect((await desk.thread(id)).unread_count).toBe(0);
    expect((await desk.list('unread=true')).data).toEqual([]);
  });

  it('becomes one when the two records of its creator are merged', async () => {
    const desk = await openTalkDesk(app);
    const other = `${unique('ben')}@mail.example`;
    const entry = (await made(`${app.url}/v1/roster`, desk.key, { creator_email: other })).id;
    const kept = (await call(`${app.url}/v1/roster`, desk.key)).body.data.find(
      ({ creator_email }: { creator_email: string }) => creator_email === desk.creator,
    ).id;
    for (const [to, body] of [
      [desk.creator, 'a1'],
      [other, 'b1'],
      [desk.creator, 'a2'],
      [other, 'b2'],
    ] as const) {
      clock.at += 1_000;
      await desk.write({ body }, {}, to);
    }
    const joined = await sendTo(`${app.url}/v1/roster/${entry}/merge`, desk.key, 'POST', { into: kept });
    expect(joined.status).toBe(200);
    const { data } = await desk.list();
    expect(data).toMatchObject([{ creator_email: desk.creator, message_count: 4, last_message: { body: 'b2' } }]);
    const { messages } = await desk.thread(data[0].conversation_id);
    expect(messages.map(({ body }: { body: string }) => body)).toEqual(['a1', 'b1', 'a2', 'b2']);
    clock.at += 1_000;
    expect((await desk.write({ body: 'a3' })).status).toBe(201);
  });
});
