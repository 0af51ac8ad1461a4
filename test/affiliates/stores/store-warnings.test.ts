import { describe, expect, it } from 'vitest';
import { listAddressWarnings } from '../../../src/affiliates/stores/connections/warnings.ts';
import type { Provider } from '../../../src/affiliates/stores/formats/provider.ts';

describe('The address that a store is given for its webhooks', () => {
  it.each<[Provider, string, string, string[]]>([
    ['woocommerce', 'https://shop.example', 'https://go.example', []],
    ['woocommerce', 'https://shop.example', 'https://go.example:8080', []],
    ['woocommerce', 'https://shop.example', 'http://go.example', []],
    ['woocommerce', 'https://shop.example', 'https://go.example:8081', ['webhook_port']],
    ['woocommerce', 'https://shop.example', 'http://127.0.0.1:8081', ['webhook_port', 'webhook_address']],
    ['woocommerce', 'https://shop.example', 'http://localhost', ['webhook_address']],
    ['woocommerce', 'http://10.0.0.4', 'http://127.0.0.1:8081', ['webhook_port']],
    ['shopify', 'https://name.myshopify.com', 'https://go.example:8443', []],
    ['shopify', 'https://name.myshopify.com', 'http://go.example', ['webhook_address']],
    ['shopify', 'https://name.myshopify.com', 'https://[::1]', ['webhook_address']],
    ['shopify', 'https://name.myshopify.com', 'https://rollcall.internal', ['webhook_address']],
    ['generic', 'http://localhost:9100', 'http://127.0.0.1:8081', []],
    ['generic', 'https://store.example', 'http://192.168.1.5', ['webhook_address']],
  ])('of %s at %s, as %s, has the warnings %j', (provider, baseUrl, linksUrl, codes) => {
    expect(listAddressWarnings({ provider, baseUrl }, linksUrl).map(({ code }) => code)).toEqual(codes);
  });
});
