import { useQueries, useQuery } from '@tanstack/react-query';
import { type RefObject, useContext, useEffect, useRef, useState } from 'react';
import { type Answer, call } from '../call/call.ts';
import { InSight } from '../kit/in-sight.tsx';
import { OperationForm } from '../kit/operation-form.tsx';
import { Failure, IfMay, Loading } from '../kit/parts.tsx';
import { Scroller } from '../kit/scroller.ts';
import { Time } from '../kit/time.tsx';

const REFETCH_MS = 10_000;
const PAGE = 50;
/** The height of a two-line message. */
const MESSAGE_PX = 96;
/** A reader within this distance of the end sees new messages. */
const NEAR = 40;

type Thread = Answer<'get_conversation'>['data'];
type Message = Thread['messages'][number];

/** Loads the newest messages and those that are visible. */
function useThread(id: string) {
  const [from, setFrom] = useState(0);
  const [to, setTo] = useState(-1);
  const pageBefore = (number?: number) => ({
    queryKey: ['get_conversation', id, number],
    queryFn: () =>
      call('get_conversation', {
        params: { conversationId: id },
        query: { limit: PAGE, ...(number === undefined ? {} : { before_number: number }) },
      }),
    refetchInterval: REFETCH_MS,
  });
  const { data, error, refetch } = useQuery(pageBefore());
  const newest = data?.data.messages[0]?.number ?? 1;
  const pages = Array.from({ length: to - from + 1 }, (_, i) => from + i);
  const earlier = useQueries({
    queries: pages.filter((page) => page * PAGE + 1 < newest).map((page) => pageBefore((page + 1) * PAGE + 1)),
  });
  const messages = [data, ...earlier.map((found) => found.data)].flatMap((found) => found?.data.messages ?? []);
  const byNumber = new Map(messages.map((message) => [message.number, message]));
  return {
    thread: data?.data,
    error: error ?? earlier.find((found) => found.error)?.error ?? null,
    again: () => Promise.all([refetch(), ...earlier.map((found) => found.refetch())]),
    at: (index: number) => byNumber.get(index + 1),
    see: (first: number, last: number) => {
      setFrom(Math.floor(first / PAGE));
      setTo(Math.floor(last / PAGE));
    },
  };
}

/** Stays at the end while messages arrive or grow, until the user scrolls up to read. */
function useEnd(frame: RefObject<HTMLElement | null>, isThere: boolean) {
  const popup = useContext(Scroller);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const { current } = frame;
    if (!isThere || !popup || !current) return;
    let was = popup.scrollTop;
    const watchScroll = () => {
      const distance = popup.scrollHeight - popup.clientHeight - popup.scrollTop;
      if (distance < NEAR) isAtEnd.current = true;
      else if (popup.scrollTop < was) isAtEnd.current = false;
      was = popup.scrollTop;
    };
    const watch = new ResizeObserver(() => {
      if (isAtEnd.current) popup.scrollTop = popup.scrollHeight;
    });
    watch.observe(current);
    popup.addEventListener('scroll', watchScroll);
    return () => {
      watch.disconnect();
      popup.removeEventListener('scroll', watchScroll);
    };
  }, [frame, popup, isThere]);
}

interface BubbleProps {
  of: Pick<Message, 'body' | 'sender' | 'sent_at'> & { subject?: string | null };
  creator: string | null;
}

/** A message of one side, with its time. */
export function Bubble({ of: { subject, body, sender, sent_at }, creator }: BubbleProps) {
  return (
    <div className={`bubble ${sender}`}>
      {subject && <strong>{subject}</strong>}
      <p>{body}</p>
      <span className="small muted">
        {sender === 'brand' ? 'You' : (creator ?? 'The creator')}, <Time at={sent_at} />
      </span>
    </div>
  );
}

export const MESSAGE_FIELD = {
  name: 'body',
  hint: 'Messages must not contain contact details: one with an email address or phone number is not sent.',
} as const;
export const BY_MAIL = { name: 'send_email', label: 'Also send by email' } as const;

function Answering({ to }: { to: string | null }) {
  return (
    <IfMay needs="send_message">
      <OperationForm
        operation="send_message"
        action="Send"
        isEmptied
        start={{ send_email: true }}
        fields={[{ ...MESSAGE_FIELD, label: 'Your message' }, BY_MAIL]}
        omits={['subject']}
        fixed={{ creator_email: to ?? '' }}
        shown={['get_conversation', 'list_conversations']}
        onDone={() => undefined}
      />
    </IfMay>
  );
}

/** A conversation of any length, opened at its newest message. Only visible messages are loaded and rendered. */
export function Messages({ id }: { id: string }) {
  const { thread, error, again, at, see } = useThread(id);
  const frame = useRef<HTMLOListElement>(null);
  useEnd(frame, thread !== undefined);
  if (error && !thread) return <Failure error={error} again={() => void again()} />;
  if (!thread) return <Loading />;
  const { message_count: count, creator_name, creator_email } = thread;
  return (
    <>
      <InSight count={count} size={MESSAGE_PX} frame={frame} onSee={see} startsAtEnd>
        {({ items, before, after, measure }) => (
          <ol
            ref={frame}
            className="thread"
            aria-label="Messages"
            style={{ paddingTop: before, paddingBottom: Math.max(after, 0) }}
          >
            {items.map(({ index }) => {
              const message = at(index);
              const place = {
                className: 'said',
                'aria-setsize': count,
                'aria-posinset': index + 1,
                'data-index': index,
              };
              // Measured only after it is loaded, so that messages above do not move the view.
              return message ? (
                <li key={message.id} {...place} ref={measure}>
                  <Bubble of={message} creator={creator_name} />
                </li>
              ) : (
                <li key={index} {...place} aria-busy style={{ height: MESSAGE_PX }}>
                  <span className="bone" />
                </li>
              );
            })}
          </ol>
        )}
      </InSight>
      {error && <Failure error={error} again={() => void again()} />}
      <Answering to={creator_email} />
    </>
  );
}
