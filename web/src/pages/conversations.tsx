import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useMay } from '../call/may.ts';
import { useChange, useRows } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { CREATOR_FILTER, Filters, useFilters } from '../kit/filters.tsx';
import { FormDialog } from '../kit/form.tsx';
import { ago, number } from '../kit/format.ts';
import { Button, Empty, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { Messages } from './messages.tsx';

const REFETCH_MS = 10_000;
type Conversation = Row<'list_conversations'>;

/** Opening it marks it as read. */
function Thread({ conversation, onClose }: { conversation: Conversation | undefined; onClose: () => void }) {
  return (
    <Dialog
      title={conversation?.creator_name ?? conversation?.creator_email ?? 'Conversation'}
      isOpen={conversation !== undefined}
      onClose={onClose}
      isSide
    >
      {conversation && <Messages key={conversation.conversation_id} id={conversation.conversation_id} />}
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
  const read = useChange('read_conversation', ['list_conversations']);
  const [shown, setShown] = useState<Conversation>();
  const may = useMay();
  const [isWriting, setWriting] = useState(false);
  function open(conversation: Conversation) {
    setShown(conversation);
    if (conversation.unread_count > 0 && may('read_conversation'))
      read.mutate({ params: { conversationId: conversation.conversation_id }, body: {} });
  }
  const columns: readonly Column<Conversation>[] = [
    {
      head: 'Creator',
      cell: (row) => (
        <Opener onOpen={() => open(row)} second={row.last_message.body}>
          {row.creator_name ?? row.creator_email ?? 'A creator'}
        </Opener>
      ),
    },
    {
      head: 'Unread',
      cell: ({ unread_count }) => (unread_count > 0 ? <span className="badge wait">{number(unread_count)}</span> : '–'),
      isNumber: true,
    },
    { head: 'Last message', cell: ({ last_message }) => ago(last_message.sent_at), isWide: true },
  ];
  return (
    <>
      <PageHead title="Conversations" hint="Messages between you and creators.">
        <Button needs="send_message" kind="primary" onPress={() => setWriting(true)}>
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
        isOpen={isWriting}
        onClose={() => setWriting(false)}
        action="Send"
        fields={[
          { name: 'creator_email', label: 'Creator’s e-mail', kind: 'email', isRequired: true },
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
          await send.mutateAsync({
            body: {
              creator_email: values.text('creator_email'),
              subject: values.orNull('subject'),
              body: values.text('body'),
              send_email: values.isChecked('send_email'),
            },
          });
          setWriting(false);
        }}
      />
      <Thread conversation={shown} onClose={() => setShown(undefined)} />
    </>
  );
}
