import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawCode, foldName, isOffensive, pickStem } from '../../src/affiliates/links/slugs.ts';
import { newId } from '../../src/kit/values/ids.ts';
import { type Desk, LINKS, openDesk, problemsOf, SHOP } from '../harness/affiliates/affiliates.ts';
import { linkBySlug } from '../harness/affiliates/clicks.ts';
import { startApp, type TestApp, unique } from '../harness/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app?.close());

const BULK = `${LINKS}/bulk`;

interface Person {
  email?: string | null;
  name?: string | null;
  status?: 'active' | 'hired' | 'paused' | 'removed';
}

/** Puts many on the roster at once, whatever the plan allows; answers their entries. */
async function enroll(desk: Desk, people: Person[]) {
  const { db } = app.context.postgres;
  const start = Date.now() - people.length;
  const rows = people.map(({ email, name = null, status = 'active' }, i) => ({
    ...{ id: newId('rst', start + i), creatorId: newId('crt', start + i), status, name },
    email: email === undefined ? `${unique('p')}@example.com` : email,
    at: new Date(start + i),
  }));
  const brandId = desk.brand.id;
  const none = { igHandle: null, ttHandle: null, pfpUrl: null, igFollowers: null, ttFollowers: null };
  const unknown = { ...none, engagementRate: null, profiledAt: null, profileRetryAt: null, updatedAt: null };
  const creators = rows.map(({ creatorId: id, email, name, at }) => ({
    ...unknown,
    id,
    brandId,
    email,
    name,
    createdAt: at,
  }));
  const entries = rows.map(({ id, creatorId, status, at }) => ({
    ...{ id, brandId, creatorId, status, note: null, addedAt: at, updatedAt: null },
  }));
  await db.insertInto('creators').values(creators).execute();
  await db.insertInto('rosterEntries').values(entries).execute();
  return rows;
}

const enrolled = async (...people: Person[]) => {
  const desk = await openDesk(app);
  return { desk, rows: await enroll(desk, people) };
};
const ask = async (desk: Desk, input: object) => {
  const { status, body } = await desk.send('POST', BULK, input);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
};
const totalOf = async (desk: Desk) => (await desk.get(LINKS)).body.pagination.total;
const emailsOf = (list: { creator_email: string }[]) => list.map((one) => one.creator_email);

describe('codes for all creators without one', () => {
  it('are complete on a roster of 2,300 after five requests, each created once', async () => {
    const people = Array.from({ length: 2_300 }, (_, i) => ({ name: i % 3 ? 'Ana Ruiz' : `Person ${i}` }));
    const { desk } = await enrolled(...people);
    const remaining: number[] = [];
    const values: string[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      const data = await ask(desk, { all_missing: true, commission_rate: 10 });
      expect(data).toMatchObject({ failed: [], skipped: [], provisioning: 'manual' });
      expect(data.count).toBe(data.created.length);
      remaining.push(data.remaining);
      values.push(...data.created.map(({ value }: { value: string }) => value));
    }
    expect(remaining).toEqual([1_800, 1_300, 800, 300, 0]);
    expect(new Set(values).size).toBe(2_300);
    const again = await ask(desk, { all_missing: true });
    expect([again.created, again.remaining, again.summary]).toEqual([[], 0, { created: 0, skipped: 0, failed: 0 }]);
    expect(await totalOf(desk)).toBe(2_300);
  });

  it('requested by ten callers at once are created once', async () => {
    const { desk } = await enrolled(...Array.from({ length: 120 }, () => ({ name: 'Ana' })));
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(desk, { all_missing: true })));
    expect(answers.map(({ count }) => count).sort()).toEqual([...Array(9).fill(0), 120]);
    expect(await totalOf(desk)).toBe(120);
  });

  it('go to creators on the roster with an email address; those without one are named, and do not remain', async () => {
    const { desk, rows } = await enrolled(
      {},
      { status: 'paused' },
      { status: 'removed' },
      { email: null },
      { status: 'hired' },
    );
    const data = await ask(desk, { all_missing: true });
    expect(emailsOf(data.created)).toEqual([rows[0]?.email, rows[1]?.email, rows[4]?.email]);
    expect(data.skipped).toEqual([{ creator_email: null, roster_id: rows[3]?.id, reason: 'no_email', id: null }]);
    expect([data.remaining, data.summary]).toEqual([0, { created: 3, skipped: 1, failed: 0 }]);
  });

  it('of a campaign go to the creators it accepted, one of the campaign in addition to what they have', async () => {
    const { desk, rows } = await enrolled({}, {}, {});
    const campaign = (await desk.send('POST', '/v1/campaigns', { name: 'Summer' })).body.data.id;
    const { db } = app.context.postgres;
    const apply = (row: (typeof rows)[number] | undefined, status: 'accepted' | 'pending') => {
      const [creatorId = '', creatorEmail = ''] = [row?.creatorId, row?.email ?? ''];
      const id = newId('app', Date.now());
      const application = { id, brandId: desk.brand.id, campaignId: campaign, creatorId, creatorEmail, status };
      return db
        .insertInto('applications')
        .values({ ...application, appliedAt: new Date() })
        .execute();
    };
    await apply(rows[0], 'accepted');
    await apply(rows[1], 'pending');
    expect((await ask(desk, { all_missing: true })).count).toBe(3);
    const data = await ask(desk, { all_missing: true, campaign_id: campaign });
    expect([emailsOf(data.created), data.remaining]).toEqual([[rows[0]?.email], 0]);
    const link = (await desk.get(`${LINKS}/${data.created[0].id}`)).body.data;
    expect(link).toMatchObject({ campaign_id: campaign, value: data.created[0].value });
    const other = await desk.send('POST', BULK, { creators: [{ email: rows[1]?.email }], campaign_id: campaign });
    expect([other.status, problemsOf(other)]).toEqual([422, ['creators.0.email not_in_campaign']]);
  });
});

describe('codes for named creators', () => {
  it('go to email addresses in any case; a creator who has one keeps it, even while it is inactive', async () => {
    const { desk, rows } = await enrolled({ name: 'Zoë Ångström' }, {}, { name: 'Bo' });
    const [first, second, third] = rows.map(({ email }) => email ?? '');
    const held = await desk.made({ creator_email: second, value: unique('OWN') });
    await desk.send('DELETE', `${LINKS}/${held.id}`);
    const creators = [{ email: third }, { email: first?.toUpperCase() }, { email: second }];
    const data = await ask(desk, { creators, commission_rate: 12.5 });
    expect(data.created).toEqual([
      {
        id: expect.stringMatching(/^lnk_/),
        creator_email: third,
        creator_name: 'Bo',
        value: expect.stringMatching(/^BO[34679]/),
        url: null,
      },
      expect.objectContaining({
        creator_email: first,
        creator_name: 'Zoë Ångström',
        value: expect.stringMatching(/^ZOE[34679]/),
      }),
    ]);
    expect(data.skipped).toEqual([
      { creator_email: second, roster_id: rows[1]?.id, reason: 'already_exists', id: held.id },
    ]);
    expect([data.remaining, data.summary]).toEqual([0, { created: 2, skipped: 1, failed: 0 }]);
    const link = (await desk.get(`${LINKS}/${data.created[0].id}`)).body.data;
    expect(link).toMatchObject({ commission_rate: 12.5, type: 'discount_code', active: true, currency: 'USD' });
    const again = await ask(desk, { creators });
    expect(again.skipped.map(({ id }: { id: string }) => id)).toEqual([
      ...data.created.map(({ id }: { id: string }) => id),
      held.id,
    ]);
  });

  it('by roster record are links, whose short URLs lead to them', async () => {
    const { desk, rows } = await enrolled({ name: 'Ana' }, { email: null });
    const roster_ids = rows.map(({ id }) => id);
    const data = await ask(desk, { roster_ids, type: 'referral_link', destination_url: SHOP });
    expect(data.skipped).toEqual([{ creator_email: null, roster_id: roster_ids[1], reason: 'no_email', id: null }]);
    const [{ id, value, url }] = data.created;
    expect(value).toMatch(/^ana[a-z0-9]+$/);
    expect(url).toBe(`https://go.example/r/${value}`);
    const found = await linkBySlug(app, value);
    expect([found?.id, found?.destinationUrl]).toEqual([id, SHOP]);
    expect((await ask(desk, { roster_ids: roster_ids.slice(0, 1) })).count).toBe(1);
  });

  it('are refused for wrong names, each with its reason, before anything is written', async () => {
    const { desk, rows } = await enrolled({}, { status: 'removed' });
    const stranger = await enrolled({});
    const [own, removed, foreign] = [rows[0], rows[1], stranger.rows[0]];
    const byId = await desk.send('POST', BULK, { roster_ids: [own?.id, removed?.id, foreign?.id, own?.id, 'rst_x'] });
    expect([byId.status, byId.body.code]).toEqual([422, 'INVALID_SELECTION']);
    expect(problemsOf(byId)).toEqual([
      'roster_ids.1 not_on_roster',
      'roster_ids.2 not_found',
      'roster_ids.3 duplicate',
      'roster_ids.4 not_found',
    ]);
    const emails = [own?.email, own?.email?.toUpperCase(), removed?.email, foreign?.email];
    const byEmail = await desk.send('POST', BULK, { creators: emails.map((email) => ({ email })) });
    expect([byEmail.status, problemsOf(byEmail)]).toEqual([
      422,
      ['creators.1.email duplicate', 'creators.2.email not_on_roster', 'creators.3.email not_on_roster'],
    ]);
    expect(await totalOf(desk)).toBe(0);
  });

  it.each([
    [{}, 'all_missing selector'],
    [{ all_missing: false }, 'all_missing selector'],
    [{ all_missing: true, roster_ids: ['x'] }, 'roster_ids selector'],
    [{ creators: [{ email: 'a@b.example' }], roster_ids: ['x'] }, 'roster_ids selector'],
    [{ creators: [] }, 'creators too_small'],
    [{ roster_ids: Array(501).fill('x') }, 'roster_ids too_big'],
    [{ creators: [{ email: 'ana' }] }, 'creators.0.email invalid_format'],
    [{ all_missing: true, type: 'link' }, 'destination_url required'],
    [{ all_missing: true, type: 'link', destination_url: 'ftp://x.example' }, 'destination_url invalid_format'],
    [{ all_missing: true, type: 'link', destination_url: 'https://go.example/r/x' }, 'destination_url circular'],
    [{ all_missing: true, type: 'coupon' }, 'type invalid_value'],
    [{ all_missing: true, commission_rate: 101 }, 'commission_rate too_big'],
    [{ all_missing: true, campaign_id: 'cmp_x' }, 'campaign_id not_found'],
  ])('with %j are 422: %s', async (input, problem) => {
    const { desk } = await enrolled({});
    const answer = await desk.send('POST', BULK, input);
    expect([answer.status, answer.body.code]).toEqual([422, 'VALIDATION_ERROR']);
    expect(problemsOf(answer)).toContain(problem);
    expect(await totalOf(desk)).toBe(0);
  });
});

describe('a generated code', () => {
  const name = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.constantFrom('Zoë Ångström', 'Łukasz', 'Straße', 'Аня', '小明', 'Dick Shit', 'x', '', 'O’Brien-Smith', 'A1B2'),
  );

  it('is upper-case ASCII, short, without look-alike digits and offensive words, whatever the name', () => {
    fc.assert(
      fc.property(fc.array(fc.option(name), { maxLength: 3 }), fc.nat(7), (names, attempt) => {
        const code = drawCode(names, attempt);
        expect(code).toMatch(/^[A-Z]{2,10}[34679][34679CFHJKMNPRTVWXY]{2,7}$/);
        expect(isOffensive(code)).toBe(false);
        expect(code.startsWith(pickStem(names)) || code.startsWith('FRIEND')).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });

  it('starts with the first name that can be read, accents folded', () => {
    expect(pickStem(['Zoë Ångström'])).toBe('ZOE');
    expect(pickStem(['Łukasz'])).toBe('LUKASZ');
    expect(pickStem(['J. Straße'])).toBe('STRASSE');
    expect(pickStem(['小明', 'xiao.ming_99'])).toBe('XIAO');
    expect(pickStem(['Maximiliane-Alexandra'])).toBe('MAXIMILIAN');
    expect(pickStem(['Shitface', null])).toBe('FRIEND');
    expect(foldName('Øré ŒUF')).toBe('ORE OEUF');
  });

  it.each(['FUCK7K', 'F4G3', 'xxSH17xx', 'N1G', 'S3X7', 'ass'])('is never %s', (code) => {
    expect(isOffensive(code)).toBe(true);
  });
});
