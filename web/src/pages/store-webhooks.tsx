import type { Row } from '../call/call.ts';
import { useCall } from '../call/use.ts';
import { ago } from '../kit/format.ts';
import { Ago } from '../kit/time.tsx';
import { Code } from './store-set-up.tsx';
import type { Provider } from './store-snippets.ts';

type Store = Row<'list_affiliate_stores'>;

/** The steps that create a webhook in the store’s own admin. */
const WHERE: Readonly<Record<Provider, string>> = {
  shopify:
    'In Shopify, open Settings, Notifications, Webhooks, and choose Create webhook. Create one for each of these events, with the format JSON:',
  woocommerce:
    'In WooCommerce, open Settings, Advanced, Webhooks, and choose Add webhook. Create one for each of these events, with the status Active and your webhook secret:',
  generic: 'In the store, send webhooks for these events, in JSON and signed with the webhook secret:',
};

interface WarningsProps {
  store: Store;
  /** Only those about the address that its webhooks go to. */
  isOfAddress?: boolean;
  /** Orders arrive, so their address is right whatever it looks like. */
  isReached?: boolean;
}

export function Warnings({ store, isOfAddress = false, isReached = false }: WarningsProps) {
  const shownWarnings = store.warnings.filter(({ code }) => (code === 'api_version' ? !isOfAddress : !isReached));
  return shownWarnings.map(({ code, message }) => (
    <p key={code} className="problem summary wait">
      {message}
    </p>
  ));
}

/** The state of the store’s webhooks in a few words. */
export function describeWebhooks({ status, webhook_setup: setup }: Store): string {
  if (status === 'disconnected') return 'Off while the store is disconnected';
  if (setup.status === 'active') return `On, checked ${ago(setup.checked_at)}`;
  if (setup.status === 'pending') return 'Being created';
  if (setup.status === 'disabled') return `Off: ${setup.missing.join(', ')}`;
  return 'You create them in the store';
}

const REFETCH_MS = 2_000;

/** The webhooks of a store: created by us, or what is left to its owner. */
export function Webhooks({ store: first }: { store: Store }) {
  const isPending = first.webhook_setup.status === 'pending';
  const { data } = useCall(
    'get_affiliate_store',
    { params: { id: first.id } },
    isPending ? { refetchMs: REFETCH_MS } : {},
  );
  const store = data?.data ?? first;
  const { status, problem, missing, topics, checked_at: checkedAt } = store.webhook_setup;
  if (status === 'active') {
    return (
      <p className="note-box">
        The webhooks are on. Rollcall checks them every 15 minutes, last <Ago at={checkedAt} />, and creates one again
        that is missing. You do not have to do anything.
      </p>
    );
  }
  if (status === 'pending') return <p className="note-box">Rollcall is creating the webhooks in the store…</p>;
  // Shopify signs an admin's own webhooks with another secret, so the page does not ask for them.
  if (store.provider === 'shopify' && checkedAt !== null) {
    return (
      <>
        <p className="problem summary wait">{problem}</p>
        <p>Rollcall tries again every 15 minutes. Without webhooks: {missing.join(', ')}.</p>
      </>
    );
  }
  return (
    <>
      {problem && <p className="problem summary wait">{problem}</p>}
      <p>{WHERE[store.provider]}</p>
      <Code text={(missing.length > 0 ? missing : topics).join(', ')} label="Webhook events" />
      <Warnings store={store} isOfAddress />
      <p>Send them to this address:</p>
      <Code text={store.webhook_url} label="Webhook address" />
    </>
  );
}
