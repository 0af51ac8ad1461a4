import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { daysAgo, makeAssignment, makeSale } from '../harness/affiliates/sales.ts';
import { makeBrand, startApp, type TestApp } from '../harness/app.ts';
import { apply, BEHIND_PROXY } from '../harness/workflow/applying.ts';
import { openWorkDesk, type WorkDesk } from '../harness/workflow/work.ts';
import { submit } from '../harness/workflow/worked-brand.ts';

interface Listed {
  creator_email: string;
  creator_id: string | null;
  roster_id: string | null;
  stage: string;
}

describe('the creators of a campaign', () => {
  let app: TestApp;
  let desk: WorkDesk;
  let path: string;
  const emails: Record<string, string> = {};

  async function made(where: string, body: object) {
    const answer = await desk.post(where, body);
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return answer.body.data;
  }
  const signed = async (to: string) =>
    expect((await desk.fill(await desk.linkTo('sign', to), { name: 'Ana Diaz', agree: 'yes' })).status).toBe(303);

  beforeAll(async () => {
    app = await startApp({ env: BEHIND_PROXY });
    desk = await openWorkDesk(app);
    const campaign_id = desk.campaign;
    path = `/v1/campaigns/${campaign_id}/creators`;
    for (const stage of ['accepted', 'contracted', 'posted']) emails[stage] = await desk.onRoster();
    emails.delivered = desk.creator;
    for (const name of ['applied', 'turned down']) {
      const email = `${name.replace(' ', '-')}@mail.example`;
      await apply(app, campaign_id, { email, name, message: 'I would love to.' });
      emails[name] = email;
    }
    const [turnedDown] = await desk.read(`/v1/applications?creator_email=${emails['turned down']}`);
    await desk.send('PATCH', `/v1/applications/${turnedDown.id}`, { status: 'rejected' });
    await made('/v1/affiliates/links', { creator_email: emails.accepted, value: 'ACC', campaign_id });
    for (const stage of ['contracted', 'delivered']) {
      await made('/v1/contracts', {
        ...{ creator_email: emails[stage], campaign_id, title: stage, send_for_signature: true },
        ...{ compensation: { type: 'fixed', amount: 250, currency: 'USD' }, deliverables: [{ type: 'reel' }] },
      });
      await signed(emails[stage] ?? '');
    }
    const [deliverable] = await desk.read(`/v1/deliverables?creator_email=${desk.creator}`);
    await submit(desk, deliverable.id, 1);
    await desk.send('PATCH', `/v1/deliverables/${deliverable.id}`, { status: 'approved' });
    await made('/v1/content', {
      ...{ url: 'https://www.instagram.com/reel/Cstage1', creator_email: emails.posted, campaign_id },
    });
    const paid = await makeAssignment(app.context, desk.brand, { name: 'Paula', holdDays: 0 });
    emails.paid = paid.email;
    const { db } = app.context.postgres;
    await db.updateTable('links').set({ campaignId: campaign_id }).where('id', '=', paid.linkId).execute();
    const sale = await makeSale(app.context, desk.brand, { assignment: paid, occurredAt: daysAgo(20) });
    await makeSale(app.context, desk.brand, { assignment: paid, occurredAt: daysAgo(2), paidAt: null });
    const approved = await desk.send('PATCH', '/v1/affiliates/commissions/bulk', {
      event_ids: [sale.id],
      status: 'approved',
    });
    expect(approved.status, JSON.stringify(approved.body)).toBe(200);
    expect((await made('/v1/payouts/batch', { method: 'manual' })).payouts).toHaveLength(1);
  });
  afterAll(() => app.close());

  it('are listed at the furthest stage that each has reached, without rejected applicants', async () => {
    const { status, body } = await desk.get(path);
    expect(status, JSON.stringify(body)).toBe(200);
    const stages = body.data.map(({ stage, creator_email }: Listed) => [stage, creator_email]);
    const order = ['paid', 'posted', 'delivered', 'contracted', 'accepted', 'applied'];
    expect(stages).toEqual(order.map((stage) => [stage, emails[stage]]));
    const [first, , delivered] = body.data;
    expect(first).toMatchObject({ creator_name: 'Paula', earned: [{ currency: 'USD', amount: 10 }] });
    const [entry] = await desk.read(`/v1/roster?creator_email=${emails.paid}`);
    expect(entry.total_sold, 'without the unpaid order').toBe(100);
    expect(delivered).toMatchObject({ contracts_signed: 1, deliverables: 1, deliverables_approved: 1, posts: 0 });
    const applicant = body.data.at(-1);
    expect(applicant).toMatchObject({
      creator_id: null,
      roster_id: null,
      application_id: expect.stringMatching(/^app_/),
    });
  });

  it('are counted by stage whatever the filter, beside the fees of signed contracts', async () => {
    const { body } = await desk.get(`${path}?stage=contracted&limit=1`);
    expect(body.data.map(({ creator_email }: Listed) => creator_email)).toEqual([emails.contracted]);
    expect(body.pagination).toMatchObject({ total: 1, has_more: false });
    expect(body.summary.by_stage).toEqual(
      ['applied', 'accepted', 'contracted', 'delivered', 'posted', 'paid'].map((stage) => ({ stage, creators: 1 })),
    );
    expect(body.summary.fees).toEqual([{ currency: 'USD', amount: 500 }]);
  });

  it('belong to the brand of the key: another brand gets 404, and a wrong stage 422', async () => {
    const other = await makeBrand(app.context);
    const headers = { authorization: `Bearer ${await other.key('brand')}` };
    expect((await fetch(`${app.url}${path}`, { headers })).status).toBe(404);
    const wrong = await desk.get(`${path}?stage=hired`);
    expect(wrong.status).toBe(422);
    expect(JSON.stringify(wrong.body)).toContain('stage');
  });

  it('are found by the campaign’s title, and its results by its id', async () => {
    const found = await desk.read('/v1/campaigns?search=LAUN');
    expect(found.map(({ id }: { id: string }) => id)).toContain(desk.campaign);
    expect(await desk.read('/v1/campaigns?search=%25')).toEqual([]);
    const { status, body } = await desk.get(`/v1/affiliates/performance/campaigns?campaign_id=${desk.campaign}`);
    expect(status).toBe(200);
    for (const row of body.data) expect(row.campaign_id).toBe(desk.campaign);
  });
});
