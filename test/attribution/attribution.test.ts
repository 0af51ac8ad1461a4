import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Assignment, attribute, type CarriedClick, type RedeemedCode } from '../../src/resources/orders/policy.ts';
import {
  flagsOf,
  hashEmail,
  MAX_ORDERS_OF_CUSTOMER,
  MAX_ORDERS_OF_LINK,
  maskEmail,
} from '../../src/resources/orders/suspicion.ts';
import { openSecrets } from '../../src/values/secrets.ts';

const DAY = 24 * 60 * 60 * 1_000;
const ORDERED = new Date('2026-03-10T12:00:00Z');
const before = (ms: number) => new Date(ORDERED.getTime() - ms);

const link = (id: string, more: Partial<Assignment> = {}): Assignment => ({
  ...{ id, type: 'link', integrationId: null, attributionDays: 7, paysRenewals: null },
  ...more,
});
const code = (text: string, more: Partial<RedeemedCode<Assignment>> = {}): RedeemedCode<Assignment> => ({
  ...{ code: text, assignment: link(`lnk_${text}`, { type: 'discount_code' }), wasActive: true },
  ...more,
});
const click = (id: string, at: Date, assignment: Assignment | undefined = link(`lnk_${id}`)) => ({
  ...{ token: `token ${id}`, click: { id, at, linkId: `lnk_${id}` } },
  assignment,
});
const decide = (codes: RedeemedCode<Assignment>[], clicks: CarriedClick<Assignment>[]) =>
  attribute({ integrationId: 'int_1', occurredAt: ORDERED, isTest: false, isRenewal: false, codes, clicks });
const reasons = ({ candidates }: ReturnType<typeof decide>) =>
  candidates.map((one) => [one.type === 'code' ? one.code : one.click_id, one.outcome, one.reason]);

describe('The attribution of an order', () => {
  it('lets a redeemed code win over any click', () => {
    const decision = decide([code('ANNA10')], [click('c1', before(1))]);
    expect([decision.rule, decision.winner?.id, decision.code, decision.clickId]).toEqual([
      ...['code', 'lnk_ANNA10', 'ANNA10'],
      null,
    ]);
    expect(reasons(decision)).toEqual([
      ['ANNA10', 'won', null],
      ['c1', 'lost', 'code_wins'],
    ]);
  });

  it('goes to the first code of the order that qualifies, and keeps why the others lost', () => {
    const decision = decide(
      [
        code('NOBODYS', { assignment: undefined, wasActive: false }),
        code('OFF', { wasActive: false }),
        code('ELSEWHERE', { assignment: link('lnk_e', { integrationId: 'int_2' }) }),
        code('BO10', { assignment: link('lnk_b', { integrationId: 'int_1' }) }),
        code('ANNA10'),
      ],
      [],
    );
    expect(reasons(decision)).toEqual([
      ['NOBODYS', 'lost', 'unknown_code'],
      ['OFF', 'lost', 'code_inactive'],
      ['ELSEWHERE', 'lost', 'other_store'],
      ['BO10', 'won', null],
      ['ANNA10', 'lost', 'later_code'],
    ]);
    expect(decision.winner?.id).toBe('lnk_b');
  });

  it('goes to the last click within its window without a code, and keeps why the others lost', () => {
    const decision = decide(
      [],
      [
        { token: 'forged', click: undefined, assignment: undefined },
        { ...click('foreign', before(1)), assignment: undefined },
        click('elsewhere', before(1), link('lnk_e', { integrationId: 'int_2' })),
        click('late', before(-1_000)),
        click('old', before(7 * DAY + 1)),
        click('older', before(7 * DAY)),
        // A store that tells whole seconds: clicked within the second of the order.
        click('last', before(-999)),
      ],
    );
    expect(decision).toMatchObject({ rule: 'last_click', reason: null, winner: { id: 'lnk_last' }, clickId: 'last' });
    expect(reasons(decision)).toEqual([
      ['forged', 'lost', 'invalid_signature'],
      ['foreign', 'lost', 'foreign_brand'],
      ['elsewhere', 'lost', 'other_store'],
      ['late', 'lost', 'click_after_order'],
      ['old', 'lost', 'click_outside_window'],
      ['older', 'lost', 'older_click'],
      ['last', 'won', null],
    ]);
  });

  it('records the window test with its times, to the millisecond', () => {
    const inside = decide([], [click('c', before(7 * DAY))]).candidates[0];
    const outside = decide([], [click('c', before(7 * DAY + 1))]).candidates[0];
    expect(inside).toMatchObject({
      window: {
        clicked_at: '2026-03-03T12:00:00.000Z',
        attribution_days: 7,
        window_ends_at: ORDERED.toISOString(),
        ordered_at: ORDERED.toISOString(),
        inside: true,
      },
    });
    expect(outside).toMatchObject({ outcome: 'lost', window: { inside: false } });
  });

  it('keeps the reason when nobody is paid', () => {
    expect(decide([], [])).toMatchObject({ rule: null, reason: 'no_candidates', winner: undefined, candidates: [] });
    expect(decide([code('X', { wasActive: false })], [])).toMatchObject({
      rule: null,
      reason: 'no_candidate_qualified',
    });
  });

  it('treats a code or click that is reported twice as one candidate', () => {
    const decision = decide([code('Anna10'), code('ANNA10')], [click('c', before(1)), click('c', before(1))]);
    expect(reasons(decision).map(([name]) => name)).toEqual(['Anna10', 'c']);
  });

  it('keeps the place of a code that is reported again in another case', () => {
    const decision = decide([code('ANNA10'), code('BO10'), code('anna10')], []);
    expect([decision.code, reasons(decision).map(([name]) => name)]).toEqual(['ANNA10', ['ANNA10', 'BO10']]);
  });

  it('does not depend on the order of clicks, even at the same moment', () => {
    const clicks = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: -2, max: 9 })), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(clicks, fc.infiniteStream(fc.nat()), (drawn, noise) => {
        const made = drawn.map(([id, days]) => click(`c${id}`, before(days * DAY)));
        const distinct = [...new Map(made.map((one) => [one.token, one])).values()];
        const shuffled = distinct.toSorted(() => (noise.next().value ?? 0) - (noise.next().value ?? 0));
        expect(decide([], shuffled).clickId).toBe(decide([], distinct).clickId);
      }),
    );
  });
});

describe('Fraud detection', () => {
  const secrets = openSecrets(Buffer.alloc(32, 1));
  const suspicion = { customerHash: null, creatorHash: null, ordersOfCustomer: 1, ordersOfLink: 1, at: ORDERED };

  it('flags a customer with the creator’s address as a self-referral, in any spelling', () => {
    const creatorHash = hashEmail(secrets, 'Anna@Example.com');
    const flags = (email: string) => flagsOf({ ...suspicion, creatorHash, customerHash: hashEmail(secrets, email) });
    expect(flags(' anna+shop@example.COM ')).toMatchObject([{ code: 'self_referral', severity: 'high' }]);
    expect(flags('anna@example.org')).toEqual([]);
    expect(flags('ann+a@example.com')).toEqual([]);
  });

  it('flags more orders of one customer or one link than its limit, but not as many', () => {
    const codes = (more: Partial<typeof suspicion>) =>
      flagsOf({ ...suspicion, ...more }).map(({ severity }) => severity);
    expect(codes({ ordersOfCustomer: MAX_ORDERS_OF_CUSTOMER, ordersOfLink: MAX_ORDERS_OF_LINK })).toEqual([]);
    expect(codes({ ordersOfCustomer: MAX_ORDERS_OF_CUSTOMER + 1 })).toEqual(['medium']);
    expect(codes({ ordersOfLink: MAX_ORDERS_OF_LINK + 1 })).toEqual(['medium']);
  });

  it.each([
    ['jane@example.com', 'j***@e***.com'],
    ['j@e.co.uk', 'j***@e***.uk'],
    ['a@localhost', 'a***@l***'],
    ['nobody', '***'],
    ['', '***'],
  ])('%s is shown as %s', (email, masked) => expect(maskEmail(email)).toBe(masked));
});
