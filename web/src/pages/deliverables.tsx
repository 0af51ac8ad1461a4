import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { choiceOf, Filters, useFilters } from '../kit/filters.tsx';
import { Form } from '../kit/form.tsx';
import { day, time, words } from '../kit/format.ts';
import { Badge, Button, Empty, Facts, Failure, Loading, PageHead } from '../kit/parts.tsx';
import { type Column, Table } from '../kit/table.tsx';

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

/** What was asked for beside what came, the newest first. */
function Review({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const { data, error } = useCall('get_deliverable', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const update = useChange('update_deliverable', ['list_deliverables', 'get_deliverable']);
  const one = data?.data;
  const approve = () =>
    update.mutateAsync({ params: { id: id ?? '' }, body: { status: 'approved' } }).then(onClose, () => undefined);
  return (
    <Dialog
      title={one ? `${words(one.type)} by ${one.creator_name ?? one.creator_email}` : 'Deliverable'}
      isOpen={id !== undefined}
      onClose={onClose}
      isSide
    >
      {error && <Failure error={error} />}
      {!one && !error && <Loading />}
      {one && one.id === id && (
        <>
          <Facts
            of={[
              ['State', <Badge key="state" state={one.status} />],
              ['Asked for', one.instructions],
              ['Due', day(one.due_date)],
              ['Platform', words(one.platform)],
            ]}
          />
          {one.submissions.map(({ version, content_url, caption, submitted_at, is_late, feedback }) => (
            <section key={version} className="card" aria-label={`Version ${version}`}>
              <Facts
                of={[
                  [`Version ${version}`, `${time(submitted_at)}${is_late ? ', late' : ''}`],
                  [
                    'Content',
                    content_url && (
                      <a key="content" href={content_url} target="_blank" rel="noreferrer">
                        {content_url}
                      </a>
                    ),
                  ],
                  ['Caption', caption],
                  ['Your feedback', feedback],
                ]}
              />
            </section>
          ))}
          {update.error && <Failure error={update.error} />}
          {one.status === 'submitted' && (
            <>
              <Button kind="primary" isBusy={update.isPending} onPress={() => void approve()}>
                Approve
              </Button>
              <Form
                action="Ask for another version"
                fields={[{ name: 'feedback', label: 'What should change', kind: 'textarea', isRequired: true }]}
                onSubmit={async (values) => {
                  await update.mutateAsync({
                    params: { id: one.id },
                    body: { status: 'revision_requested', feedback: values.text('feedback') },
                  });
                  onClose();
                }}
              />
            </>
          )}
        </>
      )}
    </Dialog>
  );
}

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
        <>
          <button type="button" className="link" onClick={() => setShown(id)}>
            {words(type)}
          </button>
          <span className="second">{creator_name ?? creator_email}</span>
        </>
      ),
    },
    { head: 'State', cell: ({ status }) => <Badge state={status} /> },
    { head: 'Due', cell: ({ due_date }) => day(due_date), isWide: true },
    { head: 'Came', cell: ({ submitted_at }) => day(submitted_at), isWide: true },
  ];
  return (
    <>
      <PageHead title="Deliverables" hint="What creators owe you and what they sent." />
      <Filters
        of={[
          { name: 'status', label: 'State', kind: 'select', options: STATES.map((state) => [state, words(state)]) },
          { name: 'creator_email', label: 'Creator’s e-mail', kind: 'text' },
        ]}
      />
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
