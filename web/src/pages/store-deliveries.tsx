import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useChange, useRows } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { number, time, words } from '../kit/format.ts';
import { Badge, Button, Empty, Facts, Failure, Loading } from '../kit/parts.tsx';
import { Ago, BothTimes, Time } from '../kit/time.tsx';
import { useSay } from '../kit/toast.tsx';

type Store = Row<'list_affiliate_stores'>;
type StoreDelivery = Row<'list_store_deliveries'>;

const LISTS = ['failed', 'waiting'] as const;
const REFETCH_MS = 3_000;

const formatReason = ({ reason }: StoreDelivery) =>
  reason && (reason.field === null ? reason.message : `${reason.field} ${reason.message}`);

function DeliveryItem({ delivery, onRetry }: { delivery: StoreDelivery; onRetry: () => void }) {
  const { topic, state, received_at, order_id, attempts, next_attempt_at, notes } = delivery;
  const name = topic ?? 'A webhook';
  return (
    <li className="stack">
      <p>
        <span className="strong">{name}</span> <Badge state={state} /> <Ago at={received_at} />
      </p>
      <Facts
        of={[
          ['Reason', formatReason(delivery)],
          ['Order', order_id],
          ['Received', <BothTimes key="received" at={received_at} />],
          ['Attempts', number(attempts)],
          ...(next_attempt_at === null ? [] : [['Next attempt', <Time key="next" at={next_attempt_at} />] as const]),
          ...(notes.length === 0 ? [] : [['Left out', notes.join('; ')] as const]),
        ]}
      />
      <div className="actions">
        <Button
          needs="retry_store_delivery"
          onPress={onRetry}
          label={`Try again: ${name}, received ${time(received_at)}`}
        >
          Try again
        </Button>
      </div>
    </li>
  );
}

function List({ store, state }: { store: Store; state: (typeof LISTS)[number] }) {
  const params = { id: store.id };
  const list = useRows('list_store_deliveries', { state }, { params, refetchMs: REFETCH_MS });
  const retry = useChange('retry_store_delivery', ['list_store_deliveries', 'list_affiliate_stores']);
  const say = useSay();
  const again = (delivery: string) =>
    retry.mutate({ params: { id: store.id, delivery } }, { onError: ({ message }) => say(message) });
  if (list.error) return <Failure error={list.error} again={list.again} />;
  if (list.isLoading) return <Loading rows={3} />;
  if (list.total === 0) return <Empty title={state === 'failed' ? 'Everything was read' : 'Nothing waits'} />;
  return (
    <ul className="deliveries">
      {list.rows.map((one) => (
        <DeliveryItem key={one.id} delivery={one} onRetry={() => again(one.id)} />
      ))}
    </ul>
  );
}

/** The webhooks of a store that could not be read, and those that wait for another attempt. */
export function StoreDeliveries({ store }: { store: Store }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onPress={() => setOpen(true)} label={`Failed webhooks of ${store.name}`}>
        Failed webhooks
      </Button>
      <Dialog
        title="Failed webhooks"
        hint={`Webhooks of ${store.name} of the last 30 days that could not be read. Those that wait are tried again for 24 hours.`}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        isSide
      >
        <div className="stack">
          {LISTS.map((state) => (
            <section key={state} aria-label={words(state)}>
              <h3>{words(state)}</h3>
              <List store={store} state={state} />
            </section>
          ))}
        </div>
      </Dialog>
    </>
  );
}
