import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  changePlainFields,
  findTermsInEffect,
  TERMS_PLACES,
  toPlainFields,
} from '../../src/affiliates/terms/places.ts';
import { Terms } from '../../src/affiliates/terms/terms.shapes.ts';
import { makePlainTerms } from '../../src/affiliates/terms/terms.ts';

const terms = (percent: number) => makePlainTerms(percent, 'order');

describe('the four places of terms', () => {
  it('decide in their order, and the brand’s rate without any.', () => {
    const has = fc.record({ link: fc.boolean(), group: fc.boolean(), campaign: fc.boolean(), brand: fc.boolean() });
    fc.assert(
      fc.property(has, (present) => {
        const placed = {
          link: present.link ? terms(1) : null,
          group: present.group ? terms(2) : null,
          campaign: present.campaign ? terms(3) : null,
          brand: present.brand ? terms(4) : null,
          defaultPercent: 5,
        };
        const found = findTermsInEffect(placed);
        const first = TERMS_PLACES.find((place) => present[place]);
        expect(found.source).toBe(first ?? 'brand');
        expect(found.terms.rate.percent).toBe(first ? TERMS_PLACES.indexOf(first) + 1 : 5);
      }),
    );
  });

  it('show as a percentage and as paying renewals or not.', () => {
    expect(toPlainFields(terms(12.5))).toEqual({ percent: 12.5, paysRenewals: false });
    const flat = Terms.parse({ rate: { flat: { USD: 5 }, per: 'order' }, covers: 'customer' });
    expect(toPlainFields(flat)).toEqual({ percent: 0, paysRenewals: true });
  });

  it('change by the older fields of a link, and stay valid.', () => {
    const long = Terms.parse({ rate: { flat: { USD: 5 }, per: 'order' }, covers: 'customer', months: 12, payments: 3 });
    expect(changePlainFields(long, { percent: 10 })).toEqual({ ...long, rate: { percent: 10 } });
    expect(changePlainFields(long, { paysRenewals: true })).toEqual(long);
    const short = changePlainFields(long, { paysRenewals: false });
    expect(short).toMatchObject({ covers: 'order', months: null, payments: null });
    expect(Terms.parse(short)).toEqual(short);
    expect(changePlainFields(short, { paysRenewals: true })).toMatchObject({ covers: 'subscription' });
  });
});
