import { generic } from './generic.ts';
import type { Provider, StoreClient } from './provider.ts';
import { shopify } from './shopify.ts';
import { woocommerce } from './woocommerce.ts';

const CLIENTS: Readonly<Record<Provider, StoreClient>> = { shopify, woocommerce, generic };

export const getClient = (provider: Provider): StoreClient => CLIENTS[provider];
