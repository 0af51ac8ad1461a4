import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { type Answer, call, type Row } from '../call/call.ts';
import { useMay } from '../call/may.ts';
import { useChange, useRows } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { CREATOR_FILTER, Filters, useFilters } from '../kit/filters.tsx';
import { Form, FormDialog } from '../kit/form.tsx';
import { ago, number, time } from '../kit/format.ts';
import { Button, Empty, Failure, IfMay, Loading, PageHead } from '../kit/parts.tsx';
import { type Column, Opener, Table } from '../kit/table.tsx';

const REFETCH_MS = 10_000;
/** Messages of a thread. */
const AT_ONCE = 50;
type Conversation = Row<'list_conversations'>;

/** The newest messages, the oldest of them first, and above them those before, when they are asked for. */
function useThread(id: string) {
  const found = useInfiniteQuery({
    queryKey: ['get_conversation', id],
    initialPageParam: undefined,
    queryFn: ({ pageParam }: { pageParam: string | undefined }) =>
      call('get_conversation', {
        params: { conversationId: id },
        query: { limit: AT_ONCE, ...(pageParam === undefined ? {} : { before: pageParam }) },
      }),
    getNextPageParam: ({ data }: Answer<'get_conversation'>) => (data.has_more ? data.messages[0]?.id : undefined),
    refetchInterval: REFETCH_MS,
  });
  const pages = found.data?.pages ?? [];
  return { ...found, thread: pages[0]?.data, messages: pages.toReversed().flatMap(({ data }) => data.messages) };
}

function Messages({ id }: { id: string }) {
  const { thread, messages, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useThread(id);
  const send = useChange('send_message', ['get_conversation', 'list_conversations']);
  const end = useRef<HTMLDivElement>(null);
  const newest = messages.at(-1)?.id;
  useEffect(() => {
    if (newest !== undefined) end.current?.scrollIntoView({ block: 'end' });
  }, [newest]);
  if (error && !thread) return <Failure error={error} again={() => void refetch()} />;
  if (!thread) return <Loading />;
  return (
    <>
      {hasNextPage && (
        <Button isBusy={isFetchingNextPage} onPress={() => void fetchNextPage()}>
          Earlier messages, {number(thread.message_count - messages.length)} more
        </Button>
      )}
      <ol className="thread" aria-label="Messages">
        {messages.map(({ id: message, subject, body, sender, sent_at }) => (
          <li key={message} className={`bubble ${sender}`}>
            {subject && <strong>{subject}</strong>}
            <p>{body}</p>
            <span className="small muted">
              {sender === 'brand' ? 'You' : (thread.creator_name ?? 'The creator')}, {time(sent_at)}
            </span>
          </li>
        ))}
      </ol>
      <IfMay needs="send_message">
        <Form
          action="Send"
          isEmptied
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
      </IfMay>
      <div ref={end} />
    </>
  );
}

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
    { head: 'Last', cell: ({ last_message }) => ago(last_message.sent_at), isWide: true },
  ];
  return (
    <>
      <PageHead title="Conversations" hint="What you and creators write to each other.">
        <Button needs="send_message" kind="primary" onPress={() => setWriting(true)}>
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
