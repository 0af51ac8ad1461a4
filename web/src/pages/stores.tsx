import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useCall, useChange, useRows } from '../call/use.ts';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { ago, day, number } from '../kit/format.ts';
import { useDialog, useOpened } from '../kit/opened.ts';
import { Button, Card, Copy, Empty, Facts, Failure, Loading, PageHead, Stat, Stats } from '../kit/parts.tsx';
import { ConnectDialog, SetUp, useReturnFromStore, ZoneOffer } from './store-connect.tsx';
import { StoreDeliveries } from './store-deliveries.tsx';
import { describeTracking } from './store-set-up.tsx';
import { HOW } from './store-snippets.ts';
import { StoreState } from './store-state.tsx';
import { describeWebhooks, Warnings } from './store-webhooks.tsx';

type Store = Row<'list_affiliate_stores'>;

/** The state of the store's deliveries, and the remedy if there is a problem. */
function describeHealth(store: Store): string {
  const { status, webhook_health: health } = store;
  const last = ago(health.last_received_at);
  if (status === 'disconnected') return 'This store is disconnected. Its orders are not accepted.';
  if (status === 'reauth_required') return 'The store rejects our access token. Connect it again with a new one.';
  if (status === 'error') return 'The store returns errors. Connect it again to see why.';
  if (health.status === 'disabled')
    return `The store switched off webhooks, and we could not create them again. ${store.webhook_setup.problem ?? ''}`;
  if (health.status === 'failing')
    return `The last webhook could not be read, and ${number(health.failures_24h)} in 24 hours. “Failed webhooks” says why.`;
  if (health.status === 'silent' && store.last_swept_at !== null)
    return `The store has orders that none of its webhooks reported. We read them from the store every ten minutes, last ${ago(store.last_swept_at)}, so none is lost. Check its webhooks in the setup guide.`;
  if (health.last_received_at === null)
    return store.webhook_setup.status === 'active'
      ? 'No orders received yet. Its webhooks are on.'
      : 'No orders received yet. Turn on its webhooks: the setup guide lists them.';
  if (health.status === 'silent')
    return `No orders for a week; the last one arrived ${last}. If you have sold something since, check that its webhooks are still on.`;
  return '';
}

/** The orders that came from a store. */
function Received({ of: { id, webhook_health: health } }: { of: Store }) {
  const orders = useCall('list_orders', { query: { integration_id: id, limit: 1 } }).data;
  const last = orders?.data[0]?.occurred_at;
  return (
    <Stats isBrief>
      <Stat
        label="Orders received"
        value={
          orders && (
            <Link to="/orders" search={{ integration_id: id }}>
              {number(orders.pagination.total)}
            </Link>
          )
        }
      />
      <Stat label="Last order" value={orders && (last === undefined ? 'None' : ago(last))} />
      <Stat label="Failed webhooks" value={number(health.failures_24h)} note="in 24 hours" />
    </Stats>
  );
}

/** A new or silent store may be fine; one that is refused is not. A healthy one needs no words. */
function pickTone({ status, webhook_health: health }: Store): string | undefined {
  if (status !== 'connected' || ['failing', 'disabled'].includes(health.status)) return 'problem summary';
  return health.status === 'ok' ? undefined : 'problem summary wait';
}

/** Warns of senders that do not have the secret. */
const forgedIn = ({ webhook_health: { forged_24h: forged } }: Store) =>
  forged > 0 &&
  `${number(forged)} webhooks in 24 hours had an invalid signature. Either the store uses another webhook secret, or someone else sent them.`;

function WebhookAddress({ store: { name, webhook_url: url } }: { store: Store }) {
  return (
    <span className="copied">
      <code>{url}</code>
      <Copy text={url} label={`Copy the webhook address of ${name}`} />
    </span>
  );
}

interface StoreCardProps {
  store: Store;
  onSetUp: () => void;
  onDisconnect: () => Promise<unknown>;
}

function StoreCard({ store, onSetUp, onDisconnect }: StoreCardProps) {
  const { name, provider, status } = store;
  const forgedText = forgedIn(store);
  return (
    <Card title={name} action={<StoreState of={store} />}>
      {pickTone(store) !== undefined && <p className={pickTone(store)}>{describeHealth(store)}</p>}
      <Received of={store} />
      <Warnings store={store} isReached={store.webhook_health.status === 'ok'} />
      {forgedText && <p>{forgedText}</p>}
      {status !== 'disconnected' && <ZoneOffer store={store} />}
      <Facts
        of={[
          ['Type', HOW[provider].label],
          ['Address', store.storefront_url],
          ['Webhooks', describeWebhooks(store)],
          ['Webhook address', status === 'disconnected' ? null : <WebhookAddress store={store} />],
          ['Currency', store.currency],
          ['Click tracking', describeTracking(store)],
          [
            'Discount codes',
            store.capabilities.discounts.create
              ? 'Created in the store automatically'
              : 'Create them in the store yourself',
          ],
          ['Connected', day(store.connected_at)],
        ]}
      />
      <div className="actions">
        <Button onPress={onSetUp} label={`Setup guide for ${name}: webhooks, and the snippet for the theme`}>
          Setup guide
        </Button>
        <StoreDeliveries store={store} />
        {status !== 'disconnected' && (
          <Confirm
            needs="disconnect_affiliate_store"
            label="Disconnect"
            title={`Disconnect ${name}?`}
            action="Disconnect"
            onConfirm={onDisconnect}
          >
            <p>Its orders will no longer be accepted. Existing commissions stay.</p>
          </Confirm>
        )}
      </div>
    </Card>
  );
}

export function Stores() {
  const list = useRows('list_affiliate_stores', {});
  const disconnect = useChange('disconnect_affiliate_store', ['list_affiliate_stores']);
  const connecting = useDialog('connect');
  const [connectedStore, setConnectedStore] = useState<Store>();
  const settingUp = useOpened();
  const storeInSetup = list.rows.find(({ id }) => id === settingUp.id);
  const returnProblem = useReturnFromStore(setConnectedStore);
  const closeConnect = () => {
    connecting.close();
    setConnectedStore(undefined);
  };
  return (
    <>
      <PageHead title="Stores" hint="Where your orders come from, and whether they are arriving.">
        <Button needs="connect_affiliate_store" kind="primary" onPress={connecting.open}>
          Connect a store
        </Button>
      </PageHead>
      {returnProblem && (
        <p className="problem summary" role="alert">
          {returnProblem}
        </p>
      )}
      {list.error && <Failure error={list.error} again={list.again} />}
      {list.isLoading && <Loading rows={3} />}
      {!list.isLoading && !list.error && list.rows.length === 0 && (
        <Empty title="No store is connected">
          Connect Shopify, WooCommerce, or your own store through the generic protocol.
        </Empty>
      )}
      <div className="grid">
        {list.rows.map((store) => (
          <StoreCard
            key={store.id}
            store={store}
            onSetUp={() => settingUp.open(store.id)}
            onDisconnect={() => disconnect.mutateAsync({ params: { id: store.id } })}
          />
        ))}
      </div>
      <ConnectDialog
        isOpen={connecting.isOpen || connectedStore !== undefined}
        onClose={closeConnect}
        connected={connectedStore}
        onConnected={setConnectedStore}
      />
      <Dialog
        title="Set up the store"
        hint={storeInSetup && `Finish the setup in ${storeInSetup.name}.`}
        isOpen={storeInSetup !== undefined}
        onClose={settingUp.close}
        isSide
      >
        {storeInSetup && <SetUp store={storeInSetup} />}
      </Dialog>
    </>
  );
}
