import type { Answer } from '../call/call.ts';
import { minorMoney } from '../kit/format.ts';

export type Budgets = Answer<'get_group'>['data']['budget'];

/** The used part of a budget, as a bar for each currency. */
export function BudgetBars({ of }: { of: Budgets }) {
  return of.map(({ currency, per, limit_minor, used_minor, left_minor }) => {
    const text = `${minorMoney(used_minor, currency)} of ${minorMoney(limit_minor, currency)}${per === 'month' ? ' this month' : ''}`;
    return (
      <div key={currency} className="budget">
        <progress aria-label={`Budget in ${currency}`} value={Math.min(used_minor, limit_minor)} max={limit_minor} />
        <span className={left_minor === 0 ? 'second late' : 'second'}>
          {left_minor === 0 ? `${text}: spent` : text}
        </span>
      </div>
    );
  });
}
