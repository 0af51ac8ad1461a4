import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endDataRequests } from '../../../src/affiliates/data-requests/data-requests.jobs.ts';
import { verifyRecords } from '../../../src/affiliates/ledger/verify-ledger.ts';
import { daysAgo, makeAssignment, makeSale } from '../../harness/affiliates/sales.ts';
import { startApp, type TestApp } from '../../harness/app.ts';
import { makeDatabase, ownRedis, type TestDatabase } from '../../harness/database.ts';
import { findTraces } from '../../harness/platform/traces.ts';
import { BEHIND_PROXY } from '../../harness/workflow/applying.ts';
import { openWorkDesk, type WorkDesk } from '../../harness/workflow/work.ts';

let app: TestApp;
let database: TestDatabase;
let desk: WorkDesk;
beforeAll(async () => {
  database = await makeDatabase('others');
  app = await startApp({
    env: BEHIND_PROXY,
    urls: { redis: ownRedis(), postgres: database.url },
  });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

async function made(method: string, path: string, body: object) {
  const answer = await desk.send(method, path, body);
  expect(answer.status, `${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300);
  return answer.body.data;
}

async function addNamed(creator_email: string, fields: object): Promise<string> {
  const { id } = await made('POST', '/v1/roster', { creator_email });
  await made('PATCH', `/v1/roster/${id}`, fields);
  return id;
}

const erase = (creator_email: string) => made('POST', '/v1/data-requests', { kind: 'erasure', creator_email });

async function sendBrief(creator_email: string, fields: object): Promise<string> {
  const { id } = await made('POST', '/v1/briefs', { title: 'Shoes', creator_email, ...fields });
  await made('POST', `/v1/briefs/${id}`, { action: 'send' });
  return id;
}

const mailsTo = async (address: string) =>
  (await desk.mails()).filter(({ to }) => to === address).map(({ subject }) => subject);

describe('what others have', () => {
  it('is left without the names of the person, wherever somebody wrote them', async () => {
    desk = await openWorkDesk(app);
    const [email, other] = ['elena.gone@mail.example', 'stays@mail.example'];
    await made('POST', '/v1/roster/add', { creator_email: email, name: 'Elena Gonerova', ig_handle: '@elenagone' });
    const rosterId = await addNamed(other, {
      name: 'Otto Stayer',
      note: 'cc Elena Gonerova, a friend',
      tags: ['of @elenagone'],
    });
    const said = `with Elena Gonerova (@elenagone, ${email}) today`;
    const word = 'with Elena Gonerova today';
    await made('POST', '/v1/messages', { creator_email: other, subject: word, body: word, send_email: true });
    const briefId = await sendBrief(other, { title: said, instructions: said, talking_points: [said], do_not: [said] });
    const parcel = await made('POST', '/v1/shipments', {
      ...{ creator_email: other, product_description: said, notes: said },
      shipping_address: { street: 'c/o Elena Gonerova', city: 'Austin', state: 'TX', zip: '78701', country: 'US' },
    });
    await made('POST', '/v1/commissions/manual', {
      ...{ creator_email: other, amount: 5, currency: 'USD', description: said },
    });
    const campaign = await made('POST', '/v1/campaigns', { name: said, description: said });
    const draft = await made('POST', '/v1/contracts', { creator_email: other, title: said, campaign_id: campaign.id });
    const sent = await made('POST', '/v1/contracts', {
      creator_email: other,
      title: 'With Elena Gonerova',
      send_for_signature: true,
    });
    const list = await made('POST', '/v1/lists', { name: said, note: said });
    const folders = [];
    for (const name of ['Elena Gonerova', '@elenagone'])
      folders.push(await made('POST', '/v1/assets/folders', { name }));
    const group = await made('POST', '/v1/groups', { name: 'Elena Gonerova' });
    await made('POST', '/v1/costs', {
      scope: 'brand',
      kind: 'fixed',
      amount: 5,
      currency: 'USD',
      from: '2026-01-01',
      to: '2026-01-31',
      note: said,
    });
    const assignment = await makeAssignment(app.context, desk.brand, {
      email: other,
      name: 'Otto Stayer',
      holdDays: 0,
    });
    const sale = await makeSale(app.context, desk.brand, { assignment, occurredAt: daysAgo(60) });
    await made('PATCH', `/v1/affiliates/commissions/${sale.id}`, { status: 'approved', note: said });

    const { removed, kept } = await erase(email);
    expect(removed).toMatchObject({ roster_entries: 2, briefs: 1, shipments: 1, campaigns: 1, asset_folders: 2 });
    await endDataRequests.run(app.context);
    const left = await findTraces(app.context.postgres.db, [email, '@elenagone', 'Elena Gonerova']);
    expect(left.map((one) => one.split(':')[0]).filter((table) => table !== 'contracts')).toEqual(['sealed_rows']);
    expect(kept.map(({ what }: { what: string }) => what)).toEqual(
      expect.arrayContaining([expect.stringContaining('contracts that others were sent')]),
    );
    const replaced = 'with erased (erased, erased) today';
    expect(await desk.read(`/v1/roster/${rosterId}`)).toMatchObject({
      ...{ creator_email: other, creator_name: 'Otto Stayer', note: 'cc erased, a friend' },
    });
    expect(await desk.read(`/v1/briefs/${briefId}`)).toMatchObject({
      title: replaced,
      instructions: replaced,
      talking_points: [replaced],
    });
    expect(await desk.read(`/v1/shipments/${parcel.id}`)).toMatchObject({
      notes: replaced,
      shipping_address: { street: 'c/o erased' },
    });
    expect(await desk.read(`/v1/campaigns/${campaign.id}`)).toMatchObject({ description: replaced });
    expect(await desk.read(`/v1/contracts/${draft.id}`)).toMatchObject({ title: replaced });
    expect(await desk.read(`/v1/contracts/${sent.id}`)).toMatchObject({ title: 'With Elena Gonerova' });
    expect(await desk.read(`/v1/lists/${list.id}`)).toMatchObject({ name: replaced, note: replaced });
    expect(group.id).toBeDefined();
    expect(folders).toHaveLength(2);
    expect((await verifyRecords(app.context.postgres.db, desk.brand.id)).problems).toEqual([]);
    expect(await mailsTo(other)).not.toEqual([]);
    for (const path of [
      '/v1/messages',
      '/v1/commissions',
      '/v1/assets/folders',
      '/v1/groups',
      '/v1/costs',
      '/v1/emails',
      '/v1/events',
    ])
      expect((await desk.get(path)).status, path).toBeLessThan(500);
  });

  it('stays where another has the same name, or a campaign and a brief the same title', async () => {
    desk = await openWorkDesk(app);
    const twins = ['anna1@mail.example', 'anna2@mail.example'] as const;
    for (const one of twins) await addNamed(one, { name: 'Anna Meyer', note: 'Anna Meyer likes shoes' });
    const id = await sendBrief(twins[1], { title: 'As Anna Meyer has it' });
    const mails = await mailsTo(twins[1]);
    expect(mails.length).toBeGreaterThan(0);
    await erase(twins[0]);
    expect(await mailsTo(twins[1])).toEqual(mails);
    expect(await desk.read(`/v1/briefs/${id}`)).toMatchObject({ title: 'As Anna Meyer has it' });
    expect(await findTraces(app.context.postgres.db, [twins[0]])).toEqual([]);
    // Now nobody else has the name.
    await erase(twins[1]);
    const [email, other] = ['summer@mail.example', 'worker@mail.example'];
    await addNamed(email, { name: 'Summer Launch' });
    await addNamed(other, { name: 'Will Worker' });
    const campaign = await made('POST', '/v1/campaigns', { name: 'Summer launch', description: 'Our Summer launch' });
    const briefId = await sendBrief(other, { title: 'Summer launch', campaign_id: campaign.id });
    const told = await mailsTo(other);
    const logged = async () =>
      (await desk.read(`/v1/audit-log?resource_id=${briefId}`)).concat(
        await desk.read(`/v1/audit-log?resource_id=${campaign.id}`),
      );
    const before = await logged();
    await erase(email);
    expect(await mailsTo(other)).toEqual(told);
    expect(await logged()).toEqual(before);
    expect(await desk.read(`/v1/briefs/${briefId}`)).toMatchObject({ title: 'Summer launch' });
  });

  it('stays of somebody whose address ends with that of the person', async () => {
    desk = await openWorkDesk(app);
    const email = 'ana@m.example';
    const others = ["o'ana@m.example", "x_'ana@m.example", 'x.ana@m.example', 'x-ana@m.example'];
    await addNamed(email, { name: 'Ana Short' });
    for (const other of others) {
      await addNamed(other, { note: `write to ${other}` });
      await sendBrief(other, {
        title: `For ${other}`,
        instructions: `not ${email}, 'ana@m.example', see ?to=ana@m.example`,
      });
    }
    const before = await Promise.all(others.map(mailsTo));
    await erase(email);
    expect(await Promise.all(others.map(mailsTo))).toEqual(before);
    const notes = (await desk.read('/v1/roster?limit=100'))
      .map((one: { note: string | null }) => one.note)
      .filter(Boolean);
    expect(notes.sort()).toEqual(others.map((other) => `write to ${other}`).sort());
    for (const { instructions } of await desk.read('/v1/briefs?limit=100'))
      expect(instructions).toBe("not erased, 'erased', see ?to=erased");
  });
});
