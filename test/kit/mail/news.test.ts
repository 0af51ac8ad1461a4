import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mailApproved } from '../../../src/affiliates/commissions/weekly-mail.ts';
import { recordOrder } from '../../../src/affiliates/orders/record.ts';
import { setSample } from '../../../src/affiliates/sample/sample.ts';
import { insertSuppression } from '../../../src/kit/mail/mails.ts';
import { DAY_MS } from '../../../src/kit/values/duration.ts';
import { asTest, daysAgo, makeAssignment, makeSale, orderFacts } from '../../harness/affiliates/sales.ts';
import { startApp, type TestApp, unique } from '../../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../../harness/database.ts';
import { mailsOf } from '../../harness/kit/mail.ts';
import { signIn } from '../../harness/platform/session.ts';
import { apply, BEHIND_PROXY } from '../../harness/workflow/applying.ts';
import { reply } from '../../harness/workflow/talking.ts';
import { openWorkDesk, type WorkDesk } from '../../harness/workflow/work.ts';

/** A Wednesday. */
const START = Date.parse('2027-03-03T09:00:00Z');
const clock = { at: START, now: () => new Date(clock.at) };
/** Creators of all brands are mailed, by a clock that is ahead. */
let database: TestDatabase;
let app: TestApp;
beforeAll(async () => {
  database = await makeDatabase('news');
  app = await startApp({ env: BEHIND_PROXY, clock, urls: { postgres: database.url } });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

/** What was mailed of some kinds, oldest first: to whom, and the subject. */
async function mailed({ brand }: WorkDesk, ...kinds: string[]): Promise<string[]> {
  const mails = (await mailsOf(app.context, brand.id)).filter(({ kind }) => kinds.includes(kind));
  return mails.map(({ to, subject }) => `${to}: ${subject}`).reverse();
}

async function brandNameOf(desk: WorkDesk): Promise<string> {
  return (await desk.read('/v1/brand')).name;
}

async function applied(desk: WorkDesk, email: string): Promise<string> {
  expect((await apply(app, desk.campaign, { email, name: 'Ann' })).status).toBe(303);
  return (await desk.read(`/v1/applications?creator_email=${email}`))[0].id;
}

describe('a creator', () => {
  it('is mailed once that an application was accepted, or declined, and nothing about a shortlist', async () => {
    const desk = await openWorkDesk(app);
    const name = await brandNameOf(desk);
    const [ann, ben] = [`${unique('ann')}@mail.example`, `${unique('ben')}@mail.example`];
    const [first, second] = [await applied(desk, ann), await applied(desk, ben)];
    const decide = (id: string, status: string) => desk.send('PATCH', `/v1/applications/${id}`, { status });
    await decide(first, 'shortlisted');
    await Promise.all([decide(first, 'accepted'), decide(first, 'accepted')]);
    await decide(second, 'rejected');
    await decide(second, 'rejected');
    expect((await mailed(desk, 'application_accepted', 'application_declined')).sort()).toEqual([
      `${ann}: ${name} accepted your application to Launch`,
      `${ben}: Your application to Launch`,
    ]);
  });

  it('is mailed a code or link that is theirs, also of many at once, and one with another value again', async () => {
    const desk = await openWorkDesk(app);
    const link = await desk.made({
      ...{ creator_email: desk.creator, type: 'link', value: unique('l'), destination_url: 'https://shop.example/x' },
    });
    const code = await desk.made({ creator_email: desk.creator, value: unique('C'), notify: true });
    await desk.send('PATCH', `/v1/affiliates/links/${code.id}`, { value: `${code.value}2`, notify: true });
    await desk.send('PATCH', `/v1/affiliates/links/${code.id}`, { notify: true });
    await desk.send('PATCH', `/v1/affiliates/links/${code.id}`, { platform: 'Instagram' });
    const other = await desk.onRoster();
    for (const [email, notify] of [
      [other, true],
      [await desk.onRoster(), false],
      [await desk.onRoster(), undefined],
    ]) {
      const bulk = await desk.post('/v1/affiliates/links/bulk', { creators: [{ email }], notify });
      expect(bulk.body.data?.count, JSON.stringify(bulk.body)).toBe(1);
    }
    const mails = (await mailsOf(app.context, desk.brand.id)).filter(({ kind }) => kind === 'link_given');
    expect(mails.map(({ to }) => to).sort()).toEqual([desk.creator, desk.creator, desk.creator, other].sort());
    const own = mails.filter(({ to }) => to === desk.creator).map(({ text }) => text);
    for (const given of [link.url, `Code: ${code.value}\n`, `Code: ${code.value}2\n`]) {
      expect(own.filter((text) => text.includes(given))).toHaveLength(1);
    }
  });

  it('is mailed a code that no store is known to have when the first order brings it, in the form that it has then', async () => {
    const desk = await openWorkDesk(app);
    const given = async () => {
      const mails = (await mailsOf(app.context, desk.brand.id)).filter(({ kind }) => kind === 'link_given');
      return mails.map(({ to, text }) => `${to} ${/Code: (\S+)/.exec(text)?.[1]}`);
    };
    const code = await desk.made({ creator_email: desk.creator, value: unique('C') });
    const other = await desk.onRoster();
    const bulk = await desk.post('/v1/affiliates/links/bulk', { creators: [{ email: other }] });
    const [generated] = bulk.body.data.created;
    const renamed = `${code.value}2`;
    await desk.send('PATCH', `/v1/affiliates/links/${code.id}`, { value: renamed });
    const { source } = await makeAssignment(app.context, desk.brand);
    const order = (value: string) =>
      asTest(app.context, desk.brand, (work) =>
        recordOrder(work, app.context.secrets, source, orderFacts(clock.now(), { codes: [value] })),
      );
    // A shop that still has the old code does not have the new one.
    clock.at += 1_000;
    await order(code.value);
    expect(await given()).toEqual([]);
    await Promise.all([order(renamed), order(renamed.toLowerCase()), order(renamed)]);
    await order(generated.value);
    await order(generated.value);
    expect((await given()).sort()).toEqual([`${desk.creator} ${renamed}`, `${other} ${generated.value}`].sort());
    const rotated = (await desk.post(`/v1/affiliates/links/${code.id}/rotate`, {})).body.data;
    expect(await given()).toHaveLength(2);
    await desk.send('PATCH', `/v1/affiliates/links/${code.id}`, { notify: true });
    await order(rotated.value);
    expect((await given()).filter((line) => line.startsWith(desk.creator)).sort()).toEqual(
      [`${desk.creator} ${renamed}`, `${desk.creator} ${rotated.value}`].sort(),
    );
    clock.at = START;
  });

  it('is mailed once that a payout was paid, and not about one that is only recorded or that is history', async () => {
    const desk = await openWorkDesk(app);
    const assignment = await makeAssignment(app.context, desk.brand);
    await makeSale(app.context, desk.brand, { assignment, occurredAt: daysAgo(90, clock.now()) });
    const pay = async (amount: number) =>
      (await desk.post('/v1/payouts', { creator_email: assignment.email, amount, method: 'bank_transfer' })).body.data
        .id;
    const settle = (id: string, body: object = {}) =>
      desk.send('PATCH', `/v1/payouts/${id}`, { status: 'paid', commission_ids: [], ...body });
    const [recent, past] = [await pay(5), await pay(6)];
    expect(await mailed(desk, 'payout_made')).toEqual([]);
    const answers = [await settle(recent), await settle(recent)];
    answers.push(await settle(past, { paid_at: daysAgo(30, clock.now()).toISOString() }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await mailed(desk, 'payout_made')).toEqual([
      `${assignment.email}: ${await brandNameOf(desk)} paid you $5.00`,
    ]);
  });

  it('is mailed on Monday what was approved in the week, in one mail, however often the job runs', async () => {
    const desk = await openWorkDesk(app);
    const assignment = await makeAssignment(app.context, desk.brand);
    const approve = async (amountMinor: number) => {
      const { id } = await makeSale(app.context, desk.brand, { assignment, amountMinor });
      expect((await desk.send('PATCH', `/v1/affiliates/commissions/${id}`, { status: 'approved' })).status).toBe(200);
    };
    await approve(10_000);
    await approve(20_000);
    await mailApproved(app.context);
    expect(await mailed(desk, 'commissions_approved')).toEqual([]);
    clock.at = Date.parse('2027-03-08T00:00:00Z');
    await approve(70_000);
    await Promise.all([mailApproved(app.context), mailApproved(app.context), mailApproved(app.context)]);
    await mailApproved(app.context);
    const name = await brandNameOf(desk);
    expect(await mailed(desk, 'commissions_approved')).toEqual([
      `${assignment.email}: ${name} approved $30.00 for you`,
    ]);
    clock.at += 7 * DAY_MS;
    await mailApproved(app.context);
    expect((await mailed(desk, 'commissions_approved')).at(-1)).toBe(
      `${assignment.email}: ${name} approved $70.00 for you`,
    );
    clock.at = START;
  });

  it('who has unsubscribed gets none of them, and neither does a creator of the sample', async () => {
    const desk = await openWorkDesk(app);
    const { db } = app.context.postgres;
    await insertSuppression(db, desk.brand.id, desk.creator, clock.now());
    await desk.made({ creator_email: desk.creator, type: 'discount_code', value: unique('C'), notify: true });
    const states = (await mailsOf(app.context, desk.brand.id)).map(({ kind, state }) => `${kind} ${state}`);
    expect(states).toEqual(['link_given suppressed']);
    await setSample(db, desk.brand.id, 'filling');
    await desk.made({ type: 'discount_code', value: unique('C'), notify: true });
    const assignment = await makeAssignment(app.context, desk.brand);
    const { id } = await makeSale(app.context, desk.brand, { assignment });
    await setSample(db, desk.brand.id, 'filled');
    await desk.send('PATCH', `/v1/affiliates/commissions/${id}`, { status: 'approved' });
    clock.at += 7 * DAY_MS;
    await mailApproved(app.context);
    clock.at = START;
    expect(await mailsOf(app.context, desk.brand.id)).toHaveLength(1);
  });
});

describe("the brand's people", () => {
  it('are mailed an application, a reply and a signed contract, with a link into the app, until they switch it off', async () => {
    const desk = await openWorkDesk(app);
    const owner = await signIn(app, desk.brand.id, `${unique('owner')}@brand.example`);
    const robin = `${unique('robin')}@brand.example`;
    await owner.send('POST', '/v1/people', { email: robin, role: 'viewer' });
    const viewer = await signIn(app, desk.brand.id, robin);
    const session = async () => (await viewer.get('/v1/session')).body.data.mails;
    expect(await session()).toEqual({ applications: true, replies: true, contracts: true });

    const application = await applied(desk, `${unique('ann')}@mail.example`);
    await desk.post('/v1/messages', { creator_email: desk.creator, body: 'Hello', send_email: true });
    const talk = (await desk.mails()).flatMap(({ links }) => links).find((link) => link.includes('/talk/')) ?? '';
    const page = `${app.links}${new URL(talk).pathname}`;
    await Promise.all([reply(page, 'Gladly'), reply(page, 'Gladly')]);
    const contract = (
      await desk.post('/v1/contracts', {
        ...{ creator_email: desk.creator, title: 'Summer', send_for_signature: true },
        deliverables: [{ type: 'reel', platform: 'video_app' }],
      })
    ).body.data;
    await desk.fill(await desk.linkTo('sign'), { name: 'Ana Diaz', agree: 'yes' });
    const mails = (await desk.mails()).filter(({ to, kind }) => to === robin && kind !== 'invitation');
    const led = mails.map(({ kind, links }) => [kind, links[0]?.replace('https://go.example/app/', '')]);
    expect(Object.fromEntries(led)).toEqual({
      application_received: `applications?open=${application}`,
      message_received: expect.stringMatching(/^conversations\?open=cnv_\w+$/),
      contract_signed_brand: `contracts/${contract.id}`,
    });
    expect(mails).toHaveLength(3);
    expect((await mailed(desk, 'contract_signed_brand')).map((line) => line.replace(/: .*/, '')).sort()).toContain(
      desk.contact,
    );

    const off = await viewer.send('PATCH', '/v1/session/mails', { applications: false });
    expect([off.status, off.body.data]).toEqual([200, { applications: false, replies: true, contracts: true }]);
    expect(await session()).toEqual(off.body.data);
    await applied(desk, `${unique('ben')}@mail.example`);
    const received = (await desk.mails()).filter(({ kind }) => kind === 'application_received');
    expect(received.filter(({ to }) => to === robin)).toHaveLength(1);
    expect(received).toHaveLength(3);
  });

  it('get one mail for the hour from the 21st application to a campaign on', async () => {
    const desk = await openWorkDesk(app);
    await signIn(app, desk.brand.id, `${unique('owner')}@brand.example`);
    for (let i = 0; i < 25; i += 1) await applied(desk, `${unique('ann')}@mail.example`);
    expect(await mailed(desk, 'application_received')).toHaveLength(21);
  });
});
