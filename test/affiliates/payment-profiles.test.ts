import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toPaypalRows, toRailMinor, toWiseRows } from '../../src/affiliates/payouts/rails.ts';
import { toMailbox } from '../../src/kit/values/email.ts';
import { approved, codeOf, get, makePayer, type Payer, recorded, settle } from '../harness/affiliates/paying.ts';
import { call, send, startApp, type TestApp, unique } from '../harness/app.ts';
import { mailsOf, pathOf } from '../harness/kit/mail.ts';
import { BEHIND_PROXY, someAddress } from '../harness/workflow/applying.ts';

let app: TestApp;
let offsetMs = 0;

beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY, clock: { now: () => new Date(Date.now() + offsetMs) } });
});
afterAll(() => app?.close());

const HOUR_MS = 3_600_000;

const put = ({ key, ann }: Payer, body: object) =>
  send(`${app.url}/v1/roster/${ann.creatorId}/payment`, key, 'PUT', body);

async function previewOf(payer: Payer, query = '') {
  return (await get(payer, `/v1/payouts/preview?limit=5${query}`)).body.data[0];
}

const batch = ({ key }: Payer, body: object) => send(`${app.url}/v1/payouts/batch`, key, 'POST', body);

describe('a payment profile', () => {
  it('is not emptied by a body that sets nothing, such as one with a misspelt field', async () => {
    const payer = await makePayer(app);
    const { status, body } = await put(payer, { walletEmail: 'ann@pay.example' });
    expect([status, body.details]).toMatchObject([422, [{ field: 'wallet_email', code: 'invalid' }]]);
  });

  it.each([
    ['UK', 'must be the ISO 3166 code GB; got "UK".'],
    ['ZZ', 'must be an ISO 3166 code such as ES; got "ZZ".'],
    ['es', 'must be an ISO 3166 code such as ES; got "es".'],
  ])('has no country %s, to which a rail would pay by a wrong rule', async (country, message) => {
    const { status, body } = await put(await makePayer(app), { country });
    expect([status, body.details]).toMatchObject([422, [{ field: 'country', message }]]);
  });

  it('shows an address as people write it', async () => {
    const { body } = await put(await makePayer(app), { wallet_email: 'pay@bücher.example', country: 'XK' });
    expect(body.data.wallet_email).toBe('pay@bücher.example');
  });

  it('starts at the mail address; the first other address holds at once, and the mail address is told', async () => {
    const payer = await makePayer(app);
    const path = `/v1/roster/${payer.ann.creatorId}/payment`;
    expect((await get(payer, path)).body.data).toMatchObject({ wallet_email: null, source: 'mail', state: 'active' });
    const next = `${unique('pay')}@mail.example`;
    const { status, body } = await put(payer, { wallet_email: next, legal_name: 'Ann Ltd', country: 'ES' });
    expect([status, body.data]).toMatchObject([200, { wallet_email: next, source: 'brand', state: 'active' }]);
    const [mail] = await mailsOf(app.context, payer.brand.id);
    expect(mail).toMatchObject({ to: payer.ann.email });
    await approved(payer);
    expect(await previewOf(payer)).toMatchObject({ pay_to: next, pay_to_source: 'brand', blocked: null });
    const { body: paid } = await batch(payer, { method: 'wallet' });
    expect(paid.data.payouts).toMatchObject([{ wallet_email: next }]);
  });

  it('waits 72 hours once the creator was paid; meanwhile nothing is paid, and the old address may stop it', async () => {
    const payer = await makePayer(app);
    await approved(payer);
    await settle(payer, (await recorded(payer, { amount: 10 })).id);
    await approved(payer);
    const thief = `${unique('thief')}@mail.example`;
    expect((await put(payer, { wallet_email: thief })).body.data).toMatchObject({
      wallet_email: null,
      state: 'waiting',
      waiting: { wallet_email: thief },
    });
    expect(await previewOf(payer)).toMatchObject({
      pay_to: payer.ann.email,
      blocked: { reason: 'payment_change_pending' },
    });
    const skipped = (await batch(payer, { method: 'bank_transfer' })).body.data.skipped;
    expect(skipped).toMatchObject([{ reason: 'payment_change_pending', total: 10 }]);
    const wallet = { creator_email: payer.ann.email, amount: 10, method: 'wallet' };
    const refused = await send(`${app.url}/v1/payouts`, payer.key, 'POST', wallet);
    expect(refused.body.details).toMatchObject([{ field: 'wallet_email', code: 'payment_change_pending' }]);

    const mails = await mailsOf(app.context, payer.brand.id);
    const told = mails.find(({ to, subject }) => to === payer.ann.email && subject.includes('another address'));
    const link = told?.links.find((one) => one.includes('/payment/')) ?? '';
    const page = app.links + pathOf(link);
    expect(await (await fetch(page)).text()).toContain('It was not me');
    const answer = await fetch(page, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      body: 'answer=stop',
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('stays as it was')]);
    expect((await get(payer, `/v1/roster/${payer.ann.creatorId}/payment`)).body.data).toMatchObject({
      wallet_email: null,
      state: 'active',
      waiting: null,
    });
    expect((await batch(payer, { method: 'bank_transfer' })).body.data.payouts).toMatchObject([{ amount: 10 }]);
  });

  it('that nobody stops holds after 72 hours, and a payout to another address is refused', async () => {
    const payer = await makePayer(app);
    await approved(payer);
    await settle(payer, (await recorded(payer, { amount: 10 })).id);
    await approved(payer);
    const next = `${unique('pay')}@mail.example`;
    await put(payer, { wallet_email: next });
    offsetMs += 73 * HOUR_MS;
    expect(await previewOf(payer)).toMatchObject({ pay_to: next, blocked: null });
    const wallet = { creator_email: payer.ann.email, amount: 1, method: 'wallet', wallet_email: 'thief@mail.example' };
    const refused = await send(`${app.url}/v1/payouts`, payer.key, 'POST', wallet);
    expect(refused.body.details).toMatchObject([{ field: 'wallet_email', code: 'not_the_payment_address' }]);
    expect((await batch(payer, { method: 'wallet' })).body.data.payouts).toMatchObject([{ wallet_email: next }]);
  });

  it('of another brand’s creator is not found', async () => {
    const [payer, stranger] = [await makePayer(app), await makePayer(app)];
    const path = `${app.url}/v1/roster/${payer.ann.creatorId}/payment`;
    expect(codeOf(await call(path, stranger.key))).toEqual([404, 'NOT_FOUND']);
  });
});

/** Opens or submits a page that a mail links to. */
async function visit(url: string, form?: Record<string, string>) {
  const answer = await fetch(url, {
    ...(form ? { method: 'POST', body: new URLSearchParams(form) } : {}),
    headers: { 'sec-fetch-site': 'same-origin', 'x-forwarded-for': someAddress() },
  });
  return { status: answer.status, text: await answer.text() };
}

/** The address of a page in the newest mail with this subject. */
async function mailed({ brand }: Payer, to: string, subject: string, kind: string): Promise<string> {
  const mails = await mailsOf(app.context, brand.id);
  const mail = mails.findLast((one) => one.to === to && one.subject.includes(subject));
  return app.links + pathOf(mail?.links.find((one) => one.includes(`/${kind}/`)) ?? '');
}

/** Where the creator's own page says that they are paid, and the page on which they change it. */
async function openOwnPage(payer: Payer) {
  const me = await visit(await mailed(payer, payer.ann.email, '', 'me'));
  return { text: me.text, payment: app.links + (/href="(\/payment\/[^"]+)"/.exec(me.text)?.[1] ?? '') };
}

async function makeMailedPayer() {
  const payer = await makePayer(app);
  const body = { creator_email: payer.ann.email, body: 'Hello', send_email: true };
  expect((await send(`${app.url}/v1/messages`, payer.key, 'POST', body)).status).toBe(201);
  return payer;
}

const profileOf = async (payer: Payer) => (await get(payer, `/v1/roster/${payer.ann.creatorId}/payment`)).body.data;

describe('a creator who asks for another address on their own page', () => {
  it('confirms it by a mail to the mail address; before that nothing changes', async () => {
    const payer = await makeMailedPayer();
    const page = await openOwnPage(payer);
    expect((await visit(page.payment)).text).toContain(payer.ann.email);
    expect((await visit(page.payment)).text).toContain('The new address is used as soon as you confirm it.');
    expect((await visit(page.payment, { email: 'not an address' })).text).toContain('Enter a complete email address');
    const next = `${unique('pay')}@mail.example`;
    expect((await visit(page.payment, { email: next })).text).toContain('Check your email');
    expect(await profileOf(payer)).toMatchObject({ wallet_email: null, source: 'mail', state: 'active' });
    const link = await mailed(payer, payer.ann.email, 'Confirm where', 'payment');
    expect((await visit(link)).text).toContain(next);
    expect((await visit(link, { answer: 'confirm' })).text).toContain('from now on');
    expect(await profileOf(payer)).toMatchObject({ wallet_email: next, source: 'creator', state: 'active' });
    expect((await visit(link, { answer: 'confirm' })).status).toBe(404);
  });

  it('waits 72 hours once they were paid, and a stolen link to the page alone moves no money', async () => {
    const payer = await makeMailedPayer();
    await approved(payer);
    await settle(payer, (await recorded(payer, { amount: 10 })).id);
    const thief = `${unique('thief')}@mail.example`;
    const { payment } = await openOwnPage(payer);
    expect((await visit(payment)).text).toContain('is used 72 hours after you confirm it');
    await visit(payment, { email: thief });
    expect((await visit(payment, { answer: 'confirm' })).status).toBe(404);
    expect(await profileOf(payer)).toMatchObject({ wallet_email: null, state: 'active' });
    await visit(await mailed(payer, payer.ann.email, 'Confirm where', 'payment'), { answer: 'confirm' });
    expect(await profileOf(payer)).toMatchObject({
      state: 'waiting',
      waiting: { wallet_email: thief, source: 'creator' },
    });
    const again = await openOwnPage(payer);
    expect([again.text.includes('A new address is waiting'), again.text.includes('/payment/')]).toEqual([true, false]);
    const told = await mailed(payer, payer.ann.email, 'another address', 'payment');
    expect((await visit(told, { email: 'second@mail.example' })).text).toContain('Not now');
    expect((await visit(told, { answer: 'stop' })).text).toContain('stays as it was');
    expect(await profileOf(payer)).toMatchObject({ wallet_email: null, state: 'active' });
  });
});

describe('a brand that requires payment profiles', () => {
  it('pays no wallet at a mail address; the address that is given with a payout becomes the profile', async () => {
    const payer = await makePayer(app);
    const settings = { require_payment_profile: true };
    const { body } = await send(`${app.url}/v1/brand`, payer.key, 'PATCH', { settings });
    expect(body.data.settings).toMatchObject(settings);
    await approved(payer);
    expect(await previewOf(payer)).toMatchObject({ pay_to: null, blocked: { reason: 'no_payment_address' } });
    expect((await batch(payer, { method: 'wallet' })).body.data).toMatchObject({
      payouts: [],
      skipped: [{ reason: 'no_payment_address' }],
    });
    const wallet = { creator_email: payer.ann.email, amount: 1, method: 'wallet' };
    const refused = await send(`${app.url}/v1/payouts`, payer.key, 'POST', wallet);
    expect(refused.body.details).toMatchObject([{ field: 'wallet_email', code: 'no_payment_address' }]);
    const given = { ...wallet, wallet_email: payer.ann.email };
    expect((await send(`${app.url}/v1/payouts`, payer.key, 'POST', given)).status).toBe(201);
    expect(await profileOf(payer)).toMatchObject({ wallet_email: payer.ann.email, source: 'brand' });
    expect((await batch(payer, { method: 'wallet' })).body.data.payouts).toMatchObject([
      { wallet_email: payer.ann.email, amount: 9 },
    ]);
  });
});

describe('money of a creator who was paid before', () => {
  const thief = `${unique('thief')}@mail.example`;
  async function makePaid() {
    const payer = await makeMailedPayer();
    await approved(payer);
    await settle(payer, (await recorded(payer, { amount: 10 })).id);
    await approved(payer);
    return payer;
  }
  /** What Ann is paid by each way, at once and after it was tried: never to the thief. */
  async function assertHers(payer: Payer) {
    const wallet = { creator_email: (await previewOf(payer)).creator_email, amount: 1, method: 'wallet' };
    await send(`${app.url}/v1/payouts`, payer.key, 'POST', wallet);
    await batch(payer, { method: 'wallet' });
    const { data } = (await get(payer, '/v1/payouts?limit=100')).body;
    expect(JSON.stringify(data.map((one: { wallet_email: string | null }) => one.wallet_email))).not.toContain(thief);
    const { pay_to } = (await previewOf(payer)) ?? { pay_to: payer.ann.email };
    expect(pay_to).toBe(payer.ann.email);
  }
  const isTold = async (payer: Payer) =>
    (await mailsOf(app.context, payer.brand.id)).some(
      ({ to, subject }) => to === payer.ann.email && subject.includes('at another address'),
    );
  const patchRoster = ({ key, ann }: Payer, body: object) =>
    send(`${app.url}/v1/roster/${ann.creatorId}`, key, 'PATCH', body);

  it.each<[way: string, divert: (payer: Payer) => Promise<unknown>]>([
    ['a profile by the brand’s key', (payer) => put(payer, { wallet_email: thief })],
    [
      'a profile that is put twice',
      async (payer) => [await put(payer, { wallet_email: thief }), await put(payer, { wallet_email: thief })],
    ],
    ['another mail address', (payer) => patchRoster(payer, { creator_email: thief })],
    [
      'another mail address while the profile goes back to it',
      async (payer) => {
        await put(payer, { wallet_email: 'ann-2@pay.example' });
        await send(`${app.url}/v1/roster/${payer.ann.creatorId}/payment`, payer.key, 'DELETE', {});
        await patchRoster(payer, { creator_email: thief });
      },
    ],
  ])('does not go elsewhere within 72 hours by %s, and the old address is told', async (_way, divert) => {
    const payer = await makePaid();
    await divert(payer);
    await assertHers(payer);
    expect(await isTold(payer)).toBe(true);
  });

  it.each<[way: string, divert: (payer: Payer) => Promise<unknown>]>([
    [
      'an address that is given with a payout',
      ({ key, ann }) =>
        send(`${app.url}/v1/payouts`, key, 'POST', {
          ...{ creator_email: ann.email, amount: 1, method: 'wallet', wallet_email: thief },
        }),
    ],
    ['their own page by another’s link', async (payer) => visit((await openOwnPage(payer)).payment, { email: thief })],
    [
      'merging a creator with a profile into them',
      async (payer) => {
        const { key } = payer;
        const { body } = await send(`${app.url}/v1/roster`, key, 'POST', {
          creator_email: `${unique('new')}@mail.example`,
        });
        await send(`${app.url}/v1/roster/${body.data.id}/payment`, key, 'PUT', { wallet_email: thief });
        const merged = await send(`${app.url}/v1/roster/${body.data.id}/merge`, key, 'POST', {
          into: payer.ann.creatorId,
        });
        expect(merged.status, JSON.stringify(merged.body)).toBe(200);
      },
    ],
  ])('does not go elsewhere by %s', async (_way, divert) => {
    const payer = await makePaid();
    await divert(payer);
    await assertHers(payer);
  });

  it('of one who was not paid yet may go to the profile of somebody merged into them, and their mail address is told', async () => {
    const payer = await makePayer(app);
    const { body } = await send(`${app.url}/v1/roster`, payer.key, 'POST', {
      creator_email: `${unique('new')}@mail.example`,
    });
    await send(`${app.url}/v1/roster/${body.data.id}/payment`, payer.key, 'PUT', { wallet_email: thief });
    const into = { into: payer.ann.creatorId };
    expect((await send(`${app.url}/v1/roster/${body.data.id}/merge`, payer.key, 'POST', into)).status).toBe(200);
    expect(await profileOf(payer)).toMatchObject({ wallet_email: thief, state: 'active' });
    expect(await isTold(payer)).toBe(true);
  });

  it('goes to a new mail address after 72 hours', async () => {
    const payer = await makePaid();
    const next = `${unique('ann')}@mail.example`;
    await patchRoster(payer, { creator_email: next });
    expect(await previewOf(payer)).toMatchObject({
      pay_to: payer.ann.email,
      blocked: { reason: 'payment_change_pending' },
    });
    offsetMs += 73 * HOUR_MS;
    expect(await previewOf(payer)).toMatchObject({ pay_to: next, pay_to_source: 'mail', blocked: null });
  });
});

describe('files for a rail', () => {
  const one = { creator_id: 'crt_1', creator_name: 'Ann', pay_to: 'ann@mail.example', country: null, legal_name: null };

  it('have whole amounts where PayPal takes no decimals, and what is left is due again', async () => {
    expect(toPaypalRows([{ ...one, total: 1_234.5, currency: 'HUF' }])[0]?.slice(1, 3)).toEqual(['1234', 'HUF']);
    expect(toRailMinor('paypal', 12_345, 'USD')).toBe(12_345);
    const payer = await makePayer(app);
    await approved(payer, { amountMinor: 1_234_500, currency: 'HUF' });
    const { data } = (await batch(payer, { method: 'wallet', rail: 'paypal' })).body;
    expect(data.payouts).toMatchObject([{ amount: 1_234, allocated_amount: 1_234.5, netted_amount: 0.5 }]);
    const { body } = await get(payer, `/v1/roster/${payer.ann.creatorId}/balance`);
    expect(body.data.by_currency).toMatchObject([{ currency: 'HUF', owed_back: -0.5, payable_now: 0.5 }]);
  });

  it('refuse a currency that PayPal lacks, or pays in its own country only', () => {
    for (const [currency, country] of [
      ['KWD', null],
      ['BRL', 'DE'],
    ] as const) {
      expect(() => toPaypalRows([{ ...one, total: 1, currency, country }])).toThrow(/does not pay/);
    }
    expect(toPaypalRows([{ ...one, total: 1, currency: 'BRL', country: 'BR' }])).toHaveLength(1);
  });

  it.each<[currency: string, amountMinor: number, profile: string, line: string | undefined]>([
    ['HUF', 1_234_500, 'paypal', '1234,HUF'],
    ['TWD', 1_234_500, 'paypal', '1234,TWD'],
    ['JPY', 12_340, 'paypal', '1234,JPY'],
    ['USD', 12_340, 'paypal', '12.34,USD'],
    ['KWD', 12_340, 'paypal', undefined],
    ['KRW', 12_340, 'paypal', undefined],
    ['KWD', 12_340, 'wise', 'KWD,KWD,target,1.234'],
    ['JPY', 12_340, 'wise', 'JPY,JPY,target,1234'],
    ['HUF', 1_234_500, 'wise', 'HUF,HUF,target,1234.50'],
  ])(
    'in %s of a tenth of %i have amounts that the service takes (%s)',
    async (currency, amountMinor, profile, line) => {
      const payer = await makePayer(app);
      await approved(payer, { amountMinor, currency });
      const answer = await fetch(
        `${app.url}/v1/payouts/preview?currency=${currency}&creator_email=${payer.ann.email}`,
        {
          headers: { authorization: `Bearer ${payer.key}`, accept: `text/csv; profile=${profile}` },
        },
      );
      const text = await answer.text();
      if (line === undefined) {
        const { details } = JSON.parse(text);
        expect([answer.status, details]).toMatchObject([422, [{ field: 'currency', code: 'currency_unsupported' }]]);
        const { skipped, payouts } = (await batch(payer, { method: 'wallet', rail: profile })).body.data;
        expect([skipped, payouts]).toMatchObject([[{ reason: 'currency_unsupported' }], []]);
      } else expect([answer.status, text]).toEqual([200, expect.stringContaining(`,${line},`)]);
    },
  );

  it('leave out whom the service could only pay nothing', async () => {
    const payer = await makePayer(app);
    await approved(payer, { amountMinor: 500, currency: 'HUF' });
    const answer = await fetch(`${app.url}/v1/payouts/preview?currency=HUF`, {
      headers: { authorization: `Bearer ${payer.key}`, accept: 'text/csv; profile=paypal' },
    });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    expect((await batch(payer, { method: 'wallet', rail: 'paypal' })).body.data.payouts).toEqual([]);
  });

  it('for Wise keep its header and name the currency to pay from', () => {
    const [header, row] = toWiseRows([{ ...one, total: 12.5, currency: 'EUR' }], { source_currency: 'USD' });
    expect(header?.join()).toBe(
      'recipientId,name,recipientEmail,recipientDetail,sourceCurrency,targetCurrency,amountCurrency,amount,paymentReference,receiverType',
    );
    expect(row).toEqual(['', 'Ann', 'ann@mail.example', '', 'USD', 'EUR', 'target', '12.50', 'crt_1', 'PERSON']);
  });

  it.each([
    ['=cmd|"/c calc"!A1', 'cmd|"/c calc"!A1'],
    ['@Ana\nVega', 'Ana Vega'],
    ['+-', 'ann@mail.example'],
    ['Vega, Ana; "Chef"', 'Vega, Ana; "Chef"'],
  ])('for Wise have the name %s on one line, and as no formula of a spreadsheet', (creator_name, name) => {
    const [, row] = toWiseRows([{ ...one, creator_name, total: 12.5, currency: 'EUR' }], {});
    expect(row?.[1]).toBe(name);
  });
});

it('the file for Wise has the columns of the brand’s own template, and needs those that pay', async () => {
  const payer = await makePayer(app);
  await approved(payer);
  const download = async (header: string) => {
    const query = new URLSearchParams({ currency: 'USD', header });
    const answer = await fetch(`${app.url}/v1/payouts/preview?${query}`, {
      headers: { authorization: `Bearer ${payer.key}`, accept: 'text/csv; profile=wise' },
    });
    return [answer.status, await answer.text()] as const;
  };
  const header = 'amount,recipientEmail,targetCurrency,referenceNumber,recipientType';
  const { creator_id } = await previewOf(payer);
  expect(await download(header)).toEqual([200, `${header}\n10.00,${payer.ann.email},USD,${creator_id},\n`]);
  const [status, text] = await download('name,recipientEmail');
  expect([status, JSON.parse(text).details]).toMatchObject([422, [{ field: 'header', code: 'invalid' }]]);
});

it('a batch that expects other sums than are due pays nothing', async () => {
  const payer = await makePayer(app);
  await approved(payer);
  const preview = (await get(payer, '/v1/payouts/preview')).body.summary.by_currency;
  await approved(payer);
  const body = { method: 'bank_transfer', expected: preview };
  expect(codeOf(await batch(payer, body))).toEqual([409, 'CONFLICT']);
  const now = (await get(payer, '/v1/payouts/preview')).body.summary.by_currency;
  expect((await batch(payer, { ...body, expected: now })).body.data.payouts).toHaveLength(1);
});

it('spellings that reach one mailbox are one', () => {
  const same = ['own.buyer@gmail.com', 'OwnBuyer+shop@gmail.com', 'own.buyer@googlemail.com'];
  expect(new Set(same.map(toMailbox))).toEqual(new Set(['ownbuyer@gmail.com']));
  expect(toMailbox('a.b@bücher.example')).toBe('a.b@xn--bcher-kva.example');
});
