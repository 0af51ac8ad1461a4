import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Assignment,
  attributeOrder,
  type CarriedClick,
  type RedeemedCode,
} from '../../src/affiliates/orders/attribute.ts';
import { maskEmail } from '../../src/affiliates/orders/customers.ts';
import { checkRules, type FraudCase } from '../../src/affiliates/orders/fraud.ts';
import { DEFAULT_RULES } from '../../src/affiliates/rules/attribution-rules.ts';
import { DEFAULT_FRAUD_RULES, type FraudRulesPatch, patchedRules } from '../../src/affiliates/rules/fraud-rules.ts';

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
  attributeOrder({
    ...{ integrationId: 'int_1', occurredAt: ORDERED, baseMinor: 10_000, currency: 'USD' },
    ...{ isTest: false, isRenewal: false, rules: DEFAULT_RULES, codes, clicks },
  });
const reasons = ({ candidates }: ReturnType<typeof decide>) =>
  candidates.map((one) => [
    'code' in one ? one.code : 'click_id' in one ? one.click_id : one.link_id,
    one.outcome,
    one.reason,
  ]);

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
  const suspicion: FraudCase = {
    ...{ isCreator: false, ordersOfCustomer: 1, ordersOfLink: 1, at: ORDERED },
    ...{ hasDisposableAddress: false, isReturning: false, paid: 0, refunded: 0, leakScore: null },
  };
  const flags = (more: Partial<FraudCase>, patch: FraudRulesPatch = {}) =>
    checkRules({ ...suspicion, ...more }, patchedRules(DEFAULT_FRAUD_RULES, patch)).map(
      ({ code, severity }) => `${code} ${severity}`,
    );

  it('flags a customer with the creator’s address as a self-referral', () => {
    expect([flags({ isCreator: true }), flags({})]).toEqual([['self_referral high'], []]);
  });

  it('flags more orders of one customer or one link than its limit, but not as many', () => {
    const { customer_orders: ofCustomer, link_orders: ofLink } = DEFAULT_FRAUD_RULES.velocity;
    expect([ofCustomer, ofLink]).toEqual([3, 30]);
    expect(flags({ ordersOfCustomer: ofCustomer, ordersOfLink: ofLink })).toEqual([]);
    expect(flags({ ordersOfCustomer: ofCustomer + 1 })).toEqual(['velocity medium']);
    expect(flags({ ordersOfLink: ofLink + 1 })).toEqual(['velocity medium']);
    expect(flags({ ordersOfLink: 6 }, { velocity: { action: 'hold', link_orders: 5 } })).toEqual(['velocity high']);
  });

  it.each<[found: Partial<FraudCase>, patch: FraudRulesPatch, expected: string]>([
    [{ hasDisposableAddress: true }, { disposable_address: { action: 'flag' } }, 'disposable_address medium'],
    [{ isReturning: true }, { returning_customer: { action: 'hold' } }, 'returning_customer high'],
    [{ paid: 20, refunded: 8 }, { refund_rate: { action: 'flag' } }, 'refund_rate medium'],
    [{ leakScore: 60 }, { code_leak: { action: 'hold' } }, 'code_leak high'],
  ])('flags %j only where the rule is on', (found, patch, expected) => {
    expect([flags(found), flags(found, patch)]).toEqual([[], [expected]]);
  });

  it('flags a refund rate from its share of as many orders as the rule says, and no fewer', () => {
    const rule = { refund_rate: { action: 'flag' as const, percent: 50, orders: 10 } };
    expect(flags({ paid: 10, refunded: 5 }, rule)).toEqual(['refund_rate medium']);
    expect([flags({ paid: 10, refunded: 4 }, rule), flags({ paid: 9, refunded: 9 }, rule)]).toEqual([[], []]);
  });

  it.each([
    ['jane@example.com', 'j***@e***.com'],
    ['j@e.co.uk', 'j***@e***.uk'],
    ['a@localhost', 'a***@l***'],
    ['nobody', '***'],
    ['', '***'],
  ])('%s is shown as %s', (email, masked) => expect(maskEmail(email)).toBe(masked));
});
