import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSale } from '../harness/affiliates/sales.ts';
import { call, made, makeBrand, send, startApp, type TestApp, type TestBrand, unique } from '../harness/app.ts';
import { apply, BEHIND_PROXY, makeCampaign } from '../harness/workflow/applying.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ env: BEHIND_PROXY });
});
afterAll(() => app?.close());

async function makeOwner(brand?: TestBrand) {
  const owner = brand ?? (await makeBrand(app.context));
  const key = await owner.key('brand');
  return {
    ...{ brand: owner, key },
    to: (path: string, method = 'GET', body?: object) => send(`${app.url}/v1/${path}`, key, method, body),
    make: (path: string, body: object) => made(`${app.url}/v1/${path}`, key, body),
    read: async (path: string) => (await call(`${app.url}/v1/${path}`, key)).body.data,
  };
}

describe('merging two entries of one person', () => {
  it('moves handles, tags, note, applications and links, and leaves one entry', async () => {
    const owner = await makeOwner();
    const campaign = await makeCampaign(app, owner.key);
    const kept = await owner.make('roster', { creator_email: 'ann@mail.example', note: 'first' });
    const gone = await owner.make('roster/add', { ig_handle: 'ann.photos', tags: ['travel'] });
    await owner.to(`roster/${gone.id}`, 'PATCH', { creator_email: 'ann2@mail.example', note: 'second', name: 'Ann' });
    await apply(app, campaign, { email: 'ann2@mail.example' });
    const [application] = await owner.read('applications');
    await owner.to(`applications/${application.id}`, 'PATCH', { status: 'accepted' });
    const link = await owner.make('affiliates/links', { creator_email: 'ann2@mail.example', value: unique('code') });

    const { status, body } = await owner.to(`roster/${gone.id}/merge`, 'POST', { into: kept.id });
    expect([status, body.data]).toEqual([
      200,
      expect.objectContaining({
        ...{ id: kept.id, creator_email: 'ann@mail.example', creator_name: 'Ann', ig_handle: 'ann.photos' },
        ...{ tags: ['travel'], note: 'first\n\nsecond', status: 'active' },
      }),
    ]);
    expect(await owner.read('roster')).toHaveLength(1);
    expect((await owner.to(`roster/${gone.id}`)).status).toBe(404);
    expect((await owner.read(`affiliates/links/${link.id}`)).creator_email).toBe('ann@mail.example');
    await owner.to(`campaigns/${campaign}`, 'PATCH', { status: 'completed' });
    expect((await owner.read(`roster/${kept.id}`)).campaigns_completed).toBe(1);
    const log = await owner.read('audit-log?operation=merge_roster_creators');
    expect(log.map(({ resource_id }: { resource_id: string }) => resource_id)).toContain(gone.id);
  });

  it.each([
    ['an order', async (owner: TestBrand, email: string) => void (await makeSale(app.context, owner, { email }))],
    [
      'a payout',
      async (owner: TestBrand, email: string) => {
        const { make } = await makeOwner(owner);
        await make('payouts', { creator_email: email, amount: 5, method: 'manual' });
      },
    ],
  ])('is refused for an entry with %s: a 409 says why, and the other direction works', async (_what, give) => {
    const owner = await makeOwner();
    const email = `${unique('rich')}@mail.example`;
    const poor = await owner.make('roster/add', { ig_handle: unique('poor') });
    await owner.make('roster', { creator_email: email });
    await give(owner.brand, email);
    const rich = (await owner.read('roster')).find((one: { creator_email: string }) => one.creator_email === email);
    const refused = await owner.to(`roster/${rich.id}/merge`, 'POST', { into: poor.id });
    expect([refused.status, refused.body.code]).toEqual([409, 'CONFLICT']);
    expect(refused.body.orders + refused.body.payouts).toBe(1);
    expect(await owner.read('roster')).toHaveLength(2);
    expect((await owner.to(`roster/${poor.id}/merge`, 'POST', { into: rich.id })).status).toBe(200);
    expect(await owner.read('roster')).toHaveLength(1);
  });

  it('puts a removed creator back if the merged entry was on the roster', async () => {
    const owner = await makeOwner();
    const kept = await owner.make('roster', { creator_email: 'ann@mail.example' });
    await owner.to(`roster/${kept.id}`, 'DELETE');
    const gone = await owner.make('roster/add', { tt_handle: 'ann' });
    expect((await owner.to(`roster/${gone.id}/merge`, 'POST', { into: kept.id })).body.data.status).toBe('hired');
  });

  it('answers 422 to an unknown or foreign `into` and to the same creator, and 404 to an unknown entry', async () => {
    const owner = await makeOwner();
    const stranger = await makeOwner();
    const entry = await owner.make('roster', { creator_email: 'ann@mail.example' });
    const foreign = await stranger.make('roster', { creator_email: 'ann@mail.example' });
    for (const [into, code] of [
      [foreign.id, 'not_found'],
      ['rst_nobody', 'not_found'],
      [entry.id, 'same'],
    ]) {
      const { status, body } = await owner.to(`roster/${entry.id}/merge`, 'POST', { into });
      expect([status, body.details]).toEqual([422, [expect.objectContaining({ field: 'into', code })]]);
    }
    expect((await owner.to(`roster/${foreign.id}/merge`, 'POST', { into: entry.id })).status).toBe(404);
  });

  it('so often that their ids exceed a URL keeps everyone’s figures readable', async () => {
    const owner = await makeOwner();
    const { creatorId, email } = await makeSale(app.context, owner.brand);
    await sql`
      insert into creator_merges (brand_id, gone_id, creator_id, merged_at)
      select ${owner.brand.id}, 'crt_gone_' || n, ${creatorId}, ${new Date()} from generate_series(1, 2000) as n`.execute(
      app.context.postgres.db,
    );
    for (const path of ['creators', 'analytics', `affiliates/performance?creator_email=${email}`]) {
      expect((await owner.to(path)).status, path).toBe(200);
    }
  });

  it('in both directions at the same time lets one of them win', async () => {
    const owner = await makeOwner();
    const one = await owner.make('roster', { creator_email: 'ann@mail.example' });
    const two = await owner.make('roster/add', { tt_handle: 'ann' });
    const answers = await Promise.all([
      owner.to(`roster/${one.id}/merge`, 'POST', { into: two.id }),
      owner.to(`roster/${two.id}/merge`, 'POST', { into: one.id }),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, expect.any(Number)]);
    expect(await owner.read('roster')).toHaveLength(1);
  });
});
