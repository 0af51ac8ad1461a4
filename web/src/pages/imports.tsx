import { Link } from '@tanstack/react-router';
import type { Row } from '../call/call.ts';
import { useRows } from '../call/use.ts';
import { useFilters, waitingSortIn } from '../kit/filters.tsx';
import { day, number, words } from '../kit/format.ts';
import { Badge, Empty, IfMay, PageHead } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';

type ImportRow = Row<'list_imports'>;

/** What a file may have, in words. */
export const KINDS = [
  ['orders', 'Past orders'],
  ['commissions', 'Commissions paid elsewhere'],
  ['roster', 'Creators'],
  ['payouts', 'Payments that were made'],
  ['payment_details', 'Where creators are paid'],
  ['reconciliation', 'Orders of a store, to compare'],
] as const;
export type ImportKind = (typeof KINDS)[number][0];

export const kindName = (kind: string): string => new Map<string, string>(KINDS).get(kind) ?? words(kind);

const COLUMNS: readonly Column<ImportRow>[] = [
  {
    head: 'File',
    cell: ({ id, file, of }) => (
      <>
        <Link to="/imports/$id" params={{ id }} search={{}}>
          {file.name}
        </Link>
        <span className="second">{kindName(of)}</span>
      </>
    ),
  },
  { head: 'From', cell: ({ source }) => source, isWide: true },
  { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
  { head: 'Recorded', cell: ({ result }) => number(result?.written), isNumber: true, isWide: true },
  { head: 'Uploaded', cell: ({ created_at }) => day(created_at), isOrder: true, isWide: true },
  {
    head: 'Actions',
    needs: 'create_import',
    cell: ({ id, status }) =>
      (status === 'needs_answers' || status === 'ready') && (
        <span className="row">
          <Link className="button plain" to="/imports/$id" params={{ id }} search={{}}>
            Continue
          </Link>
        </span>
      ),
  },
];

/** Files of other tools that the brand sent. */
export function Imports() {
  const { get } = useFilters();
  const list = useRows('list_imports', { sort: waitingSortIn(get) });
  return (
    <>
      <PageHead title="Imports" hint="Bring in data from other tools. You review it before anything is recorded.">
        <IfMay needs="create_import">
          <Link className="button primary" to="/imports/new" search={{}}>
            Import a file
          </Link>
        </IfMay>
      </PageHead>
      <Table
        caption="Imports"
        noun="import"
        list={list}
        columns={COLUMNS}
        empty={
          <Empty title="No file was imported">Past orders, creators and payments can come from your own files.</Empty>
        }
      />
    </>
  );
}
