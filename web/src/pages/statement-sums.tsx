import type { Row } from '../call/call.ts';
import { money } from '../kit/format.ts';
import { Facts } from '../kit/parts.tsx';

type Sums = NonNullable<Row<'list_statements'>['totals']>;

/** The balance of a statement in each currency, with the names and signs of the creator's page. */
export const StatementSums = ({ of }: { of: Sums | null | undefined }) =>
  of?.map(({ currency, opening, commission, taken_back, paid_out, closing }) => (
    <div key={currency} className="sums">
      <Facts
        of={[
          ['Opening balance', money(opening, currency)],
          ['Earned', money(commission, currency)],
          ['Reversed by refunds', money(0 - taken_back, currency)],
          ['Paid out', money(0 - paid_out, currency)],
          ['Closing balance', <strong key="closing">{money(closing, currency)}</strong>],
        ]}
      />
    </div>
  ));
