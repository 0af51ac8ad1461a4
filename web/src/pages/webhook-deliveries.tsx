import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useCall, useChange } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { ago, number, time, words } from '../kit/format.ts';
import { Badge, Button, Empty, Facts, Failure, Loading } from '../kit/parts.tsx';

const REFETCH_MS = 3_000;
const STATES = ['pending', 'delivered', 'failed', 'cancelled'] as const;

/** What was sent and what came back, attempt by attempt. */
function Attempts({ id }: { id: string }) {
  const { data } = useCall('get_webhook_delivery', { params: { id } }, { refetchMs: REFETCH_MS });
  if (!data) return <Loading rows={2} />;
  return (
    <div className="stack">
      {data.data.attempt_log.map(({ n, started_at, status_code, outcome, error, response_excerpt, duration_ms }) => (
        <Facts
          key={n}
          of={[
            [`Attempt ${n}`, `${time(started_at)}, ${number(duration_ms)} ms`],
            ['Answer', status_code === null ? words(outcome) : String(status_code)],
            ['Error', error],
            ['It said', response_excerpt],
          ]}
        />
      ))}
      {data.data.body && (
        <details>
          <summary>What was sent</summary>
          <code className="secret small">{data.data.body}</code>
        </details>
      )}
    </div>
  );
}

export function Deliveries({ webhook, onClose }: { webhook: Row<'list_webhooks'> | undefined; onClose: () => void }) {
  const [state, setState] = useState<(typeof STATES)[number]>();
  const [opened, setOpened] = useState<string>();
  const { data, error, refetch } = useCall(
    'list_webhook_deliveries',
    { params: { id: webhook?.id ?? '' }, query: { limit: 100, ...(state ? { state } : {}) } },
    { enabled: webhook !== undefined, refetchMs: REFETCH_MS },
  );
  const resend = useChange('resend_webhook_delivery', [
    'list_webhook_deliveries',
    'get_webhook_delivery',
    'list_webhooks',
  ]);
  return (
    <Dialog title="Deliveries" hint={webhook?.url} isOpen={webhook !== undefined} onClose={onClose} isSide>
      <fieldset className="tabs">
        <legend className="sr-only">State of the deliveries</legend>
        {[undefined, ...STATES].map((one) => (
          <label key={one ?? 'all'} className="tab">
            <input
              type="radio"
              name="state"
              className="sr-only"
              checked={state === one}
              onChange={() => setState(one)}
            />
            {one ?? 'all'}
          </label>
        ))}
      </fieldset>
      {error && <Failure error={error} again={() => void refetch()} />}
      {resend.error && <Failure error={resend.error} />}
      {!data && !error && <Loading rows={3} />}
      {data?.data.length === 0 && <Empty title="No deliveries here" />}
      <ul className="plain">
        {data?.data.map((delivery) => (
          <li key={delivery.id} className="card">
            <div className="card-head">
              <span className="row">
                <strong>{delivery.event}</strong> <Badge state={delivery.state} />
              </span>
              <span className="row">
                <Button onPress={() => setOpened(opened === delivery.id ? undefined : delivery.id)}>
                  {opened === delivery.id ? 'Less' : 'More'}
                </Button>
                {delivery.state !== 'pending' && (
                  <Button
                    isBusy={resend.isPending}
                    onPress={() => resend.mutate({ params: { id: delivery.id }, body: {} })}
                  >
                    Send again
                  </Button>
                )}
              </span>
            </div>
            <p className="muted">
              {ago(delivery.created_at)}, {number(delivery.attempts)} {delivery.attempts === 1 ? 'attempt' : 'attempts'}
              {delivery.last_status_code !== null && `, answered ${delivery.last_status_code}`}
              {delivery.last_error && `, ${delivery.last_error}`}
            </p>
            {opened === delivery.id && <Attempts id={delivery.id} />}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
