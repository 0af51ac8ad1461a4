import { useEffect } from 'react';
import type { Row } from '../call/call.ts';
import { useMay } from '../call/may.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { CREATOR_FILTER, Filters, useFilters } from '../kit/filters.tsx';
import { creatorField, FormDialog } from '../kit/form.tsx';
import { number } from '../kit/format.ts';
import { useDialog, useOpened } from '../kit/opened.ts';
import { Button, Empty, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { CreatorLink } from './item-links.tsx';
import { Messages } from './messages.tsx';

const REFETCH_MS = 10_000;
type Conversation = Row<'list_conversations'>;

/** Opening it marks it as read. */
function Thread({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const { data } = useCall(
    'get_conversation',
    { params: { conversationId: id ?? '' }, query: { limit: 1 } },
    { enabled: id !== undefined },
  );
  const thread = data?.data.conversation_id === id ? data?.data : undefined;
  const { mutate } = useChange('read_conversation', ['list_conversations']);
  const mayRead = useMay()('read_conversation');
  const isUnread = (thread?.unread_count ?? 0) > 0;
  useEffect(() => {
    if (id !== undefined && isUnread && mayRead) mutate({ params: { conversationId: id }, body: {} });
  }, [id, isUnread, mayRead, mutate]);
  return (
    <Dialog
      title={thread?.creator_name ?? thread?.creator_email ?? 'Conversation'}
      hint={
        thread?.creator_email && (
          <CreatorLink id={thread.creator_email}>Contracts, content and payouts of this creator</CreatorLink>
        )
      }
      isOpen={id !== undefined}
      onClose={onClose}
      isSide
    >
      {id !== undefined && <Messages key={id} id={id} />}
    </Dialog>
  );
}

export function Conversations() {
  const { get } = useFilters();
  const isUnread = get('unread');
  const list = useRows(
    'list_conversations',
    { creator_email: get('creator_email'), ...(isUnread ? { unread: isUnread === 'true' } : {}) },
    { refetchMs: REFETCH_MS },
  );
  const send = useChange('send_message', ['list_conversations']);
  const opened = useOpened();
  const making = useDialog('create');
  const columns: readonly Column<Conversation>[] = [
    {
      head: 'Creator',
      cell: (row) => (
        <Opener
          of={row}
          onOpen={() => opened.open(row.conversation_id)}
          second={row.unread_count > 0 ? <strong>{row.last_message.body}</strong> : row.last_message.body}
        >
          {row.creator_name ?? row.creator_email ?? 'A creator'}
        </Opener>
      ),
    },
    {
      head: 'Unread',
      cell: ({ unread_count }) => (unread_count > 0 ? <span className="badge wait">{number(unread_count)}</span> : '–'),
      isNumber: true,
    },
    { head: 'Last message', cell: ({ last_message }) => <Ago at={last_message.sent_at} />, isWide: true },
  ];
  return (
    <>
      <PageHead title="Conversations" hint="Messages between you and creators.">
        <Button needs="send_message" kind="primary" onPress={making.open}>
          Write to a creator
        </Button>
      </PageHead>
      <Filters
        of={[
          {
            name: 'unread',
            label: 'Status',
            kind: 'select',
            options: [
              ['true', 'Unread'],
              ['false', 'Read'],
            ],
          },
          CREATOR_FILTER,
        ]}
      />
      <Table
        caption="Conversations"
        list={list}
        keyOf={({ conversation_id }) => conversation_id}
        columns={columns}
        empty={<Empty title="No conversations here">Write to a creator on your roster.</Empty>}
      />
      <FormDialog
        title="Write to a creator"
        isOpen={making.isOpen}
        onClose={making.close}
        action="Send"
        fields={[
          creatorField(get('creator_email')),
          { name: 'subject', label: 'Subject' },
          {
            name: 'body',
            label: 'Message',
            kind: 'textarea',
            isRequired: true,
            hint: 'Do not include e-mail addresses or phone numbers.',
          },
          { name: 'send_email', label: 'Also send by e-mail', kind: 'checkbox', value: true },
        ]}
        onSubmit={async (values) => {
          const { data } = await send.mutateAsync({
            body: {
              creator_email: values.text('creator_email'),
              subject: values.orNull('subject'),
              body: values.text('body'),
              send_email: values.isChecked('send_email'),
            },
          });
          opened.open(data.conversation_id);
        }}
      />
      <Thread id={opened.id} onClose={opened.close} />
    </>
  );
}
