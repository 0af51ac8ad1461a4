import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useChange, useRows } from '../call/use.ts';
import { Confirm, Dialog } from '../kit/dialog.tsx';
import { ago, day, number, words } from '../kit/format.ts';
import { Badge, Button, Card, Copy, Empty, Facts, Failure, Loading, PageHead } from '../kit/parts.tsx';
import { ConnectDialog, SetUp } from './store-connect.tsx';

type Store = Row<'list_affiliate_stores'>;

/** How it goes, and what to do about it. */
function healthOf({ status, webhook_health: health }: Store): string {
  const last = ago(health.last_received_at);
  if (status === 'disconnected') return 'It is disconnected: its orders are not taken.';
  if (status === 'reauth_required') return 'The store refuses our token. Connect it again with a new one.';
  if (status === 'error') return 'The store does not answer as it should. Connect it again to see why.';
  if (health.status === 'failing')
    return `We refused the last order it sent, and ${number(health.failures_24h)} in a day: they are not what the store’s kind sends. Its log of webhooks has our answers.`;
  if (health.last_received_at === null)
    return 'It has not told us of an order yet. Switch its webhooks on; “Set up” says which.';
  if (health.status === 'silent')
    return `No order came for a week; the last ${last}. If you sold something, look whether its webhooks are still on.`;
  return `Orders arrive, the last ${last}.`;
}

/** What is new or silent may be as it should; what is refused is not. */
function toneOf({ status, webhook_health: health }: Store): string {
  if (status !== 'connected' || health.status === 'failing') return 'problem summary';
  return health.status === 'ok' ? 'note-box' : 'problem summary wait';
}

/** Who sends without the secret. */
const forgedIn = ({ webhook_health: { forged_24h: forged } }: Store) =>
  forged > 0 &&
  `${number(forged)} deliveries in a day were not signed with its webhook secret: another secret in the store, or somebody else.`;

function WebhookAddress({ store: { name, webhook_url: url } }: { store: Store }) {
  return (
    <span className="copied">
      <code>{url}</code>
      <Copy text={url} label={`Copy the webhook address of ${name}`} />
    </span>
  );
}

interface CardProps {
  store: Store;
  onSetUp: () => void;
  onDisconnect: () => Promise<unknown>;
}

function StoreCard({ store, onSetUp, onDisconnect }: CardProps) {
  const { name, provider, status, referral_tracking: tracking } = store;
  const forged = forgedIn(store);
  return (
    <Card title={name} action={<Badge state={status} />}>
      <p className={toneOf(store)}>{healthOf(store)}</p>
      {forged && <p>{forged}</p>}
      <Facts
        of={[
          ['Shop', words(provider)],
          ['Address', store.storefront_url],
          ['Webhooks to', status === 'disconnected' ? null : <WebhookAddress store={store} />],
          ['Currency', store.currency],
          ['Referrals', tracking.ready ? 'Tracked' : `Missing: ${tracking.missing.map(words).join(', ')}`],
          [
            'Codes',
            store.capabilities.discounts.create ? 'Made in the store for you' : 'Make them in the store yourself',
          ],
          ['Connected', day(store.connected_at)],
        ]}
      />
      <div className="actions">
        <Button onPress={onSetUp} label={`Set up ${name}: webhooks, and the snippet for the theme`}>
          Set up
        </Button>
        {status !== 'disconnected' && (
          <Confirm
            needs="disconnect_affiliate_store"
            label="Disconnect"
            title={`Disconnect ${name}?`}
            action="Disconnect"
            onConfirm={onDisconnect}
          >
            <p>Its orders are no longer taken. Commissions that were earned stay.</p>
          </Confirm>
        )}
      </div>
    </Card>
  );
}

export function Stores() {
  const list = useRows('list_affiliate_stores', {});
  const disconnect = useChange('disconnect_affiliate_store', ['list_affiliate_stores']);
  const [isConnecting, setConnecting] = useState(false);
  const [setUpOf, setSetUpOf] = useState<Store>();
  return (
    <>
      <PageHead title="Stores" hint="Where your orders come from, and whether they arrive.">
        <Button needs="connect_affiliate_store" kind="primary" onPress={() => setConnecting(true)}>
          Connect a store
        </Button>
      </PageHead>
      {list.error && <Failure error={list.error} again={list.again} />}
      {list.isLoading && <Loading rows={3} />}
      {!list.isLoading && !list.error && list.rows.length === 0 && (
        <Empty title="No store is connected">Shopify, WooCommerce, or one of your own that speaks the protocol.</Empty>
      )}
      <div className="grid">
        {list.rows.map((store) => (
          <StoreCard
            key={store.id}
            store={store}
            onSetUp={() => setSetUpOf(store)}
            onDisconnect={() => disconnect.mutateAsync({ params: { id: store.id } })}
          />
        ))}
      </div>
      <ConnectDialog isOpen={isConnecting} onClose={() => setConnecting(false)} />
      <Dialog
        title="Set up the store"
        hint={setUpOf && `What is to be done in ${setUpOf.name} itself.`}
        isOpen={setUpOf !== undefined}
        onClose={() => setSetUpOf(undefined)}
        isSide
      >
        {setUpOf && <SetUp store={setUpOf} />}
      </Dialog>
    </>
  );
}
