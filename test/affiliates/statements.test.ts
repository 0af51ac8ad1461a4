import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  approved,
  codeOf,
  get,
  makePayer,
  type Payer,
  problemsOf,
  recorded,
  settle,
} from '../harness/affiliates/paying.ts';
import { daysAgo, makeSale, refund } from '../harness/affiliates/sales.ts';
import { call, send, startApp, type TestApp, unique } from '../harness/app.ts';
import { mailsOf, pathOf } from '../harness/kit/mail.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const post = (owner: Payer, path: string, body: object) => send(`${app.url}${path}`, owner.key, 'POST', body);
const dayOf = (at: Date) => at.toISOString().slice(0, 10);

/** Ann's story: two sales, one paid, part of it taken back. */
async function makeStory() {
  const owner = await makePayer(app);
  await send(`${app.url}/v1/brand`, owner.key, 'PATCH', { contact_email: `${owner.brand.id}@brand.example` });
  const early = await approved(owner, { occurredAt: daysAgo(90), customerEmail: 'jane@shop.example' });
  const late = await approved(owner, { occurredAt: daysAgo(50), amountMinor: 30_000 });
  const paidAt = daysAgo(20);
  await settle(owner, (await recorded(owner, { amount: 10 })).id, {
    paid_at: paidAt.toISOString(),
    reference: 'SEPA 9',
  });
  await refund(app.context, early, 4_000, daysAgo(10));
  const period = { creator_email: owner.ann.email, from: dayOf(daysAgo(70)), to: dayOf(new Date()) };
  return { owner, early, late, period };
}

const formOf = (fields: Record<string, string>) => ({
  method: 'POST',
  redirect: 'manual' as const,
  headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
  body: new URLSearchParams(fields).toString(),
});

describe('a creator’s statement', () => {
  it('covers a period of the ledger with its hash, and reads the same later', async () => {
    const { owner, early, late, period } = await makeStory();
    const made = await post(owner, '/v1/statements', period);
    expect([made.status, made.body.data.email_sent]).toEqual([201, false]);
    const { id, ledger_hash, ledger_seq } = made.body.data;
    const found = async (query: string) => (await get(owner, `/v1/statements?${query}`)).body.pagination.total;
    expect(await Promise.all([found(`covers=${dayOf(daysAgo(60))}`), found(`covers=${dayOf(daysAgo(80))}`)])).toEqual([
      1, 0,
    ]);
    expect(await Promise.all([found('disputed=true'), found('disputed=false')])).toEqual([0, 1]);
    const entries = await get(owner, '/v1/affiliates/ledger?limit=1');
    expect(entries.body.data[0]).toMatchObject({ seq: ledger_seq, hash: ledger_hash });
    const read = async () => (await get(owner, `/v1/statements/${id}`)).body.data;
    const first = await read();
    expect(pathOf(first.url)).toBe(pathOf(made.body.data.url));
    expect(first.lines).toMatchObject([
      {
        id: early.id,
        order_id: early.orderId,
        customer_email: 'j***@s***.example',
        refunded_amount: 40,
        taken_back: 4,
      },
      { id: late.id, sale_amount: 300, commission: 30, status: 'approved' },
      { type: 'payout', reference: 'SEPA 9', paid_out: 10 },
    ]);
    expect(first.totals).toEqual([
      { currency: 'USD', opening: 10, commission: 30, taken_back: 4, paid_out: 10, closing: 26 },
    ]);
    const balance = (await get(owner, `/v1/roster/${owner.ann.creatorId}/balance`)).body.data.by_currency[0];
    expect(balance.payable_now).toBe(26);
    await approved(owner, { occurredAt: daysAgo(40) });
    expect(await read()).toEqual(first);
    const csv = await call(`${app.url}/v1/statements/${id}`, owner.key, { headers: { accept: 'text/csv' } });
    expect(csv.body.trim().split('\n')).toHaveLength(4);
    const list = await get(owner, `/v1/statements?creator_email=${owner.ann.email.toUpperCase()}`);
    expect(list.body.data).toMatchObject([{ id, totals: first.totals }]);
    expect(codeOf(await get(await makePayer(app), `/v1/statements/${id}`))).toEqual([404, 'NOT_FOUND']);
  });

  it('says which orders begin, renew or change a subscription', async () => {
    const owner = await makePayer(app);
    const { email: creator_email } = owner.ann;
    const terms = { rate: { percent: 10 }, covers: 'subscription' };
    const code = (await post(owner, '/v1/affiliates/links', { creator_email, value: unique('SUB'), terms })).body.data;
    const order = { source: 'shop', subscription_id: unique('sub'), currency: 'USD', amount: 40, codes: [code.value] };
    for (const [i, kind] of ['first', 'renewal', 'upgrade'].entries()) {
      const at = new Date(Date.now() + i).toISOString();
      const told = await post(owner, '/v1/orders', {
        ...order,
        ...{ order_id: unique('o'), kind, placed_at: at, paid_at: at },
      });
      expect([told.status, told.body.details]).toEqual([200, undefined]);
    }
    const made = (
      await post(owner, '/v1/statements', { creator_email, from: dayOf(daysAgo(20)), to: dayOf(new Date()) })
    ).body.data;
    const { lines } = (await get(owner, `/v1/statements/${made.id}`)).body.data;
    expect(lines.map((line: { order_kind: string }) => line.order_kind)).toEqual(['first', 'renewal', 'upgrade']);
    const { pathname, search } = new URL(made.url);
    const page = await (await fetch(`${app.links}${pathname}${search}`)).text();
    for (const words of ['first order of a subscription', 'renewal', 'change of plan']) expect(page).toContain(words);
  });

  it('says of a refund that it is in the opening balance only if its order is older than the period', async () => {
    const owner = await makePayer(app);
    const [older, within] = [
      await approved(owner, { occurredAt: daysAgo(60), amountMinor: 12_300 }),
      await approved(owner, { occurredAt: daysAgo(30), amountMinor: 45_600 }),
    ];
    await refund(app.context, older, 12_300, daysAgo(5));
    await refund(app.context, within, 45_600, daysAgo(5));
    const period = { creator_email: owner.ann.email, from: dayOf(daysAgo(40)), to: dayOf(new Date()) };
    const { url } = (await post(owner, '/v1/statements', period)).body.data;
    const page = await (await fetch(app.links + new URL(url).pathname)).text();
    const line = (orderId: string) => page.split('<tr>').find((row) => row.includes(`Order ${orderId}<`)) ?? '';
    expect(line(older.orderId)).toMatch(/refunded \$123\.00, in the opening balance.*>–</s);
    expect(line(within.orderId)).toMatch(/refunded \$456\.00.*>\$0\.00</s);
    expect(line(within.orderId)).not.toContain('opening balance');
  });

  it('has a page that groups orders by link or code, folded if they are many, with the payouts by themselves', async () => {
    const owner = await makePayer(app);
    for (const days of [42, 43, 44, 45, 46]) await approved(owner, { occurredAt: daysAgo(days) });
    const read = async () => {
      const period = { creator_email: owner.ann.email, from: dayOf(daysAgo(60)), to: dayOf(new Date()) };
      const { url } = (await post(owner, '/v1/statements', period)).body.data;
      return await (await fetch(app.links + new URL(url).pathname)).text();
    };
    const group = (more: string, count: number, sum: string) =>
      `<details${more}><summary><span>${owner.ann.code}<br><span class="hint">${count} orders</span></span><span class="money">${sum}<`;
    expect(await read()).toContain(group(' open', 5, '$50.00'));
    const held = await makeSale(app.context, owner.brand, { assignment: owner.ann, occurredAt: daysAgo(5) });
    const paidAt = daysAgo(3);
    const { id } = await recorded(owner, { amount: 20 });
    await settle(owner, id, { paid_at: paidAt.toISOString(), reference: 'SEPA 9' });
    const page = await read();
    expect(page).toContain(group('', 6, '$60.00'));
    expect(page).toMatch(new RegExp(`Order ${held.orderId}<[^\\n]*, in the review period<`));
    expect(page).toContain('>Print or save as PDF<');
    const payouts = page.slice(page.indexOf('<h2>Payouts</h2>'));
    const day = paidAt.toLocaleDateString('en-US', { dateStyle: 'long', timeZone: 'UTC' });
    expect(payouts).toMatch(new RegExp(`Payout of ${day}<.*Reference SEPA 9.*>−\\$20\\.00<`, 's'));
    expect(payouts).not.toContain('Order ');
  });

  it('shows the amount of a fee, which is not part of the balance', async () => {
    const { owner, period } = await makeStory();
    await recorded(owner, { method: 'wallet', amount: 450, commission_ids: [] });
    const { url } = (await post(owner, '/v1/statements', period)).body.data;
    const page = await (await fetch(app.links + new URL(url).pathname)).text();
    const fee = page.split('<tr>').find((row) => row.includes('>Fee<')) ?? '';
    expect(fee).toMatch(/not part of the balance.*>\$450\.00</s);
    expect(page).toMatch(/>Closing balance<.*?>\$26\.00</s);
  });

  it('requires a creator who is or was on the roster, and a valid period', async () => {
    const { owner, period } = await makeStory();
    const stranger = await post(owner, '/v1/statements', { ...period, creator_email: 'x@mail.example' });
    expect(problemsOf(stranger)).toEqual([['creator_email', 'not_on_roster']]);
    const backwards = await post(owner, '/v1/statements', { ...period, from: '2026-04-01', to: '2026-03-01' });
    expect(problemsOf(backwards)).toEqual([['from', 'invalid']]);
  });

  it('has a page where the creator asks about a line; the question and its answer are mailed both ways', async () => {
    const { owner, late, period } = await makeStory();
    const { data } = (await post(owner, '/v1/statements', { ...period, send_email: true })).body;
    expect(data.email_sent).toBe(true);
    const [mail] = await mailsOf(app.context, owner.brand.id);
    const path = pathOf(mail?.links[0] ?? '');
    expect(path).toMatch(/^\/statement\//);
    const page = await (await fetch(app.links + path)).text();
    expect(page).toContain(late.orderId);
    expect(page).toContain(data.ledger_hash);
    expect(page).toMatch(/>Change<.*of the balance in this period.*\$16\.00/);
    expect(page).not.toContain('jane@');
    expect(await (await fetch(`${app.url}${path}?ask=${late.id}`)).text()).toContain(`Ask about Order ${late.orderId}`);
    expect((await fetch(app.links + path, formOf({ line: late.id, message: ' ' }))).status).toBe(422);
    const requested = await fetch(app.links + path, formOf({ line: late.id, message: 'Where is <b>the rest</b>?' }));
    expect([requested.status, requested.headers.get('location')]).toEqual([303, `${path}?done=sent`]);
    const twice = await fetch(app.links + path, formOf({ line: late.id, message: 'And now?' }));
    expect(twice.headers.get('location')).toBe(`${path}?done=known`);
    const [dispute, ...others] = (await get(owner, '/v1/disputes?status=open')).body.data;
    expect(others).toEqual([]);
    expect(dispute).toMatchObject({
      ...{ creator_email: owner.ann.email, statement_id: data.id, line_id: late.id, order_id: late.orderId },
      ...{ message: 'Where is <b>the rest</b>?', status: 'open', answer: null },
    });
    const url = `${app.url}/v1/disputes/${dispute.id}`;
    expect(codeOf(await send(url, owner.key, 'PATCH', { status: 'answered' }))).toEqual([
      409,
      'INVALID_STATE_TRANSITION',
    ]);
    const answered = await send(url, owner.key, 'PATCH', { answer: 'With the next payout.' });
    expect(answered.body.data).toMatchObject({ status: 'answered', answered_at: expect.any(String) });
    expect((await send(url, owner.key, 'PATCH', { answer: 'With the next payout.' })).body).toEqual(answered.body);
    const mails = (await mailsOf(app.context, owner.brand.id)).map(({ to, subject }) => `${to}: ${subject}`);
    expect(mails.filter((line) => line.includes('asks about'))).toEqual([
      `${owner.brand.id}@brand.example: Ann asks about order ${late.orderId}`,
    ]);
    expect(mails.filter((line) => line.includes('answered your question'))).toHaveLength(1);
    const after = await (await fetch(app.links + path)).text();
    expect(after).toContain('With the next payout.');
    expect(after).toContain('Where is &lt;b&gt;the rest&lt;/b&gt;?');
    const audit = JSON.stringify((await get(owner, `/v1/audit-log?resource_id=${dispute.id}`)).body);
    expect(audit).not.toMatch(/the rest|next payout/);
    expect(codeOf(await send(url, (await makePayer(app)).key, 'PATCH', { status: 'closed' }))).toEqual([
      404,
      'NOT_FOUND',
    ]);
    expect((await send(url, owner.key, 'PATCH', { status: 'closed' })).body.data.status).toBe('closed');
  });
});
