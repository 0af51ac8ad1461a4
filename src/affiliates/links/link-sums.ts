import type { CurrencyFigures, LinkFigures } from '../../analytics/figures/sums.ts';
import { fromMinor } from '../../kit/values/decimals.ts';
import type { LinkSummary } from './links.shapes.ts';

/** Figures of a new link. */
export const NOTHING = { clicks: 0, conversions: 0, revenueMinor: 0, commissionMinor: 0 };

const toTotals = ({ currency, clicks, conversions, revenueMinor, commissionMinor }: CurrencyFigures) => ({
  total_revenue: fromMinor(revenueMinor, currency),
  total_commissions: fromMinor(commissionMinor, currency),
  total_clicks: clicks,
  total_conversions: conversions,
});

/** Clicks and conversions are counted across currencies; money never is. */
export function toSummary(currency: string, { others, ...figures }: LinkFigures): LinkSummary {
  return {
    ...toTotals({ currency, ...figures }),
    by_currency: others.map((one) => ({ currency: one.currency, ...toTotals(one) })),
  };
}

/** Adds up figures of several currencies: money in the brand's currency, other currencies with any figures apart. */
export function sumFigures(brandCurrency: string, figures: readonly CurrencyFigures[]): LinkFigures {
  const sums = new Map<string, CurrencyFigures>();
  for (const one of figures) {
    const sum = sums.get(one.currency) ?? { ...NOTHING, currency: one.currency };
    sums.set(one.currency, {
      currency: one.currency,
      clicks: sum.clicks + one.clicks,
      conversions: sum.conversions + one.conversions,
      revenueMinor: sum.revenueMinor + one.revenueMinor,
      commissionMinor: sum.commissionMinor + one.commissionMinor,
    });
  }
  const own = sums.get(brandCurrency) ?? NOTHING;
  const all = [...sums.values()];
  return {
    clicks: all.reduce((sum, one) => sum + one.clicks, 0),
    conversions: all.reduce((sum, one) => sum + one.conversions, 0),
    revenueMinor: own.revenueMinor,
    commissionMinor: own.commissionMinor,
    others: all.filter(
      ({ currency, clicks, conversions, revenueMinor, commissionMinor }) =>
        currency !== brandCurrency &&
        [clicks, conversions, revenueMinor, commissionMinor].some((figure) => figure !== 0),
    ),
  };
}
