import { Link } from '@tanstack/react-router';
import type { Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Confirm } from '../kit/dialog.tsx';
import { Download } from '../kit/download.tsx';
import { CREATOR_FILTER, Filters, findChoice, useFilters } from '../kit/filters.tsx';
import { day, money } from '../kit/format.ts';
import { Menu } from '../kit/menu.tsx';
import { Empty, IfMay, PageHead } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Totals } from '../kit/totals.tsx';
import { CreatorName } from './item-links.tsx';

const SORTS = listChoices('list_past_commissions', 'sort');
type Past = Row<'list_past_commissions'>;

function Actions({ of: { id, reference } }: { of: Past }) {
  const remove = useChange('delete_past_commission', ['list_past_commissions']);
  return (
    <Menu label={`More actions for ${reference}`} needs="delete_past_commission">
      <Confirm
        label="Delete"
        title="Delete this past commission?"
        action="Delete"
        onConfirm={() => remove.mutateAsync({ params: { id } })}
      >
        <p>Only this record goes. Nothing that was paid changes.</p>
      </Confirm>
    </Menu>
  );
}

/** Payments to creators from before the brand moved here. */
export function PastCommissions() {
  const { get } = useFilters();
  const sort = findChoice(get('sort'), SORTS) ?? 'newest';
  const filters = { creator_email: get('creator_email') };
  const query = { ...filters, sort };
  const list = useRows('list_past_commissions', query);
  const totals = useCall('list_past_commissions', { query: { ...filters, totals: true, limit: 1 } });
  const columns: readonly Column<Past>[] = [
    { head: 'Creator', cell: (row) => <CreatorName of={row} /> },
    {
      head: 'Paid',
      cell: ({ amount, currency }) => money(amount, currency),
      sort: { by: 'amount', isOn: sort === 'amount' },
      isNumber: true,
    },
    { head: 'Date', cell: ({ paid_at }) => <span className="unbroken">{day(paid_at)}</span>, isOrder: true },
    {
      head: 'Paid with',
      isWide: true,
      cell: ({ source, reference }) => (
        <>
          {source}
          <span className="second">{reference}</span>
        </>
      ),
    },
    { head: 'Actions', needs: 'delete_past_commission', cell: (row) => <Actions of={row} /> },
  ];
  return (
    <>
      <PageHead
        title="Past commissions"
        hint="What creators were paid with another tool, as a record. Balances, statements and figures do not count it."
      >
        <Download id="list_past_commissions" query={query} name="past-commissions.csv" />
        <IfMay needs="create_import">
          <Link className="button" to="/imports/new" search={{ of: 'commissions' }}>
            Import a file
          </Link>
        </IfMay>
      </PageHead>
      <Filters of={[CREATOR_FILTER]} />
      <Table
        caption="Past commissions"
        noun="past commission"
        list={list}
        columns={columns}
        empty={<Empty title="No past commissions">Import them from a CSV file of the tool that you used before.</Empty>}
        foot={
          <Totals
            label="Totals of these past commissions"
            noun="past commission"
            of={totals.data?.totals}
            sums={[['amount', 'Paid']]}
          />
        }
      />
    </>
  );
}
