import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, send, startApp, type TestApp } from '../../harness/app.ts';
import { mailsOf } from '../../harness/kit/mail.ts';
import { BEHIND_PROXY, listEvents } from '../../harness/workflow/applying.ts';
import { openTalkDesk, reply } from '../../harness/workflow/talking.ts';

const HOUR_MS = 3_600_000;
const PERSON = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1';
const clock = { at: Date.now(), now: () => new Date(clock.at) };
let app: TestApp;

beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY, clock });
});
afterAll(() => app?.close());

describe('the page of a conversation', () => {
  it('is mailed with send_email, shows the conversation, and delivers a reply to the brand once', async () => {
    const desk = await openTalkDesk(app);
    const sent = await desk.write({
      subject: 'Hi <b>',
      body: 'We love <script>your</script> reel.',
      send_email: true,
    });
    expect(sent.body.data.email_sent).toBe(true);
    const [mail] = await mailsOf(app.context, desk.brand.id);
    expect([mail?.kind, mail?.to]).toEqual(['message_sent', desk.creator]);
    expect(mail?.text).toContain('We love');
    const page = await desk.page();
    const shown = await call(page, undefined, { headers: { 'user-agent': PERSON } });
    expect(shown.status).toBe(200);
    expect(shown.body).toContain('We love &lt;script&gt;your&lt;/script&gt; reel.');
    const id = sent.body.data.conversation_id;
    expect((await desk.thread(id)).messages[0].read_at).not.toBeNull();
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
    expect((await desk.thread(id)).messages[1]).toMatchObject({
      sender: 'creator',
      body: 'Yes, please!',
      read_at: null,
    });
    const { data } = (await call(`${app.url}/v1/audit-log?operation=page_talk`, desk.key)).body;
    expect(data).toHaveLength(1);
    expect(JSON.stringify(data)).not.toContain('please');
  });

  it('is where a contract that waits to be signed leads with a question; without a conversation, that is the brand’s site', async () => {
    const desk = await openTalkDesk(app);
    await send(`${app.url}/v1/brand`, desk.key, 'PATCH', { website: 'https://brand.example/' });
    const contract = { creator_email: desk.creator, title: 'Two reels', send_for_signature: true };
    const { body } = await send(`${app.url}/v1/contracts`, desk.key, 'POST', contract);
    const sign = app.links + new URL(body.data.signature_url).pathname;
    const alone = (await call(sign)).body;
    expect(alone).toMatch(/Contract with [^<]+<\/p>\n<h1>Two reels<\/h1>\n<p>Sign by <time [^>]+>/);
    for (const words of ['Print or save as PDF', 'you get a copy by email']) expect(alone).toContain(words);
    expect([alone.includes('href="https://brand.example/" rel="noreferrer">Reach'), alone.includes('/talk/')]).toEqual([
      true,
      false,
    ]);
    await desk.write({ body: 'Ask me anything.' });
    const [, talk = ''] = /href="(\/talk\/[^"]+)">Ask a question</.exec((await call(sign)).body) ?? [];
    const shown = await call(app.links + talk);
    expect([shown.status, shown.body.includes('Ask me anything.')]).toEqual([200, true]);
  });

  it('marks nothing as read when a mail scanner opens it', async () => {
    const desk = await openTalkDesk(app);
    await desk.write({ body: 'Hello', send_email: true });
    const page = await desk.page();
    await call(page, undefined, { headers: { 'user-agent': 'Mozilla/5.0 (compatible; bingbot/2.0)' } });
    const id = (await desk.list()).data[0].conversation_id;
    expect((await desk.thread(id)).messages[0].read_at).toBeNull();
  });

  it('keeps the typed text of a reply that is empty, too long or has contact details', async () => {
    const desk = await openTalkDesk(app);
    await desk.write({ body: 'Hello', send_email: true });
    const page = await desk.page();
    expect((await reply(page, '  ')).status).toBe(422);
    expect((await reply(page, 'x'.repeat(10_001))).status).toBe(422);
    const blocked = await reply(page, 'Call me: 0151 23456789 & "more"');
    expect(blocked.status).toBe(403);
    expect(blocked.body).toContain('a phone number');
    expect(blocked.body).toContain('Call me: 0151 23456789 &amp; &quot;more&quot;</textarea>');
    expect((await reply(page, 'Hello', { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await desk.list()).data[0].message_count).toBe(1);
  });

  it('accepts at most 20 messages an hour, also when they arrive together', async () => {
    const desk = await openTalkDesk(app);
    await desk.write({ body: 'Hello', send_email: true });
    const page = await desk.page();
    const answers = await Promise.all(Array.from({ length: 25 }, (_, i) => reply(page, `answer ${i}`)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(5);
    expect((await desk.list()).data[0].unread_count).toBe(20);
    clock.at += HOUR_MS;
    expect((await reply(page, 'an hour later')).status).toBe(303);
  });

  it('is not found under another token or after its links are revoked', async () => {
    const desk = await openTalkDesk(app);
    await desk.write({ body: 'Hello', send_email: true });
    const page = await desk.page();
    expect((await call(`${page.slice(0, -1)}${page.endsWith('A') ? 'B' : 'A'}`)).status).toBe(404);
    const { db } = app.context.postgres;
    await db.updateTable('conversations').set({ linkVersion: 2 }).where('brandId', '=', desk.brand.id).execute();
    expect((await call(page)).status).toBe(404);
    expect((await reply(page, 'Hello')).status).toBe(404);
  });
});
