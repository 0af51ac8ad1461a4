import { useState } from 'react';
import { useCall } from '../call/use.ts';
import { Dialog } from '../kit/dialog.tsx';
import { Copy } from '../kit/parts.tsx';
import { commandOf, HOW, PROVIDERS, type Provider } from './store-snippets.ts';

/** Text to copy, that may be wider than its place. */
function Code({ text, label }: { text: string; label: string }) {
  return (
    <div className={text.includes('\n') ? 'code' : 'code short'}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached with the keyboard */}
      <section className="code-text" aria-label={label} tabIndex={0}>
        <pre>{text}</pre>
      </section>
      <Copy text={text} label={`Copy: ${label}`} />
    </div>
  );
}

export function Snippet({ provider }: { provider: Provider }) {
  const { where, snippet } = HOW[provider];
  return (
    <>
      <p>{where}</p>
      {snippet && <Code text={snippet} label="The snippet for the theme" />}
      <p className="hint">
        It keeps a tracked link’s click for 30 days in a cookie of your shop. Ask your visitors for consent where your
        law asks for it. Discount codes need none of this.
      </p>
    </>
  );
}

/** How a store is connected, step by step: it needs the server’s shell, where the store’s secrets are typed. */
export function ConnectDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [provider, setProvider] = useState<Provider>('shopify');
  const brandId = useCall('get_session').data?.data.brand.id;
  const { token, webhooks } = HOW[provider];
  return (
    <Dialog
      title="Connect a store"
      hint="The store’s secrets are typed on the server and seen by nobody else, so the last word is a command there."
      isOpen={isOpen}
      onClose={onClose}
      isSide
    >
      <fieldset className="tabs">
        <legend className="sr-only">Which store</legend>
        {PROVIDERS.map((one) => (
          <label key={one} className="tab">
            <input
              type="radio"
              name="provider"
              className="sr-only"
              checked={provider === one}
              onChange={() => setProvider(one)}
            />
            {HOW[one].label}
          </label>
        ))}
      </fieldset>
      <h3>1. Let us read</h3>
      <p>{token}</p>
      <h3>2. Connect</h3>
      <p>Whoever runs the server enters this there, with your shop’s own address. It asks for the secrets.</p>
      {brandId && <Code text={commandOf(provider, brandId)} label="The command" />}
      <h3>3. Let the store tell us of orders</h3>
      <p>The command prints an address. In the store, send these webhooks to it:</p>
      <Code text={webhooks} label="The webhooks" />
      <h3>4. Keep the click</h3>
      <Snippet provider={provider} />
    </Dialog>
  );
}
