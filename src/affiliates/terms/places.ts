import type { Terms } from './terms.shapes.ts';
import { makePlainTerms } from './terms.ts';

export const TERMS_PLACES = ['link', 'group', 'campaign', 'brand'] as const;
export type TermsPlace = (typeof TERMS_PLACES)[number];

/** The terms of each place of a link; null for a place without any. */
export interface PlacedTerms extends Readonly<Record<TermsPlace, Terms | null>> {
  /** The brand's rate, which is all that it pays without terms. */
  defaultPercent: number;
}

/** The first place that has terms decides alone: terms of several places are never merged. */
export function findTermsInEffect(placed: PlacedTerms): { terms: Terms; source: TermsPlace } {
  for (const source of TERMS_PLACES) {
    const terms = placed[source];
    if (terms) return { terms, source };
  }
  return { terms: makePlainTerms(placed.defaultPercent, 'order'), source: 'brand' };
}

/** The two fields in which a link says its deal without terms; a flat base shows as 0 percent. */
export const toPlainFields = ({ rate, covers }: Terms): { percent: number; paysRenewals: boolean } => ({
  percent: rate.percent ?? 0,
  paysRenewals: covers !== 'order',
});

/** Applies `commission_rate` and `pays_renewals` of a link to its terms. Terms for one order have no duration. */
export function changePlainFields(terms: Terms, change: { percent?: number; paysRenewals?: boolean }): Terms {
  const { percent, paysRenewals } = change;
  const rated = percent === undefined ? terms : { ...terms, rate: { percent } };
  if (paysRenewals === undefined || paysRenewals === (terms.covers !== 'order')) return rated;
  return paysRenewals
    ? { ...rated, covers: 'subscription' }
    : { ...rated, covers: 'order', months: null, payments: null };
}
