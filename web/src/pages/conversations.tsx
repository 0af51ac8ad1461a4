import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import type { Row } from '../call/call.ts';
import { useMay } from '../call/may.ts';
import { type Rows, useCall, useChange, useFirst, useRows } from '../call/use.ts';
import { CreatorFace } from '../kit/creator-face.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { CREATOR_FILTER, Filters, useFilters } from '../kit/filters.tsx';
import { counted, number } from '../kit/format.ts';
import { useDialog, useOpened } from '../kit/opened.ts';
import { OperationDialog } from '../kit/operation-form.tsx';
import { Button, Empty, PageHead } from '../kit/parts.tsx';
import { Scroller } from '../kit/scroller.ts';
import { type Column, Opener, Table } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { useIsWide } from '../kit/wide.ts';
import { CampaignName, CreatorLink } from './item-links.tsx';
import { BY_MAIL, MESSAGE_FIELD, Messages } from './messages.tsx';

const REFETCH_MS = 10_000;
type Conversation = Row<'list_conversations'>;

const getCreatorName = (of: Pick<Conversation, 'creator_name' | 'creator_email'> | undefined, otherwise: string) =>
  of?.creator_name ?? of?.creator_email ?? otherwise;

/** Reads a conversation's creator and state, and marks an opened one as read. */
function useThread(id: string | undefined, isOpened: boolean) {
  const { data } = useCall(
    'get_conversation',
    { params: { conversationId: id ?? '' }, query: { limit: 1 } },
    { enabled: id !== undefined },
  );
  const thread = data?.data.conversation_id === id ? data?.data : undefined;
  const { mutate } = useChange('read_conversation', ['list_conversations']);
  const mayRead = useMay()('read_conversation');
  const isUnread = isOpened && (thread?.unread_count ?? 0) > 0;
  useEffect(() => {
    if (id !== undefined && isUnread && mayRead) mutate({ params: { conversationId: id }, body: {} });
  }, [id, isUnread, mayRead, mutate]);
  return thread;
}

/** Leads from a conversation to its creator, and to what is agreed with them: the newest contract and all deliverables. */
function ThreadLinks({ email }: { email: string }) {
  const of = { creator_email: email };
  const [contract] = useFirst('list_contracts', of, { limit: 1 }).data?.data ?? [];
  const deliverables = useFirst('list_deliverables', of, { limit: 1 }).data?.pagination.total ?? 0;
  return (
    <span className="thread-links">
      <CreatorLink id={email}>Open profile</CreatorLink>
      {contract && (
        <Link to="/contracts" search={{ open: contract.id }}>
          {contract.title}
        </Link>
      )}
      {contract?.campaign_id && <CampaignName id={contract.campaign_id} />}
      {deliverables > 0 && (
        <Link to="/deliverables" search={of}>
          {counted(deliverables, 'deliverable')}
        </Link>
      )}
    </span>
  );
}

/** On a small screen a conversation covers the list. */
function ThreadPanel({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const thread = useThread(id, true);
  return (
    <Dialog
      title={getCreatorName(thread, 'Conversation')}
      hint={thread?.creator_email && <ThreadLinks email={thread.creator_email} />}
      isOpen={id !== undefined}
      onClose={onClose}
      isSide
    >
      {id !== undefined && <Messages key={id} id={id} />}
    </Dialog>
  );
}

interface PaneProps {
  className: string;
  /** The keyboard can scroll a pane with a name, whatever is rendered of it. */
  label?: string;
  children: ReactNode;
}

/** A part of the page that scrolls on its own. */
function Pane({ className, label, children }: PaneProps) {
  const [pane, setPane] = useState<Element | null>(null);
  const region = label === undefined ? {} : { tabIndex: 0, role: 'region', 'aria-label': label };
  return (
    <div className={className} ref={setPane} {...region}>
      {pane && <Scroller value={pane}>{children}</Scroller>}
    </div>
  );
}

/** On a large screen a conversation is beside the list: the newest until one is opened. */
function ThreadBeside({ id, isOpened }: { id: string; isOpened: boolean }) {
  const thread = useThread(id, isOpened);
  const name = getCreatorName(thread, 'Conversation');
  return (
    <section className="thread-beside" aria-label={`Conversation with ${name}`}>
      <header className="person">
        <CreatorFace name={name} email={thread?.creator_email ?? null} />
        <div>
          <h2>{name}</h2>
          {thread?.creator_email && <ThreadLinks email={thread.creator_email} />}
        </div>
      </header>
      <Pane key={id} className="thread-pane">
        <Messages id={id} />
      </Pane>
    </section>
  );
}

const EMPTY = <Empty title="No conversations yet">Write a message to a creator on your roster.</Empty>;

/** The beginning of the newest message. It is bold until it is read. */
function Newest({ of: { last_message, unread_count } }: { of: Conversation }) {
  if (unread_count > 0) return <strong>{last_message.body}</strong>;
  return `${last_message.sender === 'brand' ? 'You: ' : ''}${last_message.body}`;
}

interface ListProps {
  list: Rows<Conversation>;
  onOpen: (id: string) => void;
  /** The one that is shown beside the list. */
  shown?: string | undefined;
}

function List({ list, onOpen, shown }: ListProps) {
  const columns: readonly Column<Conversation>[] = [
    {
      head: 'Creator',
      cell: (row) => (
        <div className="talk">
          <Opener
            of={row}
            onOpen={() => onOpen(row.conversation_id)}
            second={<Newest of={row} />}
            isCurrent={row.conversation_id === shown}
          >
            {getCreatorName(row, 'A creator')}
          </Opener>
          <span className="talk-when">
            {row.unread_count > 0 && (
              <span className="badge new">
                {number(row.unread_count)}
                <span className="sr-only"> unread</span>
              </span>
            )}
            <Ago at={row.last_message.sent_at} />
          </span>
        </div>
      ),
    },
  ];
  const getKey = ({ conversation_id }: Conversation) => conversation_id;
  return (
    <div className="talks">
      <Table caption="Conversations" noun="conversation" list={list} getKey={getKey} columns={columns} empty={EMPTY} />
    </div>
  );
}

/** The conversation that was newest when the list was first shown. It stays open when another becomes newer, so that a reply is not lost. */
function useFirstShown(list: Rows<Conversation>): string | undefined {
  const of = JSON.stringify(list.query);
  const newest = list.at(0)?.conversation_id;
  const [first, setFirst] = useState({ of, id: newest });
  const isOther = first.of !== of || (first.id === undefined && newest !== undefined);
  if (isOther && !list.isOld) setFirst({ of, id: newest });
  return first.id;
}

interface InboxProps extends Omit<ListProps, 'shown'> {
  openId: string | undefined;
}

function Inbox({ openId, ...props }: InboxProps) {
  const { list } = props;
  const first = useFirstShown(list);
  const shownId = openId ?? first;
  if (list.total === 0 && shownId === undefined) return EMPTY;
  return (
    <div className="inbox">
      <Pane className="inbox-list" label="All conversations">
        <List {...props} shown={shownId} />
      </Pane>
      {shownId !== undefined && <ThreadBeside id={shownId} isOpened={openId !== undefined} />}
    </div>
  );
}

export function Conversations() {
  const { get } = useFilters();
  const [isUnread, isReplied] = [get('unread'), get('answered')];
  const list = useRows(
    'list_conversations',
    {
      creator_email: get('creator_email'),
      unread: isUnread === undefined ? undefined : isUnread === 'true',
      answered: isReplied === undefined ? undefined : isReplied === 'true',
    },
    { refetchMs: REFETCH_MS },
  );
  const panel = useOpened();
  const shared = { list, onOpen: panel.open };
  const making = useDialog('create');
  const isWide = useIsWide();
  return (
    <>
      <PageHead title="Conversations" hint="Messages between you and creators.">
        <Button needs="send_message" kind="primary" onPress={making.open}>
          Write a message
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
          {
            name: 'answered',
            label: 'Next step',
            kind: 'select',
            options: [
              ['false', 'Reply'],
              ['true', 'Wait for a reply'],
            ],
          },
          CREATOR_FILTER,
        ]}
      />
      {isWide ? <Inbox {...shared} openId={panel.id} /> : <List {...shared} />}
      <OperationDialog
        operation="send_message"
        title="Write a message"
        isOpen={making.isOpen}
        onClose={making.close}
        action="Send"
        start={{ creator_email: get('creator_email'), send_email: true }}
        fields={['creator_email', 'subject', { ...MESSAGE_FIELD, label: 'Message' }, BY_MAIL]}
        shown={['list_conversations']}
        onDone={({ data }) => panel.open(data.conversation_id)}
      />
      {!isWide && <ThreadPanel id={panel.id} onClose={panel.close} />}
    </>
  );
}
