import type { Row } from '../call/call.ts';
import { useChange, useRows } from '../call/use.ts';
import { Confirm } from '../kit/dialog.tsx';
import { ago, day, number, words } from '../kit/format.ts';
import { Badge, Card, Empty, Facts, Failure, Loading, PageHead } from '../kit/parts.tsx';

type Store = Row<'list_affiliate_stores'>;

function StoreCard({ store, onDisconnect }: { store: Store; onDisconnect: () => Promise<unknown> }) {
  const { name, provider, status, webhook_health: health, referral_tracking: tracking } = store;
  return (
    <Card title={name} action={<Badge state={status} />}>
      <Facts
        of={[
          ['Shop', words(provider)],
          ['Address', store.storefront_url],
          ['Currency', store.currency],
          ['Orders arrive', <Badge key="health" state={health.status} />],
          ['Last heard', ago(health.last_received_at)],
          ['Refused in a day', number(health.failures_24h)],
          ['Referral tracking', tracking.ready ? 'Ready' : `Missing: ${tracking.missing.map(words).join(', ')}`],
          [
            'Codes',
            store.capabilities.discounts.create ? 'Made in the store for you' : 'Make them in the store yourself',
          ],
          ['Connected', day(store.connected_at)],
        ]}
      />
      {status !== 'disconnected' && (
        <Confirm label="Disconnect" title={`Disconnect ${name}?`} action="Disconnect" onConfirm={onDisconnect}>
          <p>Its orders are no longer taken. Commissions that were earned stay.</p>
        </Confirm>
      )}
    </Card>
  );
}

export function Stores() {
  const list = useRows('list_affiliate_stores', {});
  const disconnect = useChange('disconnect_affiliate_store', ['list_affiliate_stores']);
  return (
    <>
      <PageHead title="Stores" hint="Where your orders come from, and whether they arrive." />
      {list.error && <Failure error={list.error} again={list.again} />}
      {list.isLoading && <Loading rows={3} />}
      {!list.isLoading && !list.error && list.rows.length === 0 && (
        <Empty title="No store is connected">
          Whoever runs the server connects one: <code>npm run cli -- integration connect --help</code>
        </Empty>
      )}
      <div className="grid">
        {list.rows.map((store) => (
          <StoreCard
            key={store.id}
            store={store}
            onDisconnect={() => disconnect.mutateAsync({ params: { id: store.id } })}
          />
        ))}
      </div>
    </>
  );
}
