import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useChange, useRows } from '../call/use.ts';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { everyOf } from '../kit/every.ts';
import { CREATOR_FILTER, choiceOf, Filters, stateFilter, useFilters } from '../kit/filters.tsx';
import { Form } from '../kit/form.tsx';
import { day, time } from '../kit/format.ts';
import { Badge, Empty, Facts, IfMay, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';

const STATES = everyOf<Row<'list_disputes'>['status']>()(['open', 'answered', 'closed']);
type Dispute = Row<'list_disputes'>;

function Detail({ dispute, onClose }: { dispute: Dispute | undefined; onClose: () => void }) {
  const update = useChange('update_dispute', ['list_disputes']);
  return (
    <Dialog
      title={dispute?.creator_name ?? dispute?.creator_email ?? 'Dispute'}
      isOpen={dispute !== undefined}
      onClose={onClose}
      isSide
    >
      {dispute && (
        <>
          <Facts
            of={[
              ['Status', <Badge key="state" state={dispute.status} />],
              ['Message', dispute.message],
              ['Order', dispute.order_id],
              ['Line', dispute.line_id],
              ['Opened', time(dispute.created_at)],
              ['Answered', dispute.answer],
            ]}
          />
          {dispute.status !== 'closed' && (
            <IfMay needs="update_dispute">
              <Form
                action="Answer"
                fields={[
                  {
                    name: 'answer',
                    label: 'Your answer',
                    kind: 'textarea',
                    isRequired: true,
                    hint: 'It is mailed to the creator.',
                  },
                ]}
                onSubmit={async (values) => {
                  await update.mutateAsync({
                    params: { id: dispute.id },
                    body: { answer: values.text('answer'), status: 'answered' },
                  });
                  onClose();
                }}
              />
              <Confirm
                label="Close"
                title="Close this dispute?"
                action="Close it"
                isDanger={false}
                onConfirm={async () => {
                  await update.mutateAsync({ params: { id: dispute.id }, body: { status: 'closed' } });
                  onClose();
                }}
              >
                <p>Close it once you and the creator agree.</p>
              </Confirm>
            </IfMay>
          )}
        </>
      )}
    </Dialog>
  );
}

export function Disputes() {
  const { get } = useFilters();
  const list = useRows('list_disputes', {
    status: choiceOf(get('status'), STATES),
    creator_email: get('creator_email'),
  });
  const [shown, setShown] = useState<Dispute>();
  const columns: readonly Column<Dispute>[] = [
    {
      head: 'Creator',
      cell: (row) => (
        <Opener onOpen={() => setShown(row)} second={row.message}>
          {row.creator_name ?? row.creator_email ?? 'A creator'}
        </Opener>
      ),
    },
    { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
    { head: 'Opened', cell: ({ created_at }) => day(created_at), isWide: true },
  ];
  return (
    <>
      <PageHead title="Disputes" hint="Statement lines that creators have disputed." />
      <Filters of={[stateFilter(STATES), CREATOR_FILTER]} />
      <Table
        caption="Disputes"
        list={list}
        columns={columns}
        empty={<Empty title="No disputes">Creators open one from their statement.</Empty>}
      />
      <Detail dispute={shown} onClose={() => setShown(undefined)} />
    </>
  );
}
