import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Detail } from '../kit/detail.tsx';
import { Confirm } from '../kit/dialog.tsx';
import { Editor } from '../kit/editor.tsx';
import { everyOf } from '../kit/every.ts';
import { CREATOR_FILTER, choiceOf, Filters, stateFilter, useFilters } from '../kit/filters.tsx';
import { FormDialog } from '../kit/form.tsx';
import { day, time, words } from '../kit/format.ts';
import { Badge, Button, Empty, Facts, Failure, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, PlainTable, Table } from '../kit/table.tsx';
import { useSay } from '../kit/toast.tsx';
import { EditBrief } from './brief-edit.tsx';

const STATES = everyOf<Row<'list_briefs'>['status']>()(['draft', 'sent', 'in_progress', 'completed']);
type Brief = Row<'list_briefs'>;

function Opened({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const found = useCall('get_brief', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const send = useChange('send_brief', ['list_briefs', 'get_brief']);
  const remove = useChange('delete_brief', ['list_briefs']);
  const complete = useChange('update_brief', ['list_briefs', 'get_brief']);
  const say = useSay();
  const completeIt = () =>
    complete.mutateAsync({ params: { id: id ?? '' }, body: { status: 'completed' } }).then(onClose, () => undefined);
  const sendIt = () =>
    send.mutateAsync({ params: { id: id ?? '' }, body: { action: 'send' } }).then(
      () => say('The brief is being sent.'),
      () => undefined,
    );
  return (
    <Detail id={id} onClose={onClose} found={found} title={(brief) => brief?.title ?? 'Brief'}>
      {(brief) => (
        <>
          <Facts
            of={[
              ['Status', <Badge key="state" state={brief.status} />],
              ['Creator', brief.creator_name ?? brief.creator_email],
              ['Content', words(brief.content_type)],
              ['Platform', words(brief.platform)],
              ['Due', day(brief.due_date)],
              ['Instructions', brief.instructions],
              ['Talking points', brief.talking_points.join('\n')],
              ['What to avoid', brief.do_not.join('\n')],
              ['Mood board', brief.mood_board_urls.join('\n')],
            ]}
          />
          {brief.recipients.length > 0 && (
            <PlainTable
              caption="Recipients"
              rows={brief.recipients}
              keyOf={({ email }) => email}
              columns={[
                { head: 'Sent to', cell: ({ email }) => email },
                { head: 'Seen', cell: ({ viewed_at }) => (viewed_at ? time(viewed_at) : 'Not yet') },
              ]}
            />
          )}
          {send.error && <Failure error={send.error} />}
          {complete.error && <Failure error={complete.error} />}
          <div className="row">
            {brief.status !== 'completed' && (
              <Button needs="send_brief" kind="primary" isBusy={send.isPending} onPress={() => void sendIt()}>
                {brief.status === 'draft' ? 'Send' : 'Send again'}
              </Button>
            )}
            <Editor item={brief} needs="update_brief">
              {(editing) => <EditBrief {...editing} />}
            </Editor>
            {brief.status === 'draft' && (
              <Confirm
                needs="delete_brief"
                label="Delete"
                title={`Delete ${brief.title}?`}
                action="Delete"
                onConfirm={async () => {
                  await remove.mutateAsync({ params: { id: brief.id } });
                  onClose();
                }}
              >
                <p>Its page will stop working.</p>
              </Confirm>
            )}
            {['sent', 'in_progress'].includes(brief.status) && (
              <Button needs="update_brief" isBusy={complete.isPending} onPress={() => void completeIt()}>
                Mark as completed
              </Button>
            )}
          </div>
        </>
      )}
    </Detail>
  );
}

export function Briefs() {
  const { get } = useFilters();
  const list = useRows('list_briefs', { status: choiceOf(get('status'), STATES), creator_email: get('creator_email') });
  const create = useChange('create_brief', ['list_briefs']);
  const [isMaking, setMaking] = useState(false);
  const [shown, setShown] = useState<string>();
  const columns: readonly Column<Brief>[] = [
    {
      head: 'Brief',
      cell: ({ id, title, creator_name, creator_email }) => (
        <Opener onOpen={() => setShown(id)} second={creator_name ?? creator_email}>
          {title}
        </Opener>
      ),
    },
    { head: 'Status', cell: ({ status }) => <Badge state={status} /> },
    { head: 'Due', cell: ({ due_date }) => day(due_date), isWide: true },
    { head: 'Sent', cell: ({ sent_at }) => day(sent_at), isWide: true },
  ];
  return (
    <>
      <PageHead title="Briefs" hint="Instructions for creators. Each brief has its own page.">
        <Button needs="create_brief" kind="primary" onPress={() => setMaking(true)}>
          Write a brief
        </Button>
      </PageHead>
      <Filters of={[stateFilter(STATES), CREATOR_FILTER]} />
      <Table
        caption="Briefs"
        list={list}
        columns={columns}
        empty={<Empty title="No briefs here">Write one, and send it to a creator.</Empty>}
      />
      <FormDialog
        title="Write a brief"
        isOpen={isMaking}
        onClose={() => setMaking(false)}
        action="Save draft"
        fields={[
          { name: 'title', label: 'Title', isRequired: true },
          { name: 'creator_email', label: 'Creator’s e-mail', kind: 'email' },
          { name: 'content_type', label: 'Content type', hint: 'For example, “reel”.' },
          { name: 'instructions', label: 'Instructions', kind: 'textarea' },
          { name: 'talking_points', label: 'Talking points', kind: 'textarea', hint: 'One per line.' },
          { name: 'do_not', label: 'What to avoid', kind: 'textarea', hint: 'One per line.' },
          { name: 'due_date', label: 'Due date', kind: 'date' },
          { name: 'send_notification', label: 'Mail it to the creator now', kind: 'checkbox' },
        ]}
        onSubmit={async (values) => {
          await create.mutateAsync({
            body: {
              title: values.text('title'),
              creator_email: values.orNull('creator_email'),
              content_type: values.orNull('content_type'),
              instructions: values.orNull('instructions'),
              talking_points: values.lines('talking_points'),
              do_not: values.lines('do_not'),
              due_date: values.orNull('due_date'),
              send_notification: values.isChecked('send_notification'),
            },
          });
          setMaking(false);
        }}
      />
      <Opened id={shown} onClose={() => setShown(undefined)} />
    </>
  );
}
