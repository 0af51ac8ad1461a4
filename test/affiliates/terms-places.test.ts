import { describe, expect, it } from 'vitest';
import { changePlainFields, makePlainTerms, toPlainFields } from '../../src/analytics/pricing/plain.ts';
import { Terms } from '../../src/workflow/terms/terms.shapes.ts';

const terms = (percent: number) => makePlainTerms(percent, 'order');

describe('the terms of a link', () => {
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
