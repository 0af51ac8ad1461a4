import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OperationId, Query, Row } from '../call/call.ts';
import { useFirst } from '../call/use.ts';
import { number } from './format.ts';
import { Badge, Card, Failure, Loading, oneLine } from './parts.tsx';

type ListPage =
  | '/applications'
  | '/briefs'
  | '/commissions'
  | '/commissions/past'
  | '/content'
  | '/contracts'
  | '/conversations'
  | '/deliverables'
  | '/links'
  | '/payouts'
  | '/shipments';

interface GlanceRow {
  key: string;
  name: ReactNode;
  /** The search that the name opens the list's page with; by default the item's key. Null if the name is a link. */
  opens?: Record<string, unknown> | null;
  second?: ReactNode;
  state?: string;
  value?: ReactNode;
}

interface GlanceProps<Id extends OperationId> {
  title: string;
  id: Id;
  /** The page of the whole list, with the same filters. */
  to: ListPage;
  query: Query<Id> & Record<string, unknown>;
  row: (item: Row<Id>) => GlanceRow;
  /** True if nothing more will come of an item: it stands after the others. */
  isOver?: (item: Row<Id>) => boolean;
  /** Stands in place of the rows while there are none; null: no card at all. */
  empty: ReactNode | null;
}

const SHOWN = 5;
/** So many of the newest are read to find those that are not over. */
const READ = 25;

/** The newest items of a list on a card, with a link to all of them. */
export function Glance<Id extends OperationId>(props: GlanceProps<Id>) {
  const { title, id, to, query, row, isOver, empty } = props;
  const { data, error, refetch } = useFirst(id, query, { limit: isOver ? READ : SHOWN });
  const rank = (item: Row<Id>) => Number(isOver?.(item) ?? false);
  const rows = (data?.data ?? []).toSorted((one, other) => rank(one) - rank(other)).slice(0, SHOWN);
  const total = data?.pagination.total ?? 0;
  const all = total > SHOWN && (
    <Link to={to} search={query}>
      All {number(total)}
    </Link>
  );
  if (empty === null && total === 0) return null;
  return (
    <Card title={title} action={all}>
      {error && <Failure error={error} again={() => void refetch()} />}
      {!error && !data && <Loading rows={2} />}
      {data && total === 0 && <p className="hint">{empty}</p>}
      {total > 0 && (
        <ul className="glance">
          {rows.map(row).map(({ key, name, opens = { open: key }, second, state, value }) => (
            <li key={key} className="glance-row">
              <div>
                {opens === null ? (
                  name
                ) : (
                  <Link to={to} search={opens}>
                    {name}
                  </Link>
                )}
                {second && <span {...oneLine(second, 'second')}>{second}</span>}
              </div>
              {value !== undefined && <span className="figure">{value}</span>}
              {state !== undefined && <Badge state={state} />}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
