import type { Provider } from '../engines/postgres/attribution-tables.ts';
import { generic } from './generic.ts';
import type { StoreClient } from './provider.ts';
import { shopify } from './shopify.ts';
import { woocommerce } from './woocommerce.ts';

const CLIENTS: Readonly<Record<Provider, StoreClient>> = { shopify, woocommerce, generic };

export const clientOf = (provider: Provider): StoreClient => CLIENTS[provider];
