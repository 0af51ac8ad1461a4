import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useRows } from '../call/use.ts';
import { CREATOR_FILTER, choiceOf, Filters, stateFilter, useFilters } from '../kit/filters.tsx';
import { day, words } from '../kit/format.ts';
import { Badge, Empty, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { Review } from './deliverable-review.tsx';

const STATES = [
  'pending',
  'in_progress',
  'submitted',
  'approved',
  'revision_requested',
  'declined',
  'cancelled',
] as const;
type Deliverable = Row<'list_deliverables'>;

export function Deliverables() {
  const { get } = useFilters();
  const list = useRows('list_deliverables', {
    status: choiceOf(get('status'), STATES),
    creator_email: get('creator_email'),
  });
  const [shown, setShown] = useState<string>();
  const columns: readonly Column<Deliverable>[] = [
    {
      head: 'Deliverable',
      cell: ({ id, type, creator_name, creator_email }) => (
        <Opener onOpen={() => setShown(id)} second={creator_name ?? creator_email}>
          {words(type)}
        </Opener>
      ),
    },
    { head: 'State', cell: ({ status }) => <Badge state={status} /> },
    { head: 'Due', cell: ({ due_date }) => day(due_date), isWide: true },
    { head: 'Came', cell: ({ submitted_at }) => day(submitted_at), isWide: true },
  ];
  return (
    <>
      <PageHead title="Deliverables" hint="What creators owe you and what they sent." />
      <Filters of={[stateFilter(STATES), CREATOR_FILTER]} />
      <Table
        caption="Deliverables"
        list={list}
        columns={columns}
        empty={<Empty title="No deliverables here">They come from contracts, or are made one by one.</Empty>}
      />
      <Review id={shown} onClose={() => setShown(undefined)} />
    </>
  );
}
