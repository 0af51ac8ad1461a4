import { insertReportedClick } from '../../../src/affiliates/orders/order-clicks.ts';
import { recordDeletion } from '../../../src/affiliates/orders/record.ts';
import { insertReferrerChecks } from '../../../src/affiliates/orders/referrers.ts';
import { createManualCommission } from '../../../src/affiliates/reviews/reviews.ts';
import { openDispute } from '../../../src/affiliates/statements/disputes.ts';
import { ensurePersonToSignIn } from '../../../src/platform/people/people.ts';
import { sync } from '../analytics/figures.ts';
import { send, type TestApp, unique } from '../app.ts';
import { approved, makePayer, type Payer, recorded, settle } from './paying.ts';
import {
  asTest,
  daysAgo,
  makeAssignment,
  makeSale,
  makeUnapprovable,
  orderFacts,
  refund,
  report,
  reportRefunds,
} from './sales.ts';

/** Ids of what a brand with a long history has, under the names that edits call it by. */
export type Story = Record<string, string>;

async function requested(owner: Payer, method: string, path: string, body?: object) {
  const answer = await send(`${owner.app.url}/v1${path}`, owner.key, method, body);
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}

/** Sales, refunds before and after payment, one taken back, cancellations, a deletion, and deliveries that came twice or early. */
async function sell(owner: Payer, bo: Awaited<ReturnType<typeof makeAssignment>>) {
  const { context } = owner.app;
  const at = new Date(Date.now() - 5_000);
  const { unpaid, cancelled, refunded } = await makeUnapprovable(context, owner.brand);
  const returned = await makeSale(context, owner.brand, { assignment: bo, occurredAt: daysAgo(41) });
  const refunds = [{ refundId: 'r1', amountMinor: 10_000, at }];
  await report(context, returned, { ...returned.facts, refunds, hasAllRefunds: true, updatedAt: at });
  await report(context, returned, { ...returned.facts, refunds: [], hasAllRefunds: true, updatedAt: new Date() });
  const shrunk = await makeSale(context, owner.brand, { assignment: bo, occurredAt: daysAgo(42) });
  await report(context, shrunk, { ...shrunk.facts, baseMinor: 7_000, updatedAt: new Date() });
  await report(context, shrunk, shrunk.facts);
  const early = orderFacts(daysAgo(43), { codes: [bo.code] });
  await reportRefunds(context, bo.source, early.orderId, [{ refundId: 'early', amountMinor: 500, at }]);
  await report(context, bo, early);
  const none = orderFacts(daysAgo(44));
  await report(context, bo, none);
  const deleted = await makeSale(context, owner.brand, { assignment: bo, occurredAt: daysAgo(45) });
  await asTest(context, owner.brand, (work) => recordDeletion(work, bo.source, deleted.orderId));
  return { unpaid, cancelled, refunded, returned };
}

/** A brand that has done everything that moves money, each thing by the door or action that does it. */
export async function makeMoneyStory(app: TestApp): Promise<{ owner: Payer; story: Story }> {
  const { context } = app;
  const owner = await makePayer(app);
  const { brand, ann } = owner;
  const db = context.postgres.db;
  const bo = await makeAssignment(context, brand, { name: 'Bo' });
  const paid = await approved(owner, { amountMinor: 50_000 });
  const wallet = await recorded(owner, { method: 'wallet', amount: 50, wallet_email: ann.email });
  await refund(context, paid, 20_000);
  const next = await approved(owner, { amountMinor: 30_000 });
  const settled = await recorded(owner, { amount: 40 });
  await settle(owner, settled.id, { reference: 'SEPA 9', paid_at: daysAgo(2).toISOString() });
  await recorded(owner, { method: 'wallet', amount: 5, commission_ids: [] });
  const open = await recorded(owner, { amount: 500 });
  const { unpaid, cancelled, refunded, returned } = await sell(owner, bo);

  const due = await makeSale(context, brand, { assignment: bo, amountMinor: 500_000 });
  await requested(owner, 'PATCH', `/affiliates/commissions/${due.id}`, { status: 'approved', note: 'checked by Eva' });
  const rejected = await makeSale(context, brand, { assignment: bo, occurredAt: daysAgo(50) });
  for (const status of ['rejected', 'approved', 'rejected']) {
    await requested(owner, 'PATCH', `/affiliates/commissions/${rejected.id}`, { status });
  }
  const manual = await asTest(context, brand, (work) =>
    createManualCommission(work, { creator_email: bo.email, amount: 25 }),
  );
  const day = (days: number) => daysAgo(days).toISOString().slice(0, 10);
  const period = { creator_email: ann.email, from: day(70), to: day(0) };
  const statement = await requested(owner, 'POST', '/statements', period);
  const question = { creatorId: ann.creatorId, statementId: statement.id, payoutId: null, lineId: paid.id };
  await asTest(context, brand, (work) => openDispute(work, { ...question, message: 'Where is the rest?' }));
  const { id: dispute } = await db
    .selectFrom('disputes')
    .select('id')
    .where('brandId', '=', brand.id)
    .executeTakeFirstOrThrow();
  await requested(owner, 'PATCH', `/disputes/${dispute}`, { answer: 'It is on its way.' });

  const terms = { creator_email: bo.email, type: 'link', destination_url: 'https://shop.example/' };
  const link = await requested(owner, 'POST', '/affiliates/links', { ...terms, value: unique('bo') });
  await requested(owner, 'PATCH', `/affiliates/links/${link.id}`, { value: unique('bo-again') });
  await requested(owner, 'PATCH', `/affiliates/links/${bo.linkId}`, { value: unique('NEW').toUpperCase() });
  await requested(owner, 'PATCH', `/affiliates/links/${bo.linkId}`, { active: false });
  const [kept, gone] = [await makeAssignment(context, brand), await makeAssignment(context, brand)];
  await requested(owner, 'POST', `/roster/${gone.creatorId}/merge`, { into: kept.creatorId });
  await requested(owner, 'PATCH', `/roster/${ann.creatorId}`, { creator_email: `${unique('ann')}@mail.example` });
  await requested(owner, 'PATCH', '/brand', { settings: { default_commission_rate: 10 } });
  await requested(owner, 'PATCH', '/affiliates/rules', { model: 'first_click' });
  await requested(owner, 'PATCH', '/fraud-rules', { velocity: { action: 'hold' } });
  await requested(owner, 'PATCH', '/agent-policy', { money_out: false });
  const cost = await requested(owner, 'POST', '/costs', {
    scope: 'brand',
    kind: 'per_order',
    amount: 2,
    currency: 'USD',
  });
  const hook = await requested(owner, 'POST', '/webhooks', {
    url: 'https://hooks.example/a',
    events: ['payout.created'],
  });
  const imported = {
    creator_email: bo.email,
    reference: 'P1',
    amount: 12,
    currency: 'USD',
    paid_at: daysAgo(90).toISOString(),
  };
  await requested(owner, 'POST', '/past-commissions/batch', { source: 'Old tool', past_commissions: [imported] });
  const past = await db
    .selectFrom('pastCommissions')
    .select('id')
    .where('brandId', '=', brand.id)
    .executeTakeFirstOrThrow();
  const fee = { type: 'fixed', amount: 300, currency: 'USD' };
  const contract = await requested(owner, 'POST', '/contracts', {
    creator_email: bo.email,
    title: 'Reel',
    compensation: fee,
  });
  const { email: person } = await ensurePersonToSignIn({ ...context, db }, brand.id, undefined);
  const mailed = { name: 'Weekly', operation: 'share', every: 'week', to: [person] };
  const sent = await requested(owner, 'POST', '/reports', mailed);
  const items = [{ lineId: '1', sku: 'TEA', title: 'Tea', quantity: 1, amountMinor: 10_000 }];
  const lines = await makeSale(context, brand, { assignment: bo, occurredAt: daysAgo(55), items });
  const late = unique('late');
  const reported = { integrationId: bo.source.id, orderId: late, click: 'clk_1', linkId: bo.linkId };
  await insertReportedClick(db, 'generic', reported, new Date());
  await asTest(context, brand, ({ db: trx, now }) =>
    insertReferrerChecks(trx, [{ id: lines.id, brandId: brand.id, clickId: 'clk_1' }], now),
  );
  await sync(app, brand.id);

  const orderOf = async ({ id }: { id: string }) =>
    (await db.selectFrom('commissions').select('orderId').where('id', '=', id).executeTakeFirstOrThrow()).orderId ?? '';
  const story = {
    ...{ brand: brand.id, ann: ann.creatorId, bo: bo.creatorId, code: ann.linkId, boCode: bo.linkId, link: link.id },
    ...{ paid: paid.id, next: next.id, due: due.id, unpaid: unpaid.id, manual: manual.id, returned: returned.id },
    ...{
      rejected: rejected.id,
      cancelled: cancelled.id,
      refunded: refunded.id,
      wallet: wallet.id,
      settled: settled.id,
    },
    ...{ cost: cost.id, hook: hook.id, past: past.id, contract: contract.id, report: sent.id },
    ...{ lines: lines.orderId, checked: lines.id, late },
    ...{ open: open.id, statement: statement.id, dispute, store: bo.source.id },
    ...{ dueOrder: await orderOf(due), paidOrder: await orderOf(paid), cancelledOrder: await orderOf(cancelled) },
  };
  return { owner, story };
}
