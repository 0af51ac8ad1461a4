import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Terms } from '../../src/workflow/terms/terms.shapes.ts';
import { hashTerms } from '../../src/workflow/terms/terms.ts';
import { startApp, type TestApp, unique } from '../harness/app.ts';
import { testSeed } from '../harness/kit/random-runs.ts';
import { openShop, type TermsShop } from './terms-shop.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const percent = (rate: number) => ({ rate: { percent: rate } });
const address = () => `${unique('creator')}@mail.example`;

/** A shop with requests that must succeed. */
async function openGroups(keys = 1) {
  const shop = await openShop(app, keys);
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await shop.tell(method, path, body);
    expect([method, path, answer.status, answer.body.details]).toEqual([
      ...[method, path, expect.toSatisfy((status) => status < 300), undefined],
    ]);
    return answer.body.data;
  };
  return {
    ...shop,
    ask,
    group: async (body: object = {}) => await ask('POST', '/v1/groups', { name: unique('Group'), ...body }),
    creator: async (email = address()) => {
      await ask('POST', '/v1/roster', { creator_email: email });
      return email;
    },
    code: async (creator_email: string, body: object = {}) =>
      await ask('POST', '/v1/affiliates/links', {
        creator_email,
        value: unique('C').toUpperCase(),
        hold_days: 0,
        ...body,
      }),
    join: async (group: { id: string }, emails: string[], links = 'keep') =>
      await ask('POST', `/v1/groups/${group.id}/creators`, { creator_emails: emails, links }),
    link: async ({ id }: { id: string }) => await ask('GET', `/v1/affiliates/links/${id}`),
  };
}

describe('A group', () => {
  it('is created, shown, changed and deleted, and its name is taken once whatever its case', async () => {
    const { group, ask, tell } = await openGroups();
    const name = unique('Ambassadors');
    const made = await group({ name, terms: percent(12), hold_days: 14 });
    expect(made).toMatchObject({
      name,
      default: false,
      hold_days: 14,
      attribution_days: null,
      creators: 0,
      budget: [],
    });
    expect(made.terms_summary).toBe('12% of each order.');
    const taken = await tell('POST', '/v1/groups', { name: name.toUpperCase() });
    expect([taken.status, taken.body.code, taken.body.details[0].field]).toEqual([409, 'CONFLICT', 'name']);
    const path = `/v1/groups/${made.id}`;
    expect(await ask('PATCH', path, { terms: null, hold_days: null })).toMatchObject({
      terms: null,
      hold_days: null,
      name,
    });
    expect(await ask('DELETE', path)).toEqual({ id: made.id, deleted: true });
    expect((await tell('GET', path)).status).toBe(404);
    expect((await tell('PATCH', path, {})).status).toBe(404);
    expect((await group({ name })).id).not.toBe(made.id);
  });

  it('with creators is not deleted, and those who leave free it', async () => {
    const { group, creator, join, ask, tell } = await openGroups();
    const [made, ana] = [await group(), await creator()];
    await join(made, [ana]);
    const refused = await tell('DELETE', `/v1/groups/${made.id}`);
    expect([refused.status, refused.body.creators]).toEqual([409, 1]);
    await ask('DELETE', `/v1/groups/${made.id}/creators?creator_email=${ana.toUpperCase()}`);
    const again = await tell('DELETE', `/v1/groups/${made.id}/creators?creator_email=${ana}`);
    expect([again.status, again.body.code]).toEqual([404, 'NOT_FOUND']);
    await ask('DELETE', `/v1/groups/${made.id}`);
  });

  it('moves creators from another group, says who was in it and who is not on the roster, and keeps who was in it when', async () => {
    const { group, creator, join, ask } = await openGroups();
    const [one, other] = [await group(), await group()];
    const [ana, ben, stranger] = [await creator(), await creator(), address()];
    await join(one, [ana]);
    const moved = await join(other, [ana.toUpperCase(), ben, stranger]);
    expect(moved).toMatchObject({ moved: [ana.toUpperCase(), ben], unchanged: [] });
    expect(moved.failed).toEqual([{ creator_email: stranger, reason: 'not_on_roster' }]);
    expect(await join(other, [ana])).toMatchObject({ moved: [], unchanged: [ana] });
    const past = await ask('GET', `/v1/groups/${one.id}/creators`);
    expect(past).toMatchObject([{ creator_email: ana, until: expect.any(String) }]);
    const present = await ask('GET', `/v1/groups/${other.id}/creators?present=true`);
    expect(present.map((member: { creator_email: string }) => member.creator_email).sort()).toEqual([ana, ben].sort());
    const roster = await ask('GET', `/v1/roster?group_id=${other.id}`);
    expect(roster.map((entry: { group_id: string }) => entry.group_id)).toEqual([other.id, other.id]);
  });

  it('that is the default takes in who joins the roster, and only one group is', async () => {
    const { group, creator, ask } = await openGroups();
    const one = await group({ default: true });
    const ana = await creator();
    const other = await group({ default: true });
    const ben = await creator();
    const groupOf = async (email: string) =>
      (await ask('GET', `/v1/roster?search=${email}`)).map((entry: { group_id: string }) => entry.group_id);
    expect([await groupOf(ana), await groupOf(ben)]).toEqual([[one.id], [other.id]]);
    expect((await ask('GET', `/v1/groups/${one.id}`)).default).toBe(false);
    const [entry] = await ask('GET', `/v1/roster?search=${ana}`);
    await ask('DELETE', `/v1/roster/${entry.id}`);
    await ask('PATCH', `/v1/roster/${entry.id}`, { status: 'active' });
    expect(await groupOf(ana)).toEqual([one.id]);
  });

  it('gives later codes of its creators its days and its terms, and leaves codes with their own alone', async () => {
    const { group, creator, join, code, link, place } = await openGroups();
    const ana = await creator();
    const own = await code(ana, { commission_rate: 5 });
    const vip = await group({ terms: percent(20), hold_days: 7, attribution_days: 3 });
    await join(vip, [ana]);
    const later = await code(ana, { hold_days: undefined });
    expect(later).toMatchObject({
      terms: null,
      terms_source: 'group',
      commission_rate: 20,
      effective_terms: percent(20),
    });
    expect(await link(own)).toMatchObject({ terms: percent(5), terms_source: 'link', commission_rate: 5 });
    expect((await place({ amount: 100, codes: [later.value] })).commission).toBe(20);
    const { rows } = await sql`select hold_days, attribution_days from links where id = ${later.id}`.execute(
      app.context.postgres.db,
    );
    expect(rows).toEqual([{ holdDays: 7, attributionDays: 3 }]);
  });

  it('is inherited by all codes of the creators who are moved with `inherit`, from the next order on', async () => {
    const { group, creator, join, code, link, place, explain, listProblems } = await openGroups();
    const ana = await creator();
    const codes = [await code(ana, { commission_rate: 5 }), await code(ana, { terms: percent(6) })];
    const before = await place({ amount: 100, codes: [codes[1].value] });
    const vip = await group({ terms: percent(20) });
    expect(await join(vip, [ana], 'inherit')).toMatchObject({ moved: [ana], links_changed: 2 });
    for (const one of codes) expect(await link(one)).toMatchObject({ terms: null, terms_source: 'group' });
    expect((await place({ amount: 100, codes: [codes[1].value] })).commission).toBe(20);
    expect((await explain(before)).commission.commission).toBe(6);
    expect(await listProblems()).toEqual([]);
  });

  it('of two creators who are merged is that of the one who stays', async () => {
    const { group, creator, join, ask } = await openGroups();
    const [ana, bea, cleo] = [await creator(), await creator(), await creator()];
    const [one, other] = [await group(), await group()];
    await join(one, [ana]);
    await join(other, [bea, cleo]);
    const entry = async (email: string) => (await ask('GET', `/v1/roster?search=${email}`))[0];
    await ask('POST', `/v1/roster/${(await entry(bea)).id}/merge`, { into: (await entry(ana)).id });
    expect((await entry(ana)).group_id).toBe(one.id);
    expect((await ask('GET', `/v1/groups/${other.id}`)).creators).toBe(1);
  });

  it('has a creator at most once, however many moves come at once, and the counts add up', async () => {
    const { group, creator, join, ask } = await openGroups();
    const groups = [await group(), await group(), await group()];
    const creators = await Promise.all([1, 2, 3, 4].map(() => creator()));
    await Promise.all(Array.from({ length: 12 }, (_, i) => join(groups[i % 3] ?? groups[0], creators)));
    const entries = await ask('GET', '/v1/roster');
    const counts = await ask('GET', '/v1/groups');
    for (const { id, creators: count } of counts) {
      expect(count).toBe(entries.filter((entry: { group_id: string }) => entry.group_id === id).length);
    }
    expect(entries.every((entry: { group_id: string | null }) => entry.group_id !== null)).toBe(true);
    const { rows } = await sql<{ times: number }>`
      select count(*) as times from group_memberships where until is null
        and creator_id in (select creator_id from group_memberships where group_id = ${groups[0].id}) group by creator_id`.execute(
      app.context.postgres.db,
    );
    expect(rows.every(({ times }) => Number(times) === 1)).toBe(true);
  });

  it('is one brand’s alone: another brand may use its name, and cannot use it or its terms', async () => {
    const [mine, theirs] = [await openGroups(), await openGroups()];
    const name = unique('Shared');
    const [own] = [await mine.group({ name, terms: percent(33), default: true })];
    await theirs.group({ name });
    const ana = await theirs.creator();
    const moved = await theirs.tell('POST', `/v1/groups/${own.id}/creators`, { creator_emails: [ana] });
    expect(moved.status).toBe(404);
    expect(await theirs.code(ana)).toMatchObject({ commission_rate: 0, terms_source: 'link' });
    expect(await theirs.ask('GET', `/v1/affiliates/terms?group_id=${own.id}`)).toEqual([]);
  });
});

/** Terms that are refused, with the path of what is wrong. */
const WRONG: readonly [object, string][] = [
  [{ rate: {} }, 'terms.rate'],
  [{ rate: { percent: 101 } }, 'terms.rate.percent'],
  [{ rate: { percent: 1.23456 } }, 'terms.rate.percent'],
  [{ rate: { percent: 1, flat: { USD: 1 }, per: 'order' } }, 'terms.rate'],
  [{ rate: { flat: { USD: 1 } } }, 'terms.rate.per'],
  [{ rate: { flat: { USD: 1.005 }, per: 'order' } }, 'terms.rate.flat.USD'],
  [{ rate: { flat: { XXY: 1 }, per: 'order' } }, 'terms.rate.flat.XXY'],
  [{ ...percent(1), months: 12 }, 'terms.months'],
  [{ ...percent(1), covers: 'subscription', payments: 121 }, 'terms.payments'],
  [{ ...percent(1), covers: 'everything' }, 'terms.covers'],
  [{ ...percent(1), caps: { week: { USD: 1 } } }, 'terms.caps.week'],
  [{ ...percent(1), caps: { order: { USD: 0 } } }, 'terms.caps.order.USD'],
  [{ ...percent(1), budget: { per: 'year', amount: { USD: 1 } } }, 'terms.budget.per'],
  [
    { ...percent(1), rules: [{ name: 'x', when: { country: ['XX'] }, rate: { percent: 1 } }] },
    'terms.rules[0].when.country[0]',
  ],
  [{ ...percent(1), note: 'x' }, 'terms.note'],
];

describe('Terms', () => {
  it('that are wrong are refused at each place with their path, and change nothing', async () => {
    const { group, creator, code, ask, tell } = await openGroups(4);
    const campaign = (await ask('POST', '/v1/campaigns', { name: 'Summer' })).id;
    const link = (await code(await creator(), { commission_rate: 1 })).id;
    const { id } = await group({ terms: percent(10) });
    const places = [
      ['POST', '/v1/groups', { name: unique('g') }],
      ['PATCH', `/v1/groups/${id}`, {}],
      ['POST', '/v1/campaigns', { name: 'x' }],
      ['PATCH', `/v1/campaigns/${campaign}`, {}],
      ['PATCH', '/v1/affiliates/rules', {}],
      ['PATCH', `/v1/affiliates/links/${link}`, {}],
      ['POST', '/v1/affiliates/links/bulk', { all_missing: true }],
    ] as const;
    for (const [terms, field] of WRONG) {
      for (const [method, path, body] of places) {
        const { status, body: answer } = await tell(method, path, { ...body, terms });
        expect([path, terms, status, answer.details?.[0].field]).toEqual([path, terms, 422, field]);
      }
    }
    expect(await ask('GET', '/v1/affiliates/terms')).toEqual([]);
    expect(await ask('GET', `/v1/affiliates/terms?group_id=${id}`)).toHaveLength(1);
    expect(await ask('GET', '/v1/groups')).toMatchObject([{ id, terms: percent(10) }]);
  });

  it('of a place have versions with a sentence, their author and their time', async () => {
    const { ask, group } = await openGroups();
    const { id } = await group({ terms: percent(10) });
    await ask('PATCH', `/v1/groups/${id}`, { terms: { ...percent(12), covers: 'subscription', months: 6 } });
    await ask('PATCH', `/v1/groups/${id}`, { terms: { ...percent(12), covers: 'subscription', months: 6 } });
    const versions = await ask('GET', `/v1/affiliates/terms?group_id=${id}`);
    expect(versions).toMatchObject([
      {
        ...{ place: 'group', place_id: id, replaced_at: null, by: expect.any(String) },
        summary: '12% of each order; also on renewals of the subscription for 6 months.',
      },
      { terms: percent(10), replaced_at: expect.any(String) },
    ]);
    expect(await ask('GET', `/v1/affiliates/terms/${versions[1].id}`)).toEqual(versions[1]);
  });

  it('with a budget say what is used of it, at the group, the campaign, the brand and the code', async () => {
    const { ask, group, creator, join, code, place, refund } = await openGroups();
    const terms = { ...percent(10), budget: { per: 'month', amount: { USD: 15 } } };
    const figures = (used: number) => [
      { currency: 'USD', per: 'month', limit_minor: 1_500, used_minor: used, left_minor: 1_500 - used },
    ];
    const vip = await group({ terms });
    const [ana, ben] = [await creator(), await creator()];
    await join(vip, [ana, ben]);
    const orders = [];
    for (const email of [ana, ben]) orders.push(await place({ amount: 100, codes: [(await code(email)).value] }));
    expect(orders.map(({ commission }) => commission)).toEqual([10, 5]);
    expect((await ask('GET', `/v1/groups/${vip.id}`)).budget).toEqual(figures(1_500));
    await refund(orders[0] ?? { id: '', order_id: '', commission: 0, rule: null }, 50);
    expect((await ask('GET', '/v1/groups'))[0].budget).toEqual(figures(1_000));

    const campaign = await ask('POST', '/v1/campaigns', { name: 'Summer', terms });
    const cleo = await creator();
    await place({ amount: 30, codes: [(await code(cleo, { campaign_id: campaign.id })).value] });
    expect((await ask('GET', `/v1/campaigns/${campaign.id}`)).budget).toEqual(figures(300));
    await ask('PATCH', '/v1/affiliates/rules', { terms });
    await place({ amount: 20, codes: [(await code(cleo)).value] });
    expect((await ask('GET', '/v1/affiliates/rules')).budget).toEqual(figures(200));
    const own = await code(cleo, { terms });
    await place({ amount: 10, codes: [own.value] });
    expect((await ask('GET', `/v1/affiliates/links/${own.id}`)).budget).toEqual(figures(100));
  });

  it('are given to codes in bulk, one version each, and none without', async () => {
    const { ask, creator, group, join } = await openGroups();
    const [ana, ben] = [await creator(), await creator()];
    await join(await group({ terms: percent(9) }), [ben]);
    const made = await ask('POST', '/v1/affiliates/links/bulk', {
      creators: [{ email: ana }],
      terms: { ...percent(8), caps: { order: { USD: 4 } } },
    });
    const [one] = await ask('GET', `/v1/affiliates/terms?link_id=${made.created[0].id}`);
    expect(one).toMatchObject({ place: 'link', summary: '8% of each order; at most $4 an order.' });
    const rest = await ask('POST', '/v1/affiliates/links/bulk', { all_missing: true });
    expect(await ask('GET', `/v1/affiliates/links/${rest.created[0].id}`)).toMatchObject({
      ...{ creator_email: ben, terms_source: 'group', commission_rate: 9 },
    });
  });

  it('that a link drops, or never had, are those of the first place that has any, through random placements and moves', async () => {
    const world = await openWorld(await openGroups(6));
    for (let step = 0; step < 60; step += 1) {
      await world.act();
      if (step % 6 === 5) await world.compare();
    }
    await world.sell();
  });

  it('of a group that were edited behind the API are found by verify, and so is a membership', async () => {
    const { brand, group, creator, join, listProblems } = await openGroups();
    const ana = await creator();
    await join(await group({ terms: percent(10) }), [ana]);
    expect(await listProblems()).toEqual([]);
    const { db } = app.context.postgres;
    await sql`update creator_groups set terms_id = null where brand_id = ${brand.id}`.execute(db);
    await sql`update group_memberships set until = now() where brand_id = ${brand.id}`.execute(db);
    const problems = (await listProblems()).join('\n');
    expect(problems).toMatch(/^group grp_/m);
    expect(problems).toMatch(/^membership of group mbr_/m);
  });
});

interface ModelLink {
  id: string;
  value: string;
  creator: string;
  campaign: string | null;
  own: number | null;
}

/** A brand whose terms are placed and moved at random, and a model of what they come to. */
async function openWorld(shop: TermsShop & Awaited<ReturnType<typeof openGroups>>) {
  const { ask } = shop;
  let state = testSeed || 1;
  /** A small generator, so that a failure can be drawn again by its seed. */
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const pick = <T>(list: readonly T[]): T => {
    const one = list[Math.floor(random() * list.length)];
    if (one === undefined) throw new Error('Nothing to pick from.');
    return one;
  };
  const DEFAULT = 3;
  await ask('PATCH', '/v1/brand', { settings: { default_commission_rate: DEFAULT } });
  const creators = [await shop.creator(), await shop.creator(), await shop.creator()];
  const groups: string[] = [(await shop.group()).id, (await shop.group()).id];
  const campaigns: string[] = [];
  for (const name of ['One', 'Two']) campaigns.push((await ask('POST', '/v1/campaigns', { name })).id);
  const placed = new Map<string, number>();
  const membership = new Map<string, string>();
  const links: ModelLink[] = [];
  let last = 3;
  const next = () => {
    last = Math.round((last + 0.1) * 10) / 10;
    return last;
  };
  const find = ({ own, creator, campaign }: Omit<ModelLink, 'id' | 'value'>): [string, number] => {
    if (own !== null) return ['link', own];
    const group = placed.get(membership.get(creator) ?? '');
    if (group !== undefined) return ['group', group];
    const ofCampaign = campaign === null ? undefined : placed.get(campaign);
    if (ofCampaign !== undefined) return ['campaign', ofCampaign];
    return ['brand', placed.get('brand') ?? DEFAULT];
  };
  const setPlace = async (key: string, path: string) => {
    const rate = random() < 0.3 ? null : next();
    await ask('PATCH', path, { terms: rate === null ? null : percent(rate) });
    if (rate === null) placed.delete(key);
    else placed.set(key, rate);
  };
  const actions = [
    async () => {
      const [creator, campaign] = [pick(creators), pick([...campaigns, null])];
      const rate = random() < 0.4 ? next() : null;
      const made = await shop.code(creator, {
        campaign_id: campaign,
        ...(rate === null ? {} : { terms: percent(rate) }),
      });
      const [source, inEffect] = find({ own: null, creator, campaign });
      const copies = rate === null && source === 'brand' && !placed.has('brand');
      links.push({ id: made.id, value: made.value, creator, campaign, own: copies ? inEffect : rate });
    },
    () =>
      pick([0, 1]) === 0
        ? setPlace(...placeOf(pick(groups), 'groups'))
        : setPlace(...placeOf(pick(campaigns), 'campaigns')),
    () => setPlace('brand', '/v1/affiliates/rules'),
    async () => {
      const [creator, group] = [pick(creators), pick(groups)];
      const links_ = pick(['keep', 'inherit', 'keep']);
      await shop.join({ id: group }, [creator], links_);
      membership.set(creator, group);
      if (links_ === 'inherit') for (const one of links) if (one.creator === creator) one.own = null;
    },
    async () => {
      const [creator, group] = pick([...membership]) ?? [];
      await ask('DELETE', `/v1/groups/${group}/creators?creator_email=${creator}`);
      membership.delete(creator);
    },
    async () => {
      const one = pick(links);
      const rate = random() < 0.5 ? null : next();
      const body = rate === null ? { terms: null } : pick([{ terms: percent(rate) }, { commission_rate: rate }]);
      await ask('PATCH', `/v1/affiliates/links/${one.id}`, body);
      one.own = rate;
    },
    async () => {
      const [one, campaign] = [pick(links), pick([...campaigns, null])];
      await ask('PATCH', `/v1/affiliates/links/${one.id}`, { campaign_id: campaign });
      one.campaign = campaign;
    },
  ];
  return {
    act: async () => {
      const isPossible = [true, true, true, true, membership.size > 0, links.length > 0, links.length > 0];
      await pick(actions.filter((_, i) => isPossible[i]))();
    },
    compare: async () => {
      const shown = await ask('GET', '/v1/affiliates/links?limit=100');
      const byId = new Map(shown.map((one: { id: string }) => [one.id, one]));
      for (const one of links) {
        const [source, rate] = find(one);
        expect(byId.get(one.id)).toMatchObject({ terms_source: source, commission_rate: rate });
      }
    },
    /** Each order copies the version in effect, whose hash covers its text. */
    sell: async () => {
      for (const one of links) {
        const [source, rate] = find(one);
        const { commission } = await shop.explain(await shop.place({ amount: 1_000, codes: [one.value] }));
        expect(commission.commission).toBe(Math.round(rate * 1_000) / 100);
        if (commission.terms_id === null) continue;
        const version = await ask('GET', `/v1/affiliates/terms/${commission.terms_id}`);
        expect(version).toMatchObject({ place: source, terms: percent(rate) });
        const { rows } = await sql<{ hash: string }>`select hash from terms where id = ${version.id}`.execute(
          app.context.postgres.db,
        );
        expect(rows[0]?.hash).toBe(hashTerms(Terms.parse(version.terms)));
      }
      expect(await shop.listProblems()).toEqual([]);
    },
  };
}

const placeOf = (id: string, noun: string): [string, string] => [id, `/v1/${noun}/${id}`];
