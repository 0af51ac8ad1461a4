import { useRef, useState } from 'react';
import type { Answer, Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { CreatorFace } from '../kit/creator-face.tsx';
import { Detail } from '../kit/detail.tsx';
import { Confirm } from '../kit/dialog.tsx';
import { Editor } from '../kit/editor.tsx';
import { Form } from '../kit/form.tsx';
import { counted, day, number, words } from '../kit/format.ts';
import { Menu } from '../kit/menu.tsx';
import { useOpened } from '../kit/opened.ts';
import { Badge, Button, Facts, IfMay, OnPhone } from '../kit/parts.tsx';
import { platformName } from '../kit/platforms.ts';
import { type Column, Opener, PlainTable } from '../kit/table.tsx';
import { Ago, Due } from '../kit/time.tsx';
import { useSay } from '../kit/toast.tsx';
import { toOrderText, useWorkQuery, WorkPage } from '../kit/work.tsx';
import { CONTENT_FIELDS, EditBrief } from './brief-edit.tsx';
import { CampaignName, CreatorName } from './item-links.tsx';

const STATES = listChoices('list_briefs', 'status');
type Brief = Row<'list_briefs'>;
const SHOWN = ['list_briefs', 'get_brief'] as const;
type BriefDetail = Answer<'get_brief'>['data'];
const isOwed = (status: Brief['status']) => status === 'sent' || status === 'in_progress';

/** The creator, or how many received it. */
const whoText = ({ creator_name, creator_email, recipient_count: count }: Brief) =>
  count > 1 || (count === 1 && creator_email === null)
    ? counted(count, 'creator')
    : (creator_name ?? creator_email ?? 'Nobody yet');

const splitEmails = (text: unknown) => (typeof text === 'string' && text !== '' ? text.split(',') : []);

/** The share of its recipients who opened a brief. */
function Opens({ of: { recipient_count: all, viewed_count: viewed } }: { of: Brief }) {
  const text = `${number(viewed)} of ${number(all)} opened`;
  return (
    <div className="budget">
      <progress className="wide" aria-label={text} value={viewed} max={all} />
      <span className="second">{text}</span>
    </div>
  );
}

function Recipients({ of: brief }: { of: BriefDetail }) {
  const [only, ...others] = brief.recipients;
  if (others.length > 0) return counted(brief.recipients.length, 'creator');
  const email = only?.email ?? brief.creator_email;
  const name = email === brief.creator_email ? brief.creator_name : null;
  return email === null ? 'Nobody yet' : <CreatorName of={{ creator_name: name, creator_email: email }} />;
}

/** Sends a brief to several creators, and says who got it; those who have it are skipped. */
function useSendTo() {
  const send = useChange('send_brief', SHOWN);
  const say = useSay();
  return async (id: string, emails: readonly string[]) => {
    const body = { action: 'send' as const, recipients: emails.map((email) => ({ email })) };
    const { data } = await send.mutateAsync({ params: { id }, body });
    const recipients = 'recipients' in data ? data.recipients : [];
    const count = (of: 'sent' | 'skipped' | 'failed') => recipients.filter((one) => one.status === of).length;
    const parts = [
      `Sent to ${counted(count('sent'), 'creator')}`,
      count('skipped') > 0 && `${number(count('skipped'))} had it already`,
      count('failed') > 0 && `${number(count('failed'))} cannot be mailed`,
    ];
    say(`${parts.filter(Boolean).join('; ')}.`);
  };
}

/** Chooses creators in the panel itself; those who have the brief already are skipped. */
function SendTo({ of: { id, status, creator_email } }: { of: Brief }) {
  const sendTo = useSendTo();
  const isFirst = status === 'draft' && creator_email === null;
  const [isOpen, setOpen] = useState(isFirst);
  const [isEmpty, setEmpty] = useState(true);
  if (!isOpen) {
    return (
      <Button needs="send_brief" onPress={() => setOpen(true)}>
        Send to more creators
      </Button>
    );
  }
  return (
    <IfMay needs="send_brief">
      <Form
        fields={[
          {
            name: 'to',
            label: isFirst ? 'Send to' : 'Send to more creators',
            kind: 'creators',
            isRequired: true,
            hint: isEmpty ? 'Choose at least one creator; then it can be sent.' : undefined,
            onChosen: (emails) => setEmpty(emails.length === 0),
          },
        ]}
        action="Send"
        isBlocked={isEmpty}
        isEmptied
        onSubmit={(values) => sendTo(id, splitEmails(values.text('to')))}
        {...(isFirst ? {} : { onCancel: () => setOpen(false) })}
      />
    </IfMay>
  );
}

/** Everyone it was sent to, and who opened it. */
function SentTo({ of: { recipients } }: { of: BriefDetail }) {
  return (
    <PlainTable
      caption="Recipients"
      rows={recipients}
      getKey={({ email }) => email}
      columns={[
        {
          head: 'Sent to',
          cell: ({ email, sent_at }) => (
            <div className="person">
              <CreatorFace name={email} email={email} />
              <div>
                <CreatorName of={{ creator_email: email }} />
                <span className="second">{day(sent_at)}</span>
              </div>
            </div>
          ),
        },
        {
          head: 'Opened',
          cell: ({ viewed_at }) => (viewed_at ? <Ago at={viewed_at} /> : <Badge state="not_yet" />),
        },
      ]}
    />
  );
}

/** A draft has a page already, but nobody has its address. */
function Delete({ of: { id, title }, onDone }: { of: Brief; onDone: () => void }) {
  const remove = useChange('delete_brief', ['list_briefs']);
  return (
    <Menu label="More actions for the brief" needs="delete_brief">
      <Confirm
        needs="delete_brief"
        label="Delete"
        title={`Delete ${title}?`}
        action="Delete"
        onConfirm={async () => {
          await remove.mutateAsync({ params: { id } });
          onDone();
        }}
      >
        <p>Its page will stop working.</p>
      </Confirm>
    </Menu>
  );
}

/** Sends a draft to its creator. */
function Send({ of: { id, creator_name, creator_email }, isMain = false }: { of: Brief; isMain?: boolean }) {
  const send = useChange('send_brief', SHOWN);
  const say = useSay();
  const label = `Send to ${creator_name ?? creator_email}`;
  const sendIt = () =>
    send.mutateAsync({ params: { id }, body: { action: 'send' } }).then(
      () => say('The brief is being sent.'),
      ({ message }: Error) => say(message),
    );
  return (
    <Button
      needs="send_brief"
      kind={isMain ? 'primary' : 'plain'}
      isBusy={send.isPending}
      onPress={() => void sendIt()}
      label={label}
    >
      {isMain ? label : 'Send'}
    </Button>
  );
}

/** Nothing more is owed for it. */
function Complete({ of: { id, title }, onDone }: { of: Brief; onDone?: () => void }) {
  const complete = useChange('update_brief', SHOWN);
  const say = useSay();
  const completeIt = () =>
    complete.mutateAsync({ params: { id }, body: { status: 'completed' } }).then(
      () => onDone?.(),
      ({ message }: Error) => say(message),
    );
  return (
    <Button
      needs="update_brief"
      isBusy={complete.isPending}
      onPress={() => void completeIt()}
      {...(onDone ? {} : { label: `Complete ${title}` })}
    >
      {onDone ? 'Mark as completed' : 'Complete'}
    </Button>
  );
}

/** The next step of a row: a draft gets its creators or is sent, and what was sent is completed. */
function NextStep({ of: brief, onOpen }: { of: Brief; onOpen: () => void }) {
  if (isOwed(brief.status)) return <Complete of={brief} />;
  if (brief.status !== 'draft') return null;
  if (brief.creator_email !== null) return <Send of={brief} />;
  return (
    <Button needs="send_brief" onPress={onOpen} label={`Choose creators for ${brief.title}`}>
      Choose creators
    </Button>
  );
}

function Opened({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const query = useCall('get_brief', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  return (
    <Detail id={id} onClose={onClose} query={query} title={(brief) => brief?.title ?? 'Brief'}>
      {(brief) => (
        <>
          <div className="row">
            {brief.status === 'draft' && brief.creator_email !== null && <Send of={brief} isMain />}
            {isOwed(brief.status) && <Complete of={brief} onDone={onClose} />}
            <Editor item={brief} needs="update_brief">
              {(editing) => <EditBrief {...editing} />}
            </Editor>
            {brief.status === 'draft' && <Delete of={brief} onDone={onClose} />}
          </div>
          {brief.status === 'draft' && <SendTo key={brief.id} of={brief} />}
          {brief.recipients.length > 0 && <SentTo of={brief} />}
          {isOwed(brief.status) && <SendTo key={brief.id} of={brief} />}
          <Facts
            of={[
              ['Status', <Badge key="state" state={brief.status} />],
              ['To', <Recipients key="to" of={brief} />],
              ['Campaign', <CampaignName key="campaign" id={brief.campaign_id} />],
              ['Content', words(brief.content_type)],
              ['Platform', platformName(brief.platform)],
              ['Created', day(brief.created_at)],
              ['Due', brief.due_date && <Due key="due" at={brief.due_date} isDone={!isOwed(brief.status)} />],
              ['Opened', brief.recipients.length > 0 && <Opens key="opens" of={brief} />],
              ['Instructions', brief.instructions],
              ['Talking points', brief.talking_points.join('\n')],
              ['What to avoid', brief.do_not.join('\n')],
              ['Mood board', brief.mood_board_urls.join('\n')],
            ]}
          />
        </>
      )}
    </Detail>
  );
}

export function Briefs() {
  const query = useWorkQuery(STATES);
  const list = useRows('list_briefs', query);
  const panel = useOpened();
  const sendTo = useSendTo();
  const say = useSay();
  // A brief has one creator until it is sent, so several get it once it exists.
  const several = useRef<readonly string[]>([]);
  const columns: readonly Column<Brief>[] = [
    {
      head: 'Brief',
      cell: ({ id, title, due_date, status, ...brief }) => (
        <Opener
          onOpen={() => panel.open(id)}
          second={
            <>
              {whoText({ id, title, due_date, status, ...brief })}
              {due_date && (
                <span className="narrow">
                  Due <Due at={due_date} isDone={!isOwed(status)} />
                </span>
              )}
            </>
          }
        >
          <span className="brief-title">{title}</span>
        </Opener>
      ),
    },
    { head: 'Campaign', cell: ({ campaign_id }) => <CampaignName id={campaign_id} />, isWide: true },
    {
      head: 'Status',
      cell: (brief) => (
        <>
          <Badge state={brief.status} />
          <OnPhone>
            <NextStep of={brief} onOpen={() => panel.open(brief.id)} />
          </OnPhone>
        </>
      ),
    },
    { head: 'Opened', cell: (brief) => (brief.recipient_count > 0 ? <Opens of={brief} /> : '–'), chip: 'value' },
    { head: 'Due', cell: ({ due_date, status }) => <Due at={due_date} isDone={!isOwed(status)} />, isWide: true },
    {
      head: 'Actions',
      isWide: true,
      needs: 'send_brief',
      cell: (brief) => <NextStep of={brief} onOpen={() => panel.open(brief.id)} />,
    },
  ];
  return (
    <WorkPage
      title="Briefs"
      hint="Instructions for creators. Each brief has its own page."
      states={STATES}
      list={list}
      columns={columns}
      order={toOrderText(query.sort)}
      empty="Write one, and send it to a creator."
      create={{
        operation: 'create_brief',
        title: 'Write a brief',
        action: 'Save draft',
        actions: [['send_notification', 'Send']],
        start: { creator_email: query.creator_email, campaign_id: query.campaign_id },
        fields: ['title', { name: 'creator_email', label: 'To', kind: 'creators' }, 'campaign_id', ...CONTENT_FIELDS],
        fixed: ({ creator_email, send_notification: isSent }) => {
          const emails = splitEmails(creator_email);
          several.current = emails.length > 1 ? emails : [];
          if (several.current.length === 0) return {};
          if (isSent !== true) throw new Error('A draft has one creator. Send the brief, or keep one of them.');
          return { creator_email: null, send_notification: false };
        },
        shown: ['list_briefs'],
        onDone: async ({ data }) => {
          if (several.current.length > 0) {
            await sendTo(data.id, several.current).catch(({ message }: Error) => say(`Saved as a draft: ${message}`));
          }
          panel.open(data.id);
        },
      }}
    >
      <Opened id={panel.id} onClose={panel.close} />
    </WorkPage>
  );
}
