import { useRef, useState } from 'react';
import type { Row } from '../call/call.ts';
import { listChoices } from '../call/lists.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Choose, findChoice, useFilters } from '../kit/filters.tsx';
import { number, time, words } from '../kit/format.ts';
import { InSight } from '../kit/in-sight.tsx';
import { Badge, Button, Empty, Facts, Failure, Loading } from '../kit/parts.tsx';
import { Time } from '../kit/time.tsx';
import { eventName, WebhookHead } from './webhook-head.tsx';

const REFETCH_MS = 3_000;
const STATES = listChoices('list_webhook_deliveries', 'state');
type State = (typeof STATES)[number];

/** The receiver's answer to each attempt, and the request body that was sent. */
function Attempts({ id, event }: { id: string; event: string }) {
  const { data } = useCall('get_webhook_delivery', { params: { id } }, { refetchMs: REFETCH_MS });
  if (!data) return <Loading rows={2} />;
  return (
    <div className="stack">
      <Facts of={[['Event', <code key="event">{event}</code>]]} />
      {data.data.attempt_log.map(({ n, started_at, status_code, outcome, error, response_excerpt, duration_ms }) => (
        <Facts
          key={n}
          of={[
            [`Attempt ${n}`, `${time(started_at)}, ${number(duration_ms)} ms`],
            ['Status', status_code === null ? words(outcome) : String(status_code)],
            ['Error', error],
            ['Response', response_excerpt],
          ]}
        />
      ))}
      {data.data.body && (
        <details>
          <summary>Request body</summary>
          <code className="secret small">{data.data.body}</code>
        </details>
      )}
    </div>
  );
}

type WebhookDelivery = Row<'list_webhook_deliveries'>;

function Sent({ delivery }: { delivery: WebhookDelivery }) {
  const { id, event, state, created_at, attempts, last_status_code, last_error } = delivery;
  const [isOpen, setOpen] = useState(false);
  const resend = useChange('resend_webhook_delivery', [
    'list_webhook_deliveries',
    'get_webhook_delivery',
    'list_webhooks',
  ]);
  return (
    <>
      <div className="delivery-row">
        <div>
          <strong>{eventName(event)}</strong> <Badge state={state} />
          <p className="small muted">
            <Time at={created_at} />, {number(attempts)} {attempts === 1 ? 'attempt' : 'attempts'}
            {last_status_code !== null && `, response ${last_status_code}`}
            {last_error && `, ${last_error}`}
          </p>
        </div>
        <div className="delivery-acts">
          <Button isExpanded={isOpen} onPress={() => setOpen(!isOpen)}>
            Details
          </Button>
          {state !== 'pending' && (
            <Button
              needs="resend_webhook_delivery"
              isBusy={resend.isPending}
              onPress={() => resend.mutate({ params: { id }, body: {} })}
            >
              Send again
            </Button>
          )}
        </div>
      </div>
      {resend.error && <Failure error={resend.error} />}
      {isOpen && <Attempts id={id} event={event} />}
    </>
  );
}

/** The height of a closed delivery. */
const DELIVERY = 62;

function List({ id, state }: { id: string; state: State | undefined }) {
  const list = useRows(
    'list_webhook_deliveries',
    { ...(state ? { state } : {}) },
    { params: { id }, refetchMs: REFETCH_MS },
  );
  const frame = useRef<HTMLUListElement>(null);
  if (list.error) return <Failure error={list.error} again={list.again} />;
  if (list.isLoading) return <Loading rows={3} />;
  if (list.total === 0) return <Empty title="No deliveries here" />;
  return (
    <>
      <p className="muted" role="status">
        {number(list.total)} {list.total === 1 ? 'delivery' : 'deliveries'}
      </p>
      <InSight count={list.total ?? 0} size={DELIVERY} frame={frame} onSee={list.see}>
        {({ items, before, after, measure }) => (
          <ul ref={frame} className="deliveries" style={{ paddingTop: before, paddingBottom: after }}>
            {items.map(({ index }) => {
              const delivery = list.at(index);
              return (
                <li key={delivery?.id ?? index} className="delivery" data-index={index} ref={measure}>
                  {delivery ? <Sent delivery={delivery} /> : <Loading rows={2} />}
                </li>
              );
            })}
          </ul>
        )}
      </InSight>
    </>
  );
}

/** An endpoint: its state and events, and below them what was sent to it. */
export function Deliveries({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const { data } = useCall('get_webhook', { params: { id: id ?? '' } }, { enabled: id !== undefined });
  const webhook = data?.data.id === id ? data?.data : undefined;
  const { get, set } = useFilters();
  const state = findChoice(get('state'), STATES);
  return (
    <Dialog title="Webhook" hint={webhook?.url} isOpen={id !== undefined} onClose={onClose} isSide>
      {webhook ? <WebhookHead of={webhook} /> : <Loading rows={2} />}
      <h3>Deliveries</h3>
      <Choose
        label="Status"
        value={state ?? 'all'}
        options={[['all', 'All'], ...STATES.map((one) => [one, words(one)] as const)]}
        onChoose={(one) => set('state', one === 'all' ? '' : one)}
      />
      {id !== undefined && <List key={id} id={id} state={state} />}
    </Dialog>
  );
}
