import { useState } from 'react';
import type { Row } from '../call/call.ts';
import { useChange } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Form, type Values } from '../kit/form.tsx';
import { Button } from '../kit/parts.tsx';
import { Code, TrackClicks } from './store-set-up.tsx';
import { HOW, PROVIDERS, type Provider } from './store-snippets.ts';

type Store = Row<'list_affiliate_stores'>;

/** The steps in the store itself: webhooks, and what keeps the click of a tracked link. */
export function SetUp({ store }: { store: Store }) {
  return (
    <div className="stack">
      <h3>Send orders to Rollcall</h3>
      <p>In the store, create webhooks for these events, in JSON and signed with the webhook secret:</p>
      <Code text={HOW[store.provider].webhooks} label="Webhook events" />
      <p>Send them to this address:</p>
      <Code text={store.webhook_url} label="Webhook address" />
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

const withScheme = (address: string) => (/^\w+:\/\//.test(address) ? address : `https://${address}`);

interface ConnectProps {
  isOpen: boolean;
  onClose: () => void;
}

/** Asks for the store’s credentials, then shows the steps that remain in the store. */
export function ConnectDialog({ isOpen, onClose }: ConnectProps) {
  const [provider, setProvider] = useState<Provider>('shopify');
  const [connected, setConnected] = useState<Store>();
  const connect = useChange('connect_affiliate_store', ['list_affiliate_stores']);
  const { url, token, webhookSecret } = HOW[provider];
  const close = () => {
    setConnected(undefined);
    onClose();
  };
  async function submit(values: Values) {
    const body = { token: values.text('token'), webhook_secret: values.text('webhook_secret') };
    const { data } = await connect.mutateAsync({ body: { ...body, provider, url: withScheme(values.text('url')) } });
    setConnected(data);
  }
  if (connected) {
    return (
      <Dialog
        title={`${connected.name} is connected`}
        hint="Two steps remain, both in the store."
        isOpen={isOpen}
        onClose={close}
        isSide
      >
        <SetUp store={connected} />
        <div className="popup-foot">
          <Button kind="primary" onPress={close}>
            Done
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog
      title="Connect a store"
      hint="We check the access with the store. Its secrets are encrypted and never shown again."
      isOpen={isOpen}
      onClose={close}
      isSide
    >
      <ProviderTabs value={provider} onChange={setProvider} />
      <Form
        key={provider}
        action="Connect"
        onSubmit={submit}
        onCancel={close}
        fields={[
          { name: 'url', label: 'Address', isRequired: true, hint: `The store’s API, such as ${url}` },
          { name: 'token', label: 'Access token', kind: 'password', isRequired: true, hint: token },
          {
            name: 'webhook_secret',
            label: 'Webhook secret',
            kind: 'password',
            isRequired: true,
            hint: webhookSecret,
          },
        ]}
      />
    </Dialog>
  );
}
