import type { ReactNode } from 'react';
import type { Body } from '../call/call.ts';
import type { Field, Values } from '../kit/form.tsx';
import { Code } from './store-set-up.tsx';
import { HOW, type Provider } from './store-snippets.ts';

/** Access to a store is given with a click or an app, or by a token that is typed in. */
export type Way = 'easy' | 'by_hand';

interface Access {
  /** The steps in the store before the form can be filled in. */
  steps?: readonly ReactNode[];
  fields: readonly Field[];
  action: string;
  /** The text of the button that changes to the other way. */
  other?: string;
}

const buildAddressField = (provider: Provider): Field => ({
  name: 'url',
  label: 'Address',
  isRequired: true,
  hint: `Your store’s address, such as ${HOW[provider].url}`,
});

const buildTokenFields = (provider: Provider): readonly Field[] => [
  buildAddressField(provider),
  { name: 'token', label: 'Access token', kind: 'password', isRequired: true, hint: HOW[provider].token },
  {
    name: 'webhook_secret',
    label: 'Webhook secret',
    kind: 'password',
    isRequired: true,
    hint: HOW[provider].webhookSecret,
  },
];

const SHOPIFY_STEPS = [
  <>
    Sign in to Shopify as the shop’s owner, and open{' '}
    <a href="https://dev.shopify.com" target="_blank" rel="noreferrer">
      dev.shopify.com
    </a>
    , the Dev Dashboard. From the shop’s admin: Settings, Apps, Develop apps, Build apps in Dev Dashboard. The app must
    belong to the shop’s organization.
  </>,
  <>Choose Create app, then Start from Dev Dashboard. Name it Rollcall.</>,
  <>
    Under Access, paste these scopes:
    <Code text="read_orders,read_discounts" label="Scopes" />
    Add <code>read_all_orders</code> for orders older than 60 days: their refunds, and what the store sold before. Add{' '}
    <code>read_shopify_payments_disputes</code> for chargebacks. Choose Release.
  </>,
  <>On the app’s Home, choose Install app, select the shop, and confirm.</>,
  <>Open the app’s Settings. Copy the client ID and the client secret into this form.</>,
];

const WOOCOMMERCE_STEPS = [
  <>Enter the shop’s address, and continue.</>,
  <>WooCommerce asks you to sign in as an administrator, and whether Rollcall may connect. Choose Approve.</>,
  <>You come back here, and the store is connected. Its webhooks are created for you.</>,
];

const ACCESS: Readonly<Record<Provider, Partial<Record<Way, Access>>>> = {
  shopify: {
    easy: {
      steps: SHOPIFY_STEPS,
      fields: [
        buildAddressField('shopify'),
        { name: 'client_id', label: 'Client ID', isRequired: true },
        { name: 'client_secret', label: 'Client secret', kind: 'password', isRequired: true },
      ],
      action: 'Connect',
      other: 'Use the access token of an older custom app',
    },
    by_hand: { fields: buildTokenFields('shopify'), action: 'Connect', other: 'Use an app of the Dev Dashboard' },
  },
  woocommerce: {
    easy: {
      steps: WOOCOMMERCE_STEPS,
      fields: [buildAddressField('woocommerce')],
      action: 'Continue in WooCommerce',
      other: 'Enter a REST API key',
    },
    by_hand: { fields: buildTokenFields('woocommerce'), action: 'Connect', other: 'Approve in WooCommerce' },
  },
  generic: { by_hand: { fields: buildTokenFields('generic'), action: 'Connect' } },
};

export function getAccess(provider: Provider, way: Way): Access {
  const { easy, by_hand: byHand } = ACCESS[provider];
  return (way === 'easy' ? easy : byHand) ?? { fields: buildTokenFields(provider), action: 'Connect' };
}

export function Steps({ of }: { of: readonly ReactNode[] }) {
  return (
    <ol className="stack points">
      {of.map((step, place) => (
        <li key={place}>{step}</li>
      ))}
    </ol>
  );
}

const withScheme = (address: string) => (/^\w+:\/\//.test(address) ? address : `https://${address}`);

export function toBody(provider: Provider, values: Values): Body<'connect_affiliate_store'> {
  const some = (name: 'token' | 'webhook_secret' | 'client_id' | 'client_secret') => {
    const value = values.some(name);
    return value === undefined ? {} : { [name]: value };
  };
  return {
    provider,
    url: withScheme(values.text('url')),
    ...some('token'),
    ...some('webhook_secret'),
    ...some('client_id'),
    ...some('client_secret'),
  };
}

export const addressIn = (values: Values): string => withScheme(values.text('url'));
