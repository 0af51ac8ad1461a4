import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deliverables } from '../../src/workflow/deliverables/deliverables.ts';
import { problemsOf } from '../harness/affiliates/affiliates.ts';
import { startApp, type TestApp } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';
import { BEHIND_PROXY, listEvents } from '../harness/workflow/applying.ts';
import { openWorkDesk, type WorkDesk } from '../harness/workflow/work.ts';

const DAY_MS = 86_400_000;
/** A separate database, because a relay works for all brands. */
let database: TestDatabase;
let app: TestApp;
let nowMs = Date.now();
beforeAll(async () => {
  database = await makeDatabase('deliverables');
  const env = { ...BEHIND_PROXY, MAX_ASSET_MB: '2' };
  app = await startApp({ urls: { postgres: database.url }, env, clock: { now: () => new Date(nowMs++) } });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

const URL = 'https://video.app/v/1';

/** One that was asked for outside of a contract, with its creator's link. */
async function requested(desk: WorkDesk, more: object = {}) {
  const { status, body } = await desk.post('/v1/deliverables', { creator_email: desk.creator, type: 'reel', ...more });
  expect(status, JSON.stringify(body)).toBe(201);
  const { id } = body.data;
  const link = await desk.linkTo('work');
  return {
    id,
    link,
    read: () => desk.read(`/v1/deliverables/${id}`),
    patch: (body: object) => desk.send('PATCH', `/v1/deliverables/${id}`, body),
    submit: (fields: Record<string, string> = { content_url: URL }) =>
      desk.fill(link, { deliverable: id, do: 'submit', ...fields }, 'multipart'),
    decline: (reason: string) => desk.fill(link, { deliverable: id, do: 'decline', reason }, 'multipart'),
  };
}

const reported = async (desk: WorkDesk) =>
  (await listEvents(app, desk.brand.id)).map(({ event }) => event).filter((event) => event.startsWith('deliverable.'));

describe('a deliverable', () => {
  it('is requested, started by its creator, submitted, sent back, submitted again and approved', async () => {
    const desk = await openWorkDesk(app);
    const work = await requested(desk, {
      campaign_id: desk.campaign,
      instructions: 'Show the box.',
      due_date: '2030-01-31',
    });
    expect(await work.read()).toMatchObject({ status: 'pending', contract_id: null, version: 0, submissions: [] });
    await desk.open(work.link, { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1)' });
    expect((await work.read()).status).toBe('pending');
    expect((await desk.open(work.link, {}, 'HEAD')).status).toBe(200);
    expect((await work.read()).status).toBe('pending');
    const page = await desk.open(work.link);
    expect(page.text).toContain('Show the box.');
    expect(page.text).toContain('<span class="badge turn">');
    expect((await work.read()).status).toBe('in_progress');
    const [started] = await desk.read(`/v1/audit-log?resource_id=${work.id}&operation=page_work`);
    expect([started.creator_email, started.old.status, started.new.status]).toEqual([
      ...[desk.creator, 'pending', 'in_progress'],
    ]);
    expect(Object.keys(started.new).sort()).toEqual(['status', 'updated_at']);
    expect((await work.submit({ content_url: URL, note: 'First cut' })).status).toBe(303);
    expect(await work.read()).toMatchObject({
      ...{ status: 'submitted', content_url: URL, caption: 'First cut', version: 1, is_late: false },
    });
    const handedIn = (await desk.open(work.link)).text;
    expect(handedIn).toMatch(/>Handed in <time [^>]+>[^<]+<\/time>[^<]*\. .+ reviews it and writes to you\.</);
    const revised = await work.patch({ status: 'revision_requested', feedback: 'Louder, please.' });
    expect(revised.body.data).toEqual({
      ...{ id: work.id, status: 'revision_requested', feedback: 'Louder, please.', due_date: '2030-01-31' },
      updated_at: expect.any(String),
    });
    const [mail] = await desk.mails();
    expect(mail).toMatchObject({ kind: 'revision_requested', to: desk.creator });
    expect(mail?.text).toContain('> Louder, please.');
    expect((await desk.open(await desk.linkTo('work'))).text).toContain('Louder, please.');
    await work.submit({ content_url: `${URL}2` });
    expect((await work.patch({ status: 'approved' })).body.data).toMatchObject({ status: 'approved', feedback: null });
    const done = await work.read();
    expect(done).toMatchObject({
      status: 'approved',
      version: 2,
      content_url: `${URL}2`,
      approved_at: expect.any(String),
    });
    expect(done.submissions).toMatchObject([
      { version: 2, content_url: `${URL}2`, caption: null, feedback: null },
      { version: 1, content_url: URL, caption: 'First cut', feedback: 'Louder, please.' },
    ]);
    expect(await reported(desk)).toEqual([
      'deliverable.submitted',
      'deliverable.revision_requested',
      'deliverable.submitted',
      'deliverable.approved',
    ]);
    const events = (await listEvents(app, desk.brand.id)).filter(({ event }) => event === 'deliverable.approved');
    expect(events[0]?.data).toEqual((await desk.read('/v1/deliverables'))[0]);
    const kinds = (await desk.mails()).map(({ kind }) => kind).reverse();
    expect(kinds).toEqual([
      ...['work_requested', 'deliverable_submitted', 'revision_requested', 'deliverable_submitted'],
      'deliverable_approved',
    ]);
  });

  it('refuses moves that its status does not allow, and names those it allows', async () => {
    const desk = await openWorkDesk(app);
    const work = await requested(desk);
    const move = async (status: string) => {
      const { status: code, body } = await work.patch({ status });
      return [code, body.current_status, body.allowed];
    };
    expect(await move('approved')).toEqual([409, 'pending', ['cancelled']]);
    expect((await work.patch({ status: 'submitted' })).status).toBe(422);
    await work.submit();
    await work.patch({ status: 'approved' });
    expect(await move('cancelled')).toEqual([409, 'approved', []]);
    expect(await move('revision_requested')).toEqual([409, 'approved', []]);
    expect(await move('approved')).toEqual([200, undefined, undefined]);
    expect(await reported(desk)).toEqual(['deliverable.submitted', 'deliverable.approved']);
  });

  it('is declined with a reason that reaches the brand, and can then be cancelled', async () => {
    const desk = await openWorkDesk(app);
    const work = await requested(desk);
    expect((await work.decline(' ')).text).toContain('Say why, in a few words.');
    expect((await work.decline('I am on holiday.')).status).toBe(303);
    expect(await work.read()).toMatchObject({ status: 'declined', declined_reason: 'I am on holiday.' });
    const [mail] = await desk.mails();
    expect([mail?.kind, mail?.to, mail?.text.includes('> I am on holiday.')]).toEqual([
      'deliverable_declined',
      desk.contact,
      true,
    ]);
    expect((await work.submit()).status).toBe(409);
    expect((await work.patch({ status: 'cancelled' })).status).toBe(200);
    expect(await reported(desk)).toEqual(['deliverable.declined', 'deliverable.cancelled']);
  });

  it.each([
    [{}, 'Give a link, or choose a file.'],
    [{ content_url: 'http://video.app/v' }, 'begins with https://'],
    [{ content_url: 'https://me@video.app/v' }, 'name or password'],
    [{ content_url: `https://video.app/${'x'.repeat(2_000)}` }, 'longer than 2000'],
    [{ content_url: URL, note: 'n'.repeat(5_001) }, 'Shorten your note'],
  ])('does not accept %j, and says why', async (fields, words) => {
    const desk = await openWorkDesk(app);
    const work = await requested(desk);
    const { status, text } = await work.submit(fields);
    expect([status, text.includes(words)]).toEqual([422, true]);
    expect((await work.read()).version).toBe(0);
  });

  it('has its post tracked also when `track` is set after the approval; an unchanged patch changes nothing', async () => {
    const desk = await openWorkDesk(app);
    const work = await requested(desk);
    await work.submit();
    await work.patch({ status: 'approved' });
    await desk.relay();
    expect((await desk.get('/v1/content')).body.pagination.total).toBe(0);
    const { updated_at: at } = await work.read();
    await work.patch({ status: 'approved' });
    expect((await work.read()).updated_at).toBe(at);
    expect((await work.patch({ track: true })).status).toBe(200);
    await desk.relay();
    expect(await desk.read('/v1/content')).toMatchObject([{ url: URL, creator_email: desk.creator }]);
    expect((await desk.events()).map(({ event }) => event)).not.toContain('deliverable.track_requested');
  });

  it('accepts files up to the size limit of assets, which the page states', async () => {
    const desk = await openWorkDesk(app);
    const work = await requested(desk);
    expect((await desk.open(work.link)).text).toContain('each up to 2 MB');
    const hand = (bytes: number) =>
      desk.fill(work.link, { deliverable: work.id, do: 'submit' }, [new File(['x'.repeat(bytes)], 'cut.txt')]);
    expect((await hand(2 * 1024 * 1024 + 1)).status).toBe(413);
    expect((await work.read()).version).toBe(0);
    expect((await hand(2 * 1024 * 1024)).status).toBe(303);
    expect((await work.read()).version).toBe(1);
  });

  it('is late from the day after its due date, submitted or not, and late work is accepted', async () => {
    const desk = await openWorkDesk(app);
    const due_date = new Date(nowMs).toISOString().slice(0, 10);
    const [onTime, late] = [await requested(desk, { due_date }), await requested(desk, { due_date })];
    const [owed, cancelled] = [await requested(desk, { due_date }), await requested(desk, { due_date })];
    const sentBack = await requested(desk, { due_date });
    const undated = await requested(desk);
    await onTime.submit();
    await sentBack.submit();
    await sentBack.patch({ status: 'revision_requested' });
    await cancelled.patch({ status: 'cancelled' });
    const all = [onTime, late, owed, cancelled, sentBack, undated];
    const areLate = () => Promise.all(all.map(async (work) => (await work.read()).is_late));
    const listed = async (overdue: boolean) =>
      (await desk.read(`/v1/deliverables?overdue=${overdue}&sort=oldest`)).map(({ id }: { id: string }) => id);
    expect([await areLate(), await listed(true)]).toEqual([all.map(() => false), []]);
    nowMs += DAY_MS;
    await late.submit();
    expect(await areLate()).toEqual([false, true, true, false, true, false]);
    expect(await listed(true)).toEqual([owed.id, sentBack.id]);
    expect((await listed(false)).sort()).toEqual([onTime.id, late.id, cancelled.id, undated.id].sort());
    const moved = await owed.patch({ due_date: '2199-01-01' });
    expect([moved.status, (await owed.read()).is_late]).toEqual([200, false]);
  });

  it("is late by the day of the brand's zone", async () => {
    const desk = await openWorkDesk(app);
    const setZone = (time_zone: string) => desk.send('PATCH', '/v1/brand', { settings: { time_zone } });
    // The two ends of the calendar: where a day begins last, and where it begins first, 26 hours earlier.
    const [last, first] = ['Etc/GMT+12', 'Pacific/Kiritimati'];
    await setZone(last);
    const work = await requested(desk, { due_date: new Date(nowMs - DAY_MS / 2).toISOString().slice(0, 10) });
    const overdue = async () => (await desk.read('/v1/deliverables?overdue=true')).length;
    expect([(await work.read()).is_late, await overdue()]).toEqual([false, 0]);
    await setZone(first);
    expect([(await work.read()).is_late, await overdue()]).toEqual([true, 1]);
  });

  it('is either approved or sent back when both happen at once; the other call is 409', async () => {
    const desk = await openWorkDesk(app);
    for (let i = 0; i < 3; i += 1) {
      const work = await requested(desk);
      await work.submit();
      const answers = await Promise.all([
        work.patch({ status: 'approved' }),
        work.patch({ status: 'revision_requested' }),
      ]);
      const statuses = answers.map(({ status }) => status);
      const { status } = await work.read();
      expect(statuses).toEqual(status === 'approved' ? [200, 409] : [409, 200]);
    }
  });

  it('has one version after 10 concurrent submissions', async () => {
    const desk = await openWorkDesk(app);
    const work = await requested(desk);
    const answers = await Promise.all(Array.from({ length: 10 }, () => work.submit()));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([303, ...Array.from({ length: 9 }, () => 409)]);
    expect((await work.read()).version).toBe(1);
    expect(await reported(desk)).toEqual(['deliverable.submitted']);
  });

  it('cannot be requested from a stranger or for an unknown campaign', async () => {
    const desk = await openWorkDesk(app);
    const { status, body } = await desk.post('/v1/deliverables', {
      ...{ creator_email: 'nobody@example.com', campaign_id: 'cmp_no', type: 'reel' },
    });
    expect([status, problemsOf({ body }).sort()]).toEqual([
      422,
      ['campaign_id not_found', 'creator_email not_on_roster'],
    ]);
    expect(
      (await desk.post('/v1/deliverables', { creator_email: desk.creator, type: 'reel', contract_id: 'ctr_x' })).status,
    ).toBe(422);
  });

  it("keeps its creator's words out of the audit log", async () => {
    const desk = await openWorkDesk(app);
    const [first, second] = [await requested(desk), await requested(desk)];
    await first.submit({ content_url: URL, note: 'my private note' });
    await second.decline('my private reason');
    const log = JSON.stringify(await desk.read('/v1/audit-log?limit=100'));
    expect(log).toContain('page_work');
    expect(log).not.toContain('my private');
  });

  it('is listed by due date, the soonest that is still owed first, page by page', async () => {
    const desk = await openWorkDesk(app);
    const late = await requested(desk, { due_date: '2031-05-02' });
    const done = await requested(desk, { due_date: '2031-01-01' });
    const never = await requested(desk);
    const soon = await requested(desk, { due_date: '2031-05-01' });
    await done.submit();
    const expected = [soon, late, done, never].map(({ id }) => id);
    const pages = [1, 2, 3, 4].map((page) => desk.read(`/v1/deliverables?sort=due&limit=1&page=${page}`));
    expect((await Promise.all(pages)).map(([{ id }]) => id)).toEqual(expected);
    const waiting = await desk.read('/v1/deliverables?sort=waiting');
    expect(waiting.map(({ id }: { id: string }) => id)).toEqual([done, soon, late, never].map(({ id }) => id));
    const after = async (at: string, { id }: { id: string }) => {
      const last = { limit: 10, after: { at, id } };
      const where = { sort: 'due' as const, today: new Date(nowMs).toISOString().slice(0, 10) };
      const rows = await deliverables.select(app.context.postgres.db, desk.brand.id, where, last);
      return rows.map((row) => row.id);
    };
    expect(await after('2031-05-01', soon)).toEqual(expected.slice(1));
    expect(await after('infinity', done)).toEqual([never.id]);
  });

  it('is found by contract, campaign, creator and status, including declined and cancelled', async () => {
    const desk = await openWorkDesk(app);
    const work = await requested(desk, { campaign_id: desk.campaign });
    await work.decline('no');
    const total = async (query: string) => (await desk.get(`/v1/deliverables?${query}`)).body.pagination.total;
    expect(await total('status=declined')).toBe(1);
    expect(await total('status=cancelled')).toBe(0);
    expect(await total(`campaign_id=${desk.campaign}`)).toBe(1);
    expect(await total(`creator_email=${desk.creator.toUpperCase()}`)).toBe(1);
    expect(await total('contract_id=ctr_none')).toBe(0);
  });
});

describe('the work page of a contract', () => {
  it('is not found before the signature, and shows all deliverables afterwards', async () => {
    const desk = await openWorkDesk(app);
    const { data } = (
      await desk.post('/v1/contracts', {
        ...{ creator_email: desk.creator, title: 'Summer', send_for_signature: true },
        deliverables: [{ type: 'reel', quantity: 2, due_date: '2030-01-31' }, { type: 'story' }],
      })
    ).body;
    const [one] = await desk.read(`/v1/deliverables?contract_id=${data.id}`);
    const { pageLinks } = app.context;
    const early = pageLinks.urlOf({ kind: 'work', rowId: one.id, version: 1, expiresAt: new Date(nowMs + DAY_MS) });
    expect((await desk.open(early)).status).toBe(404);
    await desk.fill(data.signature_url, { name: 'Ana', agree: 'yes' });
    const link = await desk.linkTo('work');
    const { text } = await desk.open(link);
    expect(text.match(/aria-label="Hand in: /g)).toHaveLength(3);
    expect(text.match(/<li class="line"><div><a href="[^"]*\?deliverable=dlv_/g)).toHaveLength(3);
    const states = (await desk.read(`/v1/deliverables?contract_id=${data.id}`)).map(
      ({ status }: { status: string }) => status,
    );
    expect(states).toEqual(['in_progress', 'in_progress', 'in_progress']);
    const stranger = await openWorkDesk(app);
    const { id } = await requested(stranger);
    await desk.fill(link, { deliverable: id, do: 'submit', content_url: URL }, 'multipart');
    expect((await stranger.read(`/v1/deliverables/${id}`)).status).toBe('pending');
  });
});
