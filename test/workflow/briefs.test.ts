import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemsOf } from '../harness/affiliates/affiliates.ts';
import { startApp, type TestApp } from '../harness/app.ts';
import { pathOf } from '../harness/kit/mail.ts';
import { TIME } from '../harness/platform/people.ts';
import { BEHIND_PROXY } from '../harness/workflow/applying.ts';
import { openWorkDesk, type WorkDesk } from '../harness/workflow/work.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY });
});
afterAll(() => app?.close());

async function written(desk: WorkDesk, more: object = {}) {
  const { status, body } = await desk.post('/v1/briefs', { title: 'Two reels', ...more });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.data;
}

const send = (desk: WorkDesk, id: string, emails?: string[]) =>
  desk.post(`/v1/briefs/${id}`, { action: 'send', ...(emails && { recipients: emails.map((email) => ({ email })) }) });

const PREVIEWS: [string, Record<string, string>][] = [
  ['a mail scanner', { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' }],
  ['a prefetch', { 'sec-purpose': 'prefetch' }],
  ['a program without a name', { 'user-agent': '' }],
];

describe('a brief', () => {
  it('starts as a draft, and is sent immediately with send_notification', async () => {
    const desk = await openWorkDesk(app);
    expect(await written(desk, { creator_email: desk.creator })).toEqual({
      ...{ id: expect.stringMatching(/^brf_/), title: 'Two reels', status: 'draft', creator_email: desk.creator },
      created_at: expect.stringMatching(TIME),
    });
    expect(await desk.mails()).toEqual([]);
    const sent = await written(desk, { creator_email: desk.creator, send_notification: true });
    expect(sent.status).toBe('sent');
    expect(await desk.mails()).toMatchObject([{ kind: 'brief_sent', to: desk.creator, state: 'queued' }]);
    const { status, body } = await desk.post('/v1/briefs', { title: 'x', send_notification: true });
    expect([status, problemsOf({ body })]).toEqual([422, ['creator_email no_recipient']]);
  });

  it('keeps its fields, and a patch sets, omits and clears them', async () => {
    const desk = await openWorkDesk(app);
    const said = {
      ...{ campaign_id: desk.campaign, content_type: 'reel', platform: 'video_app', instructions: 'Be kind.' },
      ...{
        talking_points: ['price'],
        do_not: ['swear'],
        mood_board_urls: ['https://board.example/1'],
        due_date: '2030-01-31',
      },
    };
    const { id } = await written(desk, said);
    expect(await desk.read(`/v1/briefs/${id}`)).toMatchObject({ ...said, recipients: [], first_viewed_at: null });
    const { body } = await desk.send('PATCH', `/v1/briefs/${id}`, {
      instructions: null,
      due_date: '2030-02-01',
      do_not: [],
    });
    expect(body.data).toMatchObject({ ...said, instructions: null, due_date: '2030-02-01', do_not: [] });
    for (const wrong of [
      { due_date: '2030-02-30' },
      { mood_board_urls: ['ftp://x'] },
      { campaign_id: 'cmp_no' },
      { status: 'sent' },
    ]) {
      expect((await desk.send('PATCH', `/v1/briefs/${id}`, wrong)).status, JSON.stringify(wrong)).toBe(422);
    }
  });

  it('is mailed to new recipients only, once each, however their addresses are written', async () => {
    const desk = await openWorkDesk(app);
    const [ana, ben] = [await desk.onRoster(), await desk.onRoster()];
    const { id } = await written(desk);
    expect(problemsOf(await send(desk, id))).toEqual(['recipients no_recipient']);
    const first = (await send(desk, id, [ana, ana.toUpperCase()])).body.data;
    expect(first).toMatchObject({ id, status: 'sent', recipients: [{ email: ana, status: 'sent', reason: null }] });
    const second = (await send(desk, id, [ana, ben])).body.data;
    expect(second.sent_at).toBe(first.sent_at);
    expect(second.recipients).toEqual([
      { email: ana, status: 'skipped', reason: 'already_sent' },
      { email: ben, status: 'sent', reason: null },
    ]);
    expect((await desk.mails()).map(({ to }) => to).sort()).toEqual([ana, ben].sort());
    expect((await desk.read(`/v1/briefs/${id}`)).recipients).toMatchObject([{ email: ana }, { email: ben }]);
    expect(await desk.read(`/v1/briefs?creator_email=${ben}`)).toMatchObject([
      { id, recipient_count: 2, viewed_count: 0 },
    ]);
  });

  it('reports who cannot receive it: strangers and too many recipients are 422, suppressed addresses are failed', async () => {
    const desk = await openWorkDesk(app);
    const { id } = await written(desk, { creator_email: desk.creator });
    expect(problemsOf(await send(desk, id, [desk.creator, 'nobody@example.com']))).toEqual([
      'recipients.1.email not_on_roster',
    ]);
    const many = Array.from({ length: 101 }, (_, i) => `r${i}@example.com`);
    expect((await send(desk, id, many)).body.details[0].field).toBe('recipients');
    const unknown = await desk.post(`/v1/briefs/${id}`, { action: 'burn' });
    expect(unknown.body.error).toContain('must be one of send, duplicate');
    const other = await written(desk, { creator_email: desk.creator, send_notification: true });
    const [mail] = await desk.mails();
    const stop = mail?.links.find((link) => pathOf(link).startsWith('/unsubscribe/')) ?? '';
    expect((await desk.fill(stop, {})).status).toBe(200);
    const { data } = (await send(desk, id)).body;
    expect(data).toMatchObject({ status: 'draft', recipients: [{ status: 'failed', reason: 'suppressed' }] });
    expect((await send(desk, id)).body.data.recipients).toMatchObject([{ status: 'failed', reason: 'suppressed' }]);
    expect((await desk.read(`/v1/briefs/${other.id}`)).status).toBe('sent');
  });

  it.each(PREVIEWS)('is not started by %s that opens the link', async (_who, headers) => {
    const desk = await openWorkDesk(app);
    const { id } = await written(desk, { creator_email: desk.creator, send_notification: true });
    const link = await desk.linkTo('brief');
    const page = await desk.open(link, headers);
    expect([page.status, page.text.includes('Two reels')]).toEqual([200, true]);
    expect((await desk.read(`/v1/briefs/${id}`)).status).toBe('sent');
    expect((await desk.fill(link, {})).status).toBe(303);
    expect((await desk.read(`/v1/briefs/${id}`)).status).toBe('in_progress');
  });

  it('is not started by a HEAD of the link', async () => {
    const desk = await openWorkDesk(app);
    const { id } = await written(desk, { creator_email: desk.creator, send_notification: true });
    const { status } = await desk.open(await desk.linkTo('brief'), {}, 'HEAD');
    expect([status, (await desk.read(`/v1/briefs/${id}`)).status]).toEqual([200, 'sent']);
  });

  it('is in progress once any recipient opens it', async () => {
    const desk = await openWorkDesk(app);
    const [ana, ben] = [await desk.onRoster(), await desk.onRoster()];
    const { id } = await written(desk, { talking_points: ['the <b>price</b>'], due_date: '2030-01-31' });
    await send(desk, id, [ana, ben]);
    const page = await desk.open(await desk.linkTo('brief', ben));
    expect(page.text).toContain('the &lt;b&gt;price&lt;/b&gt;');
    expect(page.text).toContain('January 31, 2030');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    const seen = await desk.read(`/v1/briefs/${id}`);
    expect(seen).toMatchObject({
      status: 'in_progress',
      first_viewed_at: expect.stringMatching(TIME),
      recipient_count: 2,
      viewed_count: 1,
    });
    expect(seen.recipients.map(({ viewed_at }: { viewed_at: string | null }) => viewed_at === null).sort()).toEqual([
      false,
      true,
    ]);
    await desk.open(await desk.linkTo('brief', ben));
    expect((await desk.read(`/v1/briefs/${id}`)).first_viewed_at).toBe(seen.first_viewed_at);
  });

  it('cannot be sent once the brand completes it, and can be deleted only while it is a draft', async () => {
    const desk = await openWorkDesk(app);
    const { id } = await written(desk, { creator_email: desk.creator });
    const early = await desk.send('PATCH', `/v1/briefs/${id}`, { status: 'completed' });
    expect([early.status, early.body.current_status, early.body.allowed]).toEqual([409, 'draft', ['sent', 'deleted']]);
    await send(desk, id);
    expect((await desk.send('DELETE', `/v1/briefs/${id}`)).status).toBe(409);
    for (let i = 0; i < 2; i += 1) {
      const done = await desk.send('PATCH', `/v1/briefs/${id}`, { status: 'completed' });
      expect([done.status, done.body.data.status]).toEqual([200, 'completed']);
    }
    const late = await send(desk, id, [await desk.onRoster()]);
    expect([late.status, late.body.code, late.body.allowed]).toEqual([409, 'INVALID_STATE_TRANSITION', []]);
    const copy = (await desk.post(`/v1/briefs/${id}`, { action: 'duplicate' })).body.data;
    expect(copy).toMatchObject({ title: 'Two reels', status: 'draft', creator_email: desk.creator, sent_at: null });
    expect((await desk.send('DELETE', `/v1/briefs/${copy.id}`)).body).toEqual({ deleted: true, id: copy.id });
    expect((await desk.get(`/v1/briefs/${copy.id}`)).status).toBe(404);
  });

  it('still opens by its link after its creator is merged into another record', async () => {
    const desk = await openWorkDesk(app);
    const { id } = await written(desk, { creator_email: desk.creator, send_notification: true });
    const link = await desk.linkTo('brief');
    const [entry] = await desk.read('/v1/roster');
    const other = (await desk.post('/v1/roster/add', { ig_handle: `h${Date.now()}` })).body.data;
    const merged = await desk.post(`/v1/roster/${entry.id}/merge`, { into: other.id });
    expect(merged.status, JSON.stringify(merged.body)).toBe(200);
    expect((await desk.open(link)).status).toBe(200);
    expect(await desk.read(`/v1/briefs/${id}`)).toMatchObject({ status: 'in_progress', creator_email: desk.creator });
  });

  it('is found by campaign, creator and status', async () => {
    const desk = await openWorkDesk(app);
    await written(desk, { campaign_id: desk.campaign });
    await written(desk, { creator_email: desk.creator, send_notification: true });
    const titles = async (query: string) => (await desk.get(`/v1/briefs?${query}`)).body.pagination.total;
    expect(await titles(`campaign_id=${desk.campaign}`)).toBe(1);
    expect(await titles(`creator_email=${desk.creator.toUpperCase()}`)).toBe(1);
    expect(await titles('status=draft')).toBe(1);
    expect(await titles('status=completed')).toBe(0);
  });

  it('is found by the address of each creator who received it', async () => {
    const desk = await openWorkDesk(app);
    const [ana, ben, eve] = [await desk.onRoster(), await desk.onRoster(), await desk.onRoster()];
    const { id } = await written(desk, { creator_email: eve });
    await send(desk, id, [ana, ben]);
    for (const email of [ana, ben.toUpperCase(), eve]) {
      const { body } = await desk.get(`/v1/briefs?creator_email=${email}`);
      expect([body.data.map((one: { id: string }) => one.id), body.pagination.total]).toEqual([[id], 1]);
    }
    expect((await desk.get(`/v1/briefs?creator_email=${desk.creator}`)).body.data).toEqual([]);
  });

  it('is sent once by 20 concurrent calls', async () => {
    const desk = await openWorkDesk(app);
    const { id } = await written(desk, { creator_email: desk.creator });
    // Warms the cache of keys before all calls wait for one lock.
    for (let i = 0; i < 10; i += 1) await desk.get('/v1/brand');
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(desk, id)));
    const outcomes = answers.map(({ body }) => body.data.recipients[0].status);
    expect(outcomes.filter((outcome) => outcome === 'sent')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'skipped')).toHaveLength(19);
    expect(await desk.mails()).toHaveLength(1);
  });
});
