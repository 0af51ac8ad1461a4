import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertSuppression } from '../../../src/kit/mail/mails.ts';
import { YEAR_MS } from '../../../src/kit/values/duration.ts';
import { daysAgo, makeAssignment, makeSale } from '../../harness/affiliates/sales.ts';
import { call, startApp, type TestApp, unique, until } from '../../harness/app.ts';
import { mailsOf, pathOf } from '../../harness/kit/mail.ts';
import { BEHIND_PROXY, someAddress } from '../../harness/workflow/applying.ts';
import { openWorkDesk, type WorkDesk } from '../../harness/workflow/work.ts';

const clock = { at: Date.now(), now: () => new Date(clock.at) };
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY, clock });
});
afterAll(() => app?.close());

const LINK = /\/me\/\w+$/;

/** The link to the page in the newest mail to an address. */
async function pageOf(desk: WorkDesk, to = desk.creator): Promise<string> {
  const mails = (await mailsOf(app.context, desk.brand.id)).filter((mail) => mail.to === to);
  const link = mails.flatMap(({ links }) => links).find((one) => LINK.test(one));
  if (link === undefined) throw new Error(`${to} was mailed no link to a page.`);
  return pathOf(link);
}

const open = (path: string) => call(`${app.links}${path}`);
const request = (email: string, address = someAddress()) =>
  call(`${app.links}/me`, undefined, {
    ...{ method: 'POST', body: new URLSearchParams({ email }), redirect: 'manual' },
    headers: { 'x-forwarded-for': address },
  });
const requested = async (desk: WorkDesk) =>
  (await mailsOf(app.context, desk.brand.id)).filter(({ kind }) => kind === 'page_requested');

describe("a creator's page", () => {
  it('shows what is to do, money, links, orders, payouts, statements, work, messages and parcels, and leads to each', async () => {
    const email = `${unique('zoe')}@mail.example`;
    const desk = await openWorkDesk(app, email);
    const { post } = desk;
    const assignment = await makeAssignment(app.context, desk.brand, { email });
    const approved = await makeSale(app.context, desk.brand, { assignment });
    const held = await makeSale(app.context, desk.brand, {
      assignment,
      occurredAt: daysAgo(1, clock.now()),
      amountMinor: 7_700,
    });
    await desk.send('PATCH', `/v1/affiliates/commissions/${approved.id}`, { status: 'approved' });
    await post('/v1/payouts', { creator_email: email, amount: 2.5, method: 'wallet', wallet_email: email });
    await post('/v1/statements', {
      creator_email: email,
      from: '2020-01-01',
      to: clock.now().toISOString().slice(0, 10),
    });
    await post('/v1/contracts', {
      ...{ creator_email: email, title: 'Summer <b>', send_for_signature: true },
      ...{ deliverables: [{ type: 'reel', platform: 'video_app' }] },
    });
    await post('/v1/contracts', { creator_email: email, title: 'A draft', deliverables: [{ type: 'story' }] });
    await post('/v1/deliverables', { creator_email: email, type: 'photo' });
    const brief = await post('/v1/briefs', { title: 'Show the soles', creator_email: email, send_notification: true });
    expect(brief.status).toBe(201);
    await post('/v1/messages', { creator_email: email, body: 'Which week suits you?', send_email: true });
    await post('/v1/shipments', { creator_email: email, product_description: 'Two pairs of shoes' });

    const { status, body, headers } = await open(await pageOf(desk));
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    for (const text of [
      ...['Sign: Summer &lt;b&gt;', 'Hand in: Photo', 'Read: Show the soles', '1 unread message'],
      ...[
        '$10.00',
        '$7.70',
        'Review ends',
        `Code ${assignment.code}`,
        `Order ${approved.orderId}`,
        `Order ${held.orderId}`,
      ],
      ...['$2.50', 'January 1, 2020 to', 'Two pairs of shoes', 'Being prepared', 'Your conversation with'],
    ]) {
      expect(body).toContain(text);
    }
    const standing = (id: string) =>
      new RegExp(`Order ${id}<.*?<span class="(badge[^"]*)">([^<]+)<`, 's').exec(body)?.slice(1);
    expect([standing(approved.orderId), standing(held.orderId)]).toEqual([
      ['badge', 'Approved'],
      ['badge open', 'In the review period'],
    ]);
    expect(body).toContain(`<span class="address">${email}</span> <a href="/payment/`);
    const others = body.replaceAll(email, '');
    for (const secret of ['A draft', '@mail.example', '@shop.example']) expect(others).not.toContain(secret);
    expect(body).toContain(`data-copy="${assignment.code}"`);
    const [script = '', ...more] = [...body.matchAll(/<script>(.*?)<\/script>/gs)].map(([, text = '']) => text);
    expect([more, body.split('<script').length]).toEqual([[], 2]);
    const digest = createHash('sha256').update(script).digest('base64');
    expect(headers.get('content-security-policy')).toContain(`script-src 'sha256-${digest}'`);
    const pages = [...body.matchAll(/href="(\/(\w+)\/[^"]+)"/g)];
    expect(new Set(pages.map(([, , kind]) => kind))).toEqual(
      new Set(['me', 'sign', 'work', 'brief', 'talk', 'statement', 'payment', 'parcel']),
    );
    for (const [, href = ''] of pages) expect([href, (await open(href)).status]).toEqual([href, 200]);
  });

  it('says what each link and code pays, and how many customers it brought, without their names', async () => {
    const email = `${unique('zoe')}@mail.example`;
    const desk = await openWorkDesk(app, email);
    const { post } = desk;
    const terms = { rate: { percent: 15 }, covers: 'subscription', payments: 3 };
    const made = await post('/v1/affiliates/links', { creator_email: email, value: unique('SUB'), terms });
    const order = { source: 'shop', currency: 'USD', amount: 80, codes: [made.body.data.value], kind: 'first' };
    const at = clock.now().toISOString();
    for (const name of ['jane', 'june']) {
      const customer_email = `${unique(name)}@shop.example`;
      const own = { order_id: unique('o'), subscription_id: unique('sub'), customer_email, placed_at: at, paid_at: at };
      expect((await post('/v1/orders', { ...order, ...own })).status).toBe(200);
    }
    await post('/v1/deliverables', { creator_email: email, type: 'photo' });
    const { body } = await open(await pageOf(desk));
    expect(body).toContain(`For you: ${made.body.data.terms_summary}`);
    expect(body).toContain('15% of each order; also on renewals of the subscription up to 3 payments in all.');
    expect(body).not.toContain('For shoppers');
    const { db } = app.context.postgres;
    await db.updateTable('links').set({ discountPpm: 125_000 }).where('id', '=', made.body.data.id).execute();
    expect((await open(await pageOf(desk))).body).toContain('For shoppers: 12.5% off their order.');
    expect(body).toContain('You brought 2 customers whose later orders may count for you.');
    for (const secret of ['jane', 'june', 'shop.example']) expect(body).not.toContain(secret);
  });

  it('shows nothing of another creator or another brand', async () => {
    const email = `${unique('zoe')}@mail.example`;
    const [desk, other] = [await openWorkDesk(app, email), await openWorkDesk(app, email)];
    const stranger = await makeAssignment(app.context, desk.brand);
    const foreign = await makeAssignment(app.context, other.brand, { email });
    for (const [of, assignment] of [
      [desk, stranger],
      [other, foreign],
    ] as const) {
      await makeSale(app.context, of.brand, { assignment });
      await of.post('/v1/payouts', { creator_email: assignment.email, amount: 9.99, method: 'manual' });
      await of.post('/v1/messages', { creator_email: assignment.email, body: 'Secret', send_email: true });
    }
    await desk.post('/v1/deliverables', { creator_email: email, type: 'photo' });
    const { status, body } = await open(await pageOf(desk));
    expect([status, body.includes('Photo')]).toEqual([200, true]);
    for (const text of ['9.99', stranger.code, foreign.code, 'unread', 'Order ']) expect(body).not.toContain(text);
  });

  it('is linked from no mail to an address that the creator no longer has, and a new address revokes its links', async () => {
    const desk = await openWorkDesk(app);
    await desk.post('/v1/deliverables', { creator_email: desk.creator, type: 'photo' });
    const page = await pageOf(desk);
    expect((await open(page)).status).toBe(200);
    const [{ id }] = await desk.read(`/v1/roster?search=${desk.creator}`);
    const changed = await desk.send('PATCH', `/v1/roster/${id}`, { creator_email: `new-${desk.creator}` });
    expect(changed.status, JSON.stringify(changed.body)).toBe(200);
    expect((await open(page)).status).toBe(404);
    await expect(pageOf(desk)).rejects.toThrow('no link');
    await desk.post('/v1/deliverables', { creator_email: `new-${desk.creator}`, type: 'photo' });
    expect((await open(await pageOf(desk, `new-${desk.creator}`))).status).toBe(200);
  });
});

describe('a form to the page', () => {
  it('that asks for nothing the page offers is 422, and changes nothing', async () => {
    const desk = await openWorkDesk(app);
    await desk.post('/v1/deliverables', { creator_email: desk.creator, type: 'photo' });
    const page = await pageOf(desk);
    const post = (body: Record<string, string>) =>
      call(`${app.links}${page}`, undefined, {
        ...{ method: 'POST', body: new URLSearchParams(body), redirect: 'manual' },
        headers: { 'x-forwarded-for': someAddress() },
      });
    const asked = async () => (await desk.send('GET', '/v1/data-requests')).body.data;
    const asks = ['', 'cancel', 'COPY', 'erasure '].map((ask): Record<string, string> => ({ ask }));
    const bodies: Record<string, string>[] = [...asks, {}, { other: 'erasure' }];
    for (const body of bodies) {
      const answer = await post(body);
      expect([body, answer.status]).toEqual([body, 422]);
      expect(answer.body).toContain('Nothing has changed');
    }
    expect(await asked()).toEqual([]);
    expect((await post({ ask: 'erasure' })).status).toBe(303);
    expect(await asked()).toMatchObject([{ kind: 'erasure' }]);
  });
});

describe('a link to it that has ended', () => {
  it('shows the same form whether it is expired, forged or unknown', async () => {
    const desk = await openWorkDesk(app);
    await desk.post('/v1/deliverables', { creator_email: desk.creator, type: 'photo' });
    const page = await pageOf(desk);
    const forged = await open(`${page.slice(0, -1)}${page.endsWith('A') ? 'B' : 'A'}`);
    const unknown = await open('/me/nothing');
    clock.at += YEAR_MS + 1_000;
    const expired = await open(page);
    clock.at -= YEAR_MS + 1_000;
    expect([forged.status, unknown.status, expired.status]).toEqual([404, 404, 404]);
    expect([forged.body, unknown.body]).toEqual([expired.body, expired.body]);
    expect(expired.body).toContain('action="/me"');
  });

  it('is replaced by mail, at most once an hour, and the answer is the same for a stranger', async () => {
    const desk = await openWorkDesk(app);
    const answers = [
      ...(await Promise.all([request(desk.creator.toUpperCase()), request(desk.creator)])),
      await request('stranger@mail.example'),
    ];
    expect(answers.map(({ status, headers, body }) => [status, headers.get('location'), body])).toEqual(
      answers.map(() => [303, '/me/sent', answers[0]?.body]),
    );
    expect((await open('/me/sent')).status).toBe(200);
    await until('the link is mailed', async () => (await requested(desk)).length > 0);
    expect((await requested(desk)).map(({ to }) => to)).toEqual([desk.creator]);
    expect((await open(await pageOf(desk))).status).toBe(200);
    expect((await request('not an address')).status).toBe(422);
  });

  it('is not mailed to an address that has unsubscribed, and a network may request ten a minute', async () => {
    const desk = await openWorkDesk(app);
    await insertSuppression(app.context.postgres.db, desk.brand.id, desk.creator, clock.now());
    const address = someAddress();
    const statuses = [];
    for (let i = 0; i < 11; i += 1) statuses.push((await request(desk.creator, address)).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 303), 429]);
    await until('the mail is kept back', async () => (await requested(desk)).length > 0);
    expect((await requested(desk)).map(({ state }) => state)).toEqual(['suppressed']);
  });
});

it('no answer of the API has a link to the page', async () => {
  const desk = await openWorkDesk(app);
  await desk.post('/v1/deliverables', { creator_email: desk.creator, type: 'photo' });
  const key = await desk.brand.key('brand');
  for (const path of ['/v1/mails', '/v1/roster', '/v1/creators', '/v1/audit-log']) {
    expect(JSON.stringify((await call(`${app.url}${path}`, key)).body)).not.toMatch(/\/me\//);
  }
});
