import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useChange, useRows } from '../call/use.ts';
import { everyOf } from '../kit/every.ts';
import { CREATOR_FILTER, choiceOf, Filters, stateFilter, useFilters } from '../kit/filters.tsx';
import { FormDialog } from '../kit/form.tsx';
import { day, words } from '../kit/format.ts';
import { Badge, Button, Empty, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { Review } from './deliverable-review.tsx';

const STATES = everyOf<Row<'list_deliverables'>['status']>()([
  'pending',
  'in_progress',
  'submitted',
  'approved',
  'revision_requested',
  'declined',
  'cancelled',
]);
type Deliverable = Row<'list_deliverables'>;

export function Deliverables() {
  const { get } = useFilters();
  const list = useRows('list_deliverables', {
    status: choiceOf(get('status'), STATES),
    creator_email: get('creator_email'),
  });
  const create = useChange('create_deliverable', ['list_deliverables']);
  const [isAdding, setAdding] = useState(false);
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
    { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
    { head: 'Due', cell: ({ due_date }) => day(due_date), isWide: true },
    { head: 'Submitted', cell: ({ submitted_at }) => day(submitted_at), isWide: true },
  ];
  return (
    <>
      <PageHead title="Deliverables" hint="What creators owe you and what they sent.">
        <Button needs="create_deliverable" kind="primary" onPress={() => setAdding(true)}>
          Request a deliverable
        </Button>
      </PageHead>
      <Filters of={[stateFilter(STATES), CREATOR_FILTER]} />
      <Table
        caption="Deliverables"
        list={list}
        columns={columns}
        empty={<Empty title="No deliverables here">Signed contracts create them, or you request one.</Empty>}
      />
      <FormDialog
        title="Request a deliverable"
        hint="For work outside a contract. The creator is mailed a page to submit it on."
        isOpen={isAdding}
        onClose={() => setAdding(false)}
        action="Request"
        fields={[
          { name: 'creator_email', label: 'Creator’s e-mail', kind: 'email', isRequired: true },
          { name: 'type', label: 'Content type', isRequired: true, hint: 'For example, “reel”.' },
          { name: 'instructions', label: 'Instructions', kind: 'textarea' },
          { name: 'due_date', label: 'Due date', kind: 'date' },
        ]}
        onSubmit={async (values) => {
          await create.mutateAsync({
            body: {
              creator_email: values.text('creator_email'),
              type: values.text('type'),
              instructions: values.orNull('instructions'),
              due_date: values.orNull('due_date'),
            },
          });
          setAdding(false);
        }}
      />
      <Review id={shown} onClose={() => setShown(undefined)} />
    </>
  );
}
