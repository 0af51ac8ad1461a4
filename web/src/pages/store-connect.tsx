import { useEffect, useRef, useState } from 'react';
import type { Row } from '../call/call.ts';
import { useCall, useChange } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Form, type Values } from '../kit/form.tsx';
import { Button } from '../kit/parts.tsx';
import { useSay } from '../kit/toast.tsx';
import { addressIn, getAccess, Steps, toBody, type Way } from './store-access.tsx';
import { TrackClicks } from './store-set-up.tsx';
import { HOW, PROVIDERS, type Provider } from './store-snippets.ts';
import { Webhooks } from './store-webhooks.tsx';

type Store = Row<'list_affiliate_stores'>;

/** Offers the store's own time zone while the brand has none but UTC. Nothing takes it silently. */
export function ZoneOffer({ store: { name, time_zone: zone } }: { store: Store }) {
  const brand = useCall('get_brand').data?.data;
  const change = useChange('update_brand', ['get_brand', 'get_session']);
  const say = useSay();
  if (!zone || zone === 'UTC' || brand?.settings.time_zone !== 'UTC') return null;
  const use = async () => {
    await change.mutateAsync({ body: { settings: { time_zone: zone } } });
    say(`Days are now those of ${zone}.`);
  };
  return (
    <div className="note-box stack">
      <p>{`${name} is in ${zone}. Your figures, deadlines and months count days of UTC.`}</p>
      <Button needs="update_brand" onPress={() => void use()}>
        {`Count days of ${zone}`}
      </Button>
    </div>
  );
}

/** The steps in the store itself: webhooks, and what keeps the click of a tracked link. */
export function SetUp({ store }: { store: Store }) {
  return (
    <div className="stack">
      <h3>Send orders to Rollcall</h3>
      <Webhooks store={store} />
      <TrackClicks store={store} />
    </div>
  );
}

function ProviderTabs({ value, onChange }: { value: Provider; onChange: (provider: Provider) => void }) {
  return (
    <fieldset className="tabs">
      <legend className="sr-only">Type of store</legend>
      {PROVIDERS.map((one) => (
        <label key={one} className="tab">
          <input
            type="radio"
            name="provider"
            className="sr-only"
            checked={value === one}
            onChange={() => onChange(one)}
          />
          {HOW[one].label}
        </label>
      ))}
    </fieldset>
  );
}

interface ConnectProps {
  isOpen: boolean;
  onClose: () => void;
  /** The store that was just connected. */
  connected: Store | undefined;
  onConnected: (store: Store) => void;
}

/** Asks for access to the store, then shows the steps that remain in the store. */
export function ConnectDialog({ isOpen, onClose, connected, onConnected }: ConnectProps) {
  const [provider, setProvider] = useState<Provider>('shopify');
  const [way, setWay] = useState<Way>('easy');
  const connect = useChange('connect_affiliate_store', ['list_affiliate_stores']);
  const authorize = useChange('authorize_affiliate_store', []);
  if (connected) {
    return (
      <Dialog
        title={`${connected.name} is connected`}
        hint="What remains is done in the store."
        isOpen={isOpen}
        onClose={onClose}
        isSide
      >
        <ZoneOffer store={connected} />
        <SetUp store={connected} />
        <div className="popup-foot">
          <Button kind="primary" onPress={onClose}>
            Done
          </Button>
        </div>
      </Dialog>
    );
  }
  const { steps, fields, action, other } = getAccess(provider, way);
  async function submit(values: Values) {
    if (provider === 'woocommerce' && way === 'easy') {
      const return_url = `${location.origin}${location.pathname}`;
      const { data } = await authorize.mutateAsync({ body: { url: addressIn(values), return_url } });
      location.assign(data.authorize_url);
      return;
    }
    const { data } = await connect.mutateAsync({ body: toBody(provider, values) });
    onConnected(data);
  }
  return (
    <Dialog
      title="Connect a store"
      hint="We test the connection. Its secrets are encrypted and never shown again."
      isOpen={isOpen}
      onClose={onClose}
      isSide
    >
      <ProviderTabs value={provider} onChange={setProvider} />
      {other && (
        <p>
          <button type="button" className="link" onClick={() => setWay(way === 'easy' ? 'by_hand' : 'easy')}>
            {other}
          </button>
        </p>
      )}
      {steps && <Steps of={steps} />}
      <Form key={`${provider} ${way}`} action={action} onSubmit={submit} onCancel={onClose} fields={fields} />
    </Dialog>
  );
}

/** Connects the store after WooCommerce has sent the person back. Returns the problem if they refused or it failed. */
export function useReturnFromStore(onConnected: (store: Store) => void): string | undefined {
  const connect = useChange('connect_authorized_store', ['list_affiliate_stores']);
  const [problem, setProblem] = useState<string>();
  const isBegun = useRef(false);
  useEffect(() => {
    const search = new URLSearchParams(location.search);
    const [id, success] = [search.get('user_id'), search.get('success')];
    if (isBegun.current || !id?.startsWith('sau_')) return;
    isBegun.current = true;
    history.replaceState(history.state, '', location.pathname);
    if (success !== '1') {
      setProblem('The access was not approved in the store, so nothing was connected.');
      return;
    }
    connect.mutateAsync({ params: { id } }).then(
      ({ data }) => onConnected(data),
      (error: unknown) => setProblem(error instanceof Error ? error.message : 'The store could not be connected.'),
    );
  }, [connect, onConnected]);
  return problem;
}
