import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approveDue } from '../../src/affiliates/reviews/reviews.jobs.ts';
import { approvalsOf } from '../harness/affiliates/paying.ts';
import {
  balancesOf,
  daysAgo,
  makeAssignment,
  makeSale,
  makeSales,
  refund,
  report,
} from '../harness/affiliates/sales.ts';
import { call, makeBrand, send, startApp, type TestApp, type TestBrand } from '../harness/app.ts';
import { makeDatabase, type TestDatabase } from '../harness/database.ts';

/** A worker works for all brands: those of other tests are in another database. */
let database: TestDatabase;
let app: TestApp;

beforeAll(async () => {
  database = await makeDatabase('approval');
  app = await startApp({ urls: { postgres: database.url } });
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
});

interface Owner {
  brand: TestBrand;
  key: string;
}

async function makeOwner(isAutomatic = true): Promise<Owner> {
  const brand = await makeBrand(app.context);
  const key = await brand.key('brand');
  await send(`${app.url}/v1/brand`, key, 'PATCH', { settings: { auto_approve_commissions: isAutomatic } });
  return { brand, key };
}

const read = async ({ key }: Owner, id: string) => (await call(`${app.url}/v1/commissions/${id}`, key)).body.data;
const approvals = ({ brand }: Owner) => approvalsOf(app, brand);

describe('auto approval', () => {
  it('approves at the end of the review period with the note `auto`, audited, with one event', async () => {
    const owner = await makeOwner();
    const { id } = await makeSale(app.context, owner.brand);
    await approveDue(app.context);
    await approveDue(app.context);
    expect(await read(owner, id)).toMatchObject({ status: 'approved', status_note: 'auto' });
    expect(await approvals(owner)).toEqual([id]);
    expect(await balancesOf(app.context, owner.brand)).toMatchObject({ commission_approved: -1_000 });
    const { data } = (await call(`${app.url}/v1/audit-log?resource_id=${id}`, owner.key)).body;
    expect(data[0]).toMatchObject({ operation: 'auto_approve_commissions', resource_id: id, key_id: null });
  });

  it('skips commissions that are in their review period, unpaid, cancelled, refunded, suspected or reviewed', async () => {
    const owner = await makeOwner();
    const sale = (options: Parameters<typeof makeSale>[2] = {}) => makeSale(app.context, owner.brand, options);
    const held = await sale({ occurredAt: daysAgo(29) });
    const unpaid = await sale({ paidAt: null });
    const cancelled = await sale();
    await report(app.context, cancelled, { ...cancelled.facts, cancelledAt: new Date(), updatedAt: new Date() });
    const refunded = await sale();
    await refund(app.context, refunded, 10_000);
    const suspected = await sale({ email: 'self@mail.example', customerEmail: 'self@mail.example' });
    const rejected = await sale();
    await send(`${app.url}/v1/affiliates/commissions/${rejected.id}`, owner.key, 'PATCH', { status: 'rejected' });
    expect((await read(owner, suspected.id)).fraud_flags).toMatchObject([{ severity: 'high' }]);
    const all = [held, unpaid, cancelled, refunded, suspected, rejected];
    const before = await Promise.all(all.map(({ id }) => read(owner, id)));
    await approveDue(app.context);
    expect(await Promise.all(all.map(({ id }) => read(owner, id)))).toEqual(before);
    expect(await approvals(owner)).toEqual([]);
  });

  it('leaves suspected commissions to be approved by hand', async () => {
    const owner = await makeOwner();
    const mail = { email: 'own@mail.example', customerEmail: 'own@mail.example' };
    const { id } = await makeSale(app.context, owner.brand, mail);
    const url = `${app.url}/v1/affiliates/commissions/${id}`;
    expect((await send(url, owner.key, 'PATCH', { status: 'approved' })).status).toBe(200);
  });

  it('never works for a brand that has not enabled it, and starts when it does', async () => {
    const owner = await makeOwner(false);
    const { id } = await makeSale(app.context, owner.brand);
    await approveDue(app.context);
    expect((await read(owner, id)).status).toBe('pending');
    await send(`${app.url}/v1/brand`, owner.key, 'PATCH', { settings: { auto_approve_commissions: true } });
    await approveDue(app.context);
    expect((await read(owner, id)).status).toBe('approved');
  });

  it('approves each commission once, with one event, when several workers and a reviewer are at work', async () => {
    const owner = await makeOwner();
    const assignment = await makeAssignment(app.context, owner.brand);
    const sales = await makeSales(app.context, owner.brand, 250, assignment);
    const ids = sales.map(({ id }) => id);
    const event_ids = ids.slice(0, 100);
    const passes = await Promise.all([
      ...Array.from({ length: 4 }, () => approveDue(app.context)),
      send(`${app.url}/v1/affiliates/commissions/bulk`, owner.key, 'PATCH', { status: 'approved', event_ids }),
    ]);
    await approveDue(app.context);
    expect(passes).toHaveLength(5);
    const reported = await approvals(owner);
    expect(reported.sort()).toEqual(ids.sort());
    const { commission_approved, commission_pending } = await balancesOf(app.context, owner.brand);
    expect([commission_approved, commission_pending]).toEqual([-250_000, undefined]);
  });
});
