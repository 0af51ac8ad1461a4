import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useCall, useChange } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { CREATOR_FILTER, Filters, useFilters } from '../kit/filters.tsx';
import { Form, FormDialog } from '../kit/form.tsx';
import { ago, number, time } from '../kit/format.ts';
import { Button, Empty, Failure, Loading, PageHead } from '../kit/parts.tsx';
import { Opener, PlainTable } from '../kit/table.tsx';

const REFETCH_MS = 10_000;
type Conversation = Row<'list_conversations'>;

/** The whole thread, the oldest first, and what is said next. Opening it marks it as read. */
function Thread({ conversation, onClose }: { conversation: Conversation | undefined; onClose: () => void }) {
  const id = conversation?.conversation_id ?? '';
  const { data, error, refetch } = useCall(
    'get_conversation',
    { params: { conversationId: id } },
    { enabled: conversation !== undefined, refetchMs: REFETCH_MS },
  );
  const send = useChange('send_message', ['get_conversation', 'list_conversations']);
  const thread = data?.data;
  return (
    <Dialog
      title={conversation?.creator_name ?? conversation?.creator_email ?? 'Conversation'}
      isOpen={conversation !== undefined}
      onClose={onClose}
      isSide
    >
      {error && <Failure error={error} again={() => void refetch()} />}
      {!thread && !error && <Loading />}
      {thread && thread.conversation_id === id && (
        <>
          <ol className="thread" aria-label="Messages">
            {thread.messages.map(({ id: message, subject, body, sender, sent_at }) => (
              <li key={message} className={`bubble ${sender}`}>
                {subject && <strong>{subject}</strong>}
                <p>{body}</p>
                <span className="small muted">
                  {sender === 'brand' ? 'You' : (thread.creator_name ?? 'The creator')}, {time(sent_at)}
                </span>
              </li>
            ))}
          </ol>
          <Form
            key={thread.message_count}
            action="Send"
            fields={[
              {
                name: 'body',
                label: 'Your message',
                kind: 'textarea',
                isRequired: true,
                hint: 'No e-mail addresses or phone numbers.',
              },
              { name: 'send_email', label: 'Also by mail', kind: 'checkbox', value: true },
            ]}
            onSubmit={async (values) => {
              await send.mutateAsync({
                body: {
                  creator_email: thread.creator_email ?? '',
                  body: values.text('body'),
                  send_email: values.isChecked('send_email'),
                },
              });
            }}
          />
        </>
      )}
    </Dialog>
  );
}

export function Conversations() {
  const { get } = useFilters();
  const isUnread = get('unread');
  const { data, error, refetch } = useCall(
    'list_conversations',
    {
      query: { limit: 100, creator_email: get('creator_email'), ...(isUnread ? { unread: isUnread === 'true' } : {}) },
    },
    { refetchMs: REFETCH_MS },
  );
  const send = useChange('send_message', ['list_conversations']);
  const read = useChange('read_conversation', ['list_conversations']);
  const [shown, setShown] = useState<Conversation>();
  const [isWriting, setWriting] = useState(false);
  function open(conversation: Conversation) {
    setShown(conversation);
    if (conversation.unread_count > 0)
      read.mutate({ params: { conversationId: conversation.conversation_id }, body: {} });
  }
  return (
    <>
      <PageHead title="Conversations" hint="What you and creators write to each other.">
        <Button kind="primary" onPress={() => setWriting(true)}>
          Write to a creator
        </Button>
      </PageHead>
      <Filters
        of={[
          {
            name: 'unread',
            label: 'Shown',
            kind: 'select',
            options: [
              ['true', 'Unread'],
              ['false', 'Read'],
            ],
          },
          CREATOR_FILTER,
        ]}
      />
      {error && <Failure error={error} again={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data?.data.length === 0 && <Empty title="No conversations here">Write to a creator on your roster.</Empty>}
      {data && data.data.length > 0 && (
        <PlainTable
          caption="Conversations"
          rows={data.data}
          keyOf={({ conversation_id }) => conversation_id}
          columns={[
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
              cell: ({ unread_count }) =>
                unread_count > 0 ? <span className="badge wait">{number(unread_count)}</span> : '–',
              isNumber: true,
            },
            { head: 'Last', cell: ({ last_message }) => ago(last_message.sent_at), isWide: true },
          ]}
        />
      )}
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
            hint: 'No e-mail addresses or phone numbers.',
          },
          { name: 'send_email', label: 'Also by mail', kind: 'checkbox', value: true },
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
